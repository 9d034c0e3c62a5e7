"""``python -m bench [NAME ...]``: runs every measurement, or those named; a failed one is said and fails the run."""

import sys
import traceback
from collections.abc import Callable
from typing import Final

from bench import door, judged, start, verdict

MEASURES: Final[dict[str, Callable[[], None]]] = {
    "verdict": verdict.main,
    "start": start.main,
    "door": door.main,
    "judged": judged.main,
}


def _question(measure: Callable[[], None]) -> str:
    return (sys.modules[measure.__module__].__doc__ or "").splitlines()[0]


def main(names: list[str]) -> int:
    """Run measurements; returns the exit code."""
    wrong = [name for name in names if name not in MEASURES]
    if wrong:
        print(f"no such measurement: {', '.join(wrong)}; there are {', '.join(MEASURES)}", file=sys.stderr)
        return 2
    failed = 0
    for name in names or MEASURES:
        print(f"\n== {name}: {_question(MEASURES[name])}")
        try:
            MEASURES[name]()
        except Exception:  # noqa: BLE001 - the other figures are wanted all the same
            traceback.print_exc()
            failed += 1
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
