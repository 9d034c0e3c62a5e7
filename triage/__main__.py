"""Runs the command line: ``python -m triage`` and ``triage`` are the same."""

from triage.cli import run


def main() -> None:
    """Run the command that the arguments name."""
    run()


if __name__ == "__main__":
    main()
