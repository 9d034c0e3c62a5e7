"""What does a diff add, and on which lines?

Reads the unified hunks of one file, without its header, as GitHub sends them. The counts in each hunk's header are
kept, so that a removed line that looks like a header is a removed line. Anything that is no hunk is passed over.
"""

import re
from dataclasses import dataclass
from typing import Final

_HEADER: Final = re.compile(r"@@ -\d{1,9}(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_TEST_FOLDERS: Final = frozenset(
    [
        "test",
        "tests",
        "spec",
        "specs",
        "testing",
        "testdata",
        "__tests__",
        "fixtures",
        "__snapshots__",
        "e2e",
        "cypress",
    ]
)
_TEST_NAME: Final = re.compile(r"^(?:test|tests|spec|conftest)[_.-]|[_.-](?:test|tests|spec|specs)(?:\.|$)|\.snap$")

NumberedLine = tuple[int, str]  # a plain pair: a diff can have a million of them


@dataclass(frozen=True, slots=True)
class Hunks:
    """The changed lines of one file, in order. ``added`` counts in the new file, ``removed`` in the old one, from 1.

    ``whole`` is false when a hunk ended before its count or other text stood between: conclude no absence.
    """

    added: tuple[NumberedLine, ...] = ()
    removed: tuple[NumberedLine, ...] = ()
    hunks: int = 0
    whole: bool = True


def scan(patch: str | None) -> Hunks:  # noqa: C901 - one loop; calls in it would cost half the speed
    """Read unified hunks. An unknown patch reads as no hunks that are not whole. Linear in its length."""
    if not patch:
        return Hunks(whole=patch is not None)
    lines = patch.replace("\r\n", "\n").split("\n")
    if not lines[-1]:
        lines.pop()
    added: list[NumberedLine] = []
    removed: list[NumberedLine] = []
    hunks = at = at_old = left = left_old = 0
    whole = True
    for line in lines:
        mark = line[:1]
        if left > 0 or left_old > 0:
            if mark == "+":
                added.append((at, line[1:]))
                at += 1
                left -= 1
                continue
            if mark == "-":
                removed.append((at_old, line[1:]))
                at_old += 1
                left_old -= 1
                continue
            if mark == " " or not mark:  # an empty one too: some tools strip the blank of an empty line
                at += 1
                at_old += 1
                left -= 1
                left_old -= 1
                continue
        if mark == "\\":  # "\ No newline at end of file" says nothing of the lines
            continue
        header = _HEADER.match(line)
        if header is None or left > 0 or left_old > 0:
            whole = False
        if header is None:
            left = left_old = 0
            continue
        hunks += 1
        left_old = int(header[1] or 1)
        at, left = int(header[2]), int(header[3] or 1)
        at_old = int(line[4 : line.find("+")].split(",")[0])
    return Hunks(tuple(added), tuple(removed), hunks, whole and left <= 0 and left_old <= 0)


def is_test(path: str) -> bool:
    """Tell by its path whether a file holds tests or their data, as the common test runners lay them out."""
    folders, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    lower = name.lower()
    return (
        not _TEST_FOLDERS.isdisjoint(folders.lower().split("/"))
        or _TEST_NAME.search(lower) is not None
        or stem.endswith(("Test", "Tests", "Spec"))
    )
