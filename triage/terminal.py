"""How results look on a terminal: tables and progress on one, plain lines in a pipe."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from models.recorded.deliveries import Delivery
from triage.views import Queue

WIDE: Final = 160  # columns in a pipe, where nobody wraps
COLLAPSED: Final = {"burst": 3, "exempt": 3}  # rows shown of lanes that nobody works through

out: Final = Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else WIDE)
err: Final = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)


def bar(what: str, total: int) -> Progress:
    """Return a progress bar on the error stream, silent in a pipe, with its one task."""
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=err,
        disable=not sys.stderr.isatty(),
        transient=True,
    )
    progress.add_task(what, total=total)
    return progress


def show_queue(queue: Queue) -> None:
    """Print the queue, a table a lane."""
    for lane in queue.lanes:
        if not lane.rows:
            continue
        table = Table(title=f"{lane.title} ({len(lane.rows)})", title_justify="left", title_style="bold", expand=True)
        for column in ("Pull request", "Author", "Waits", "Size"):
            table.add_column(column, no_wrap=True)
        table.add_column("Title", ratio=2)
        table.add_column("Why", ratio=3)
        shown = lane.rows[: COLLAPSED.get(lane.name, len(lane.rows))]
        for row in shown:
            table.add_row(
                f"{row.repo}#{row.number}",
                row.author or "ghost",
                age(row.waiting_since, queue.as_of),
                size(row.additions, row.deletions),
                printable(row.title) + (" [quick win]" if row.quick_win else ""),
                printable(" ".join(row.reasons)),
            )
        out.print(table)
        if len(shown) < len(lane.rows):
            out.print(f"... and {len(lane.rows) - len(shown)} more")

    for flood in queue.floods:
        minutes = max((flood.last_at - flood.first_at) / 60, 1)
        where = ", ".join(f"#{number}" for number in flood.threads)
        out.print(
            f"Flood: {flood.count} acts by {flood.login} in {minutes:.0f} min in {flood.repo}, on {where}",
            soft_wrap=True,
        )


def show_verdict(verdict: Mapping[str, Any]) -> None:
    """Print a verdict with every signal's sentence and weight."""
    out.print(Text(f"{verdict['repo']}#{verdict['number']}: {verdict['lane']}", style="bold"))
    people = verdict["human_p_value"]
    reference = "" if people is None else f" (of 1,000 people's pull requests, {people * 1000:.0f} read at least so)"
    out.print(f"p_agent {verdict['p_agent']:.3f}{reference}, p_unreviewed {verdict['p_unreviewed']:.3f}")
    for reason in verdict["reasons"]:
        out.print(f"  {reason}")
    table = Table()
    for column in ("Signal", "Family", "Agent", "Unreviewed", "Sentence"):
        table.add_column(column, justify="right" if column in {"Agent", "Unreviewed"} else "left")
    for one in verdict["evidence"]:
        heads = one["heads"]
        note = "" if one["counted"] else " (not counted)"
        table.add_row(
            one["signal"],
            one["family"],
            f"{heads['agent']:+.2f}",
            f"{heads['unreviewed']:+.2f}",
            printable(one["sentence"]) + note,
        )
    out.print(table)
    if verdict["unknown"]:
        out.print(f"Unknown: {', '.join(verdict['unknown'])}")
    out.print(f"Weights {verdict['model']}, policy {verdict['policy'][:19]}. {verdict['calibration']}")


def show_deliveries(rows: Iterable[Delivery]) -> None:
    """Print what became of deliveries."""
    table = Table()
    for column in ("Received", "Event", "GUID", "State", "Attempts", "Outcome"):
        table.add_column(column, no_wrap=column == "GUID")
    for row in rows:
        received = datetime.fromtimestamp(row.received_at, UTC).strftime("%Y-%m-%d %H:%M:%S")
        event = f"{row.event}.{row.action}" if row.action else row.event
        table.add_row(received, event, row.guid, row.state, str(row.attempts), printable(row.outcome or ""))
    out.print(table)


def age(since: float | None, now: float) -> str:
    """Say how long ago something was, in its largest unit."""
    if since is None:
        return "author's turn"
    seconds = max(now - since, 0.0)
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def size(additions: int | None, deletions: int | None) -> str:
    """Say how large a diff is."""
    return "?" if additions is None or deletions is None else f"+{additions} -{deletions}"


def printable(text: str) -> str:
    """Make a stranger's text safe to print: no control or escape characters reach the terminal."""
    return "".join(char if char.isprintable() else " " for char in text)


def lines(rows: Sequence[str]) -> None:
    """Print plain lines to the result stream."""
    for row in rows:
        out.print(row, soft_wrap=True)
