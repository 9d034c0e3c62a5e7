"""A run that could not test PostgreSQL says so where nobody overlooks it."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def _run(*options: str, postgres: str) -> list[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "flushed", *options]
    run = subprocess.run(
        [*command, "tests/models/recorded/test_database.py"],
        cwd=ROOT,
        env={**os.environ, "LIVEFIRST_TEST_POSTGRES": postgres},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout
    return run.stdout.strip().splitlines()


def test_the_last_line_says_what_was_skipped() -> None:
    said = _run(postgres="none")[-1]
    assert said == "PostgreSQL was not found: 1 tests skipped; install postgresql or set LIVEFIRST_TEST_POSTGRES"


def test_the_last_line_says_so_with_many_workers_too() -> None:
    assert _run("-n", "2", postgres="none")[-1].startswith("PostgreSQL was not found: 1 tests skipped")
