"""Who and what the scenes of the story share: maintainers, times before now, diffs."""

import re
from datetime import timedelta
from typing import Final

from standin.threads import File

MARIA: Final = "maria-lindqvist"  # maintains the engine
TOMASZ: Final = "tomasz-wrona"  # maintains the engine too
REFACTORER: Final = "ines-caldeira"  # a member of the organisation

HELD: Final = ("likely_unreviewed",)
LIVE: Final = ("live_person",)
UNSURE: Final = ("unsure",)

_HUNK: Final = re.compile(r"@@ (?P<start>\d+)(?: (?P<near>.*))?")


def hours(count: float) -> timedelta:
    """Return a time before now."""
    return timedelta(hours=count)


def seconds(count: float) -> timedelta:
    """Return a time before now."""
    return timedelta(seconds=count)


def changed(path: str, diff: str) -> File:
    """Return a change of a file. ``diff`` holds its hunks, each below a line ``@@ LINE function``."""
    written: list[str] = []
    shift, counts = 0, {"+": 0, "-": 0}
    for header, lines in _hunks(diff):
        start = int(header["start"])
        more, fewer = (sum(line[0] == sign for line in lines) for sign in "+-")
        same = len(lines) - more - fewer
        near = f" {header['near']}" if header["near"] else ""
        written += [f"@@ -{start},{same + fewer} +{start + shift},{same + more} @@{near}", *lines]
        shift += more - fewer
        counts = {"+": counts["+"] + more, "-": counts["-"] + fewer}
    return File(path, "modified", counts["+"], counts["-"], "\n".join(written))


def _hunks(diff: str) -> list[tuple[re.Match[str], list[str]]]:
    hunks: list[tuple[re.Match[str], list[str]]] = []
    for line in diff.strip("\n").split("\n"):
        header = _HUNK.fullmatch(line)
        if header is not None:
            hunks.append((header, []))
        else:
            hunks[-1][1].append(line or " ")
    return hunks


def added(path: str, text: str) -> File:
    """Return a new file."""
    lines = text.strip("\n").split("\n")
    patch = "\n".join([f"@@ -0,0 +1,{len(lines)} @@", *(f"+{line}" for line in lines)])
    return File(path, "added", len(lines), 0, patch)


def answered(what: str, checked: str, tools: str) -> str:
    """Fill in the engine's template, as most people do."""
    return (
        f"## What does this change?\n\n{what}\n\n## How did you check it?\n\n{checked}\n\n"
        f"## Did you use an AI tool, and for what?\n\n{tools}\n"
    )
