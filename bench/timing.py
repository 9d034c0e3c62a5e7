"""How fast does each kind of actor reply, and how close together are own pull requests?

``python -m bench.timing CORPUS`` reads ``CORPUS/pr_events.parquet``, ``CORPUS/pull_requests.parquet`` and
``CORPUS/account_events.parquet`` (see the corpus's own README) and prints the Markdown tables of
``docs/evaluation/timing.md``: learned on buckets 0-5, the same figures on 6-7 beside them. Same input, same output.
"""

import math
import random
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

Row = Mapping[str, Any]
Sums = Sequence[float]
Figure = Callable[[Sums], float]

EVENTS: Final = (
    "pr_id",
    "repo_key",
    "split10",
    "event",
    "created_at",
    "since_open_s",
    "actor_key",
    "actor_kind",
    "actor_is_author",
)
OPTIONAL: Final = ("app_login",)  # empty for every person
PULLS: Final = ("author_key", "created_at", "label_agent", "agent", "split10")
ACTS: Final = ("account_key", "label_automation", "type", "created_at")

SPLITS: Final = {"0-5": range(6), "6-7": range(6, 8)}
POSTS: Final = frozenset({"commented", "reviewed"})
BOTS: Final = frozenset({"ai_reviewer", "ci_bot"})
# One agent that comments under one account and reviews under another.
SAME: Final = {"copilot-swe-agent[bot]": "Copilot"}
APPS: Final = frozenset({"Copilot", "Devin"})  # one App account each, for all who use it

KINDS: Final = {
    ("human", "human"): "person, to a person",
    ("human", "coding_agent"): "person, to a coding agent",
    ("coding_agent", "human"): "coding agent, to a person",
    ("ai_reviewer", ""): "review bot",
    ("ci_bot", ""): "CI bot",
}
PERSON, AGENT = KINDS["human", "human"], KINDS["coding_agent", "human"]
AUTHOR: Final = f"{PERSON}, as the author"  # of the first kind, once more by themselves

BANDS: Final = (15.0, 60.0, 600.0, 3600.0, 28_800.0)  # seconds
BAND_NAMES: Final = ("under 15 s", "15-60 s", "1-10 min", "10-60 min", "1-8 h", "8 h or more")
ENOUGH: Final = 5  # replies of one account
GAP: Final = 120.0
SEED: Final = 20_260
DRAWS: Final = 500
FEW: Final = 10  # accounts; of fewer, repositories are drawn instead


class Missing(Exception):
    """A file or a column of the corpus is absent or empty."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply: of which kind, by which account, where, and how many seconds after what it answers."""

    kind: str
    account: str
    repo: str
    split: int
    seconds: float
    author: bool = False


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure and its 95 % interval."""

    value: float
    low: float
    high: float

    def told(self, digits: int = 2, scale: float = 1.0) -> str:
        """Write it for a table."""
        value, low, high = (f"{one * scale:.{digits}f}" for one in (self.value, self.low, self.high))
        return f"{value} ({low} to {high})"


def read(path: Path, columns: Sequence[str], optional: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Read columns of a file; each of them must be there and hold something, the optional ones need hold nothing."""
    if not path.exists():
        raise Missing(f"{path.name}: there is no such file")
    names = set(pq.read_schema(path).names)
    for column in (*columns, *optional):
        if column not in names:
            raise Missing(f"{path.name}: there is no column {column}")
    table: pa.Table = pq.read_table(path, columns=[*columns, *optional])
    for column in columns:
        if table[column].null_count == table.num_rows:
            raise Missing(f"{path.name}: column {column} is empty")
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


# --- replies ------------------------------------------------------------------


def replies(rows: Iterable[Row]) -> list[Reply]:
    """Find who replied to whom, bots taken out first; of a bot, its own posts stay in and the opening is a trigger.

    A reply is the first post of an actor after the last post of another one. What was posted in the same second
    answers nothing. Rows of no known bucket keep it.
    """
    pulls: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        if row["event"] in POSTS and row["actor_key"] is not None and row["created_at"] is not None:
            pulls[row["pr_id"]].append(row)
    found = [reply for posts in pulls.values() for reply in _pull_replies(posts)]
    return sorted(found, key=lambda one: (one.kind, one.account, one.repo, one.split, one.seconds))


def _pull_replies(posts: Sequence[Row]) -> Iterator[Reply]:
    ascending = sorted(posts, key=lambda row: (row["created_at"], _actor(row)))
    kept = [row for row in ascending if row["actor_kind"] not in BOTS]
    for row in kept:
        yield from _reply(row, kept)
    for bot in sorted({_actor(row) for row in ascending if row["actor_kind"] in BOTS}):
        own = [row for row in ascending if _actor(row) == bot]
        for row in own:
            yield from _bot_reply(row, own, kept)


def _reply(row: Row, kept: Sequence[Row]) -> Iterator[Reply]:
    before = [one for one in kept if one["created_at"] < row["created_at"]]
    earlier = [one for one in kept[: next(i for i, one in enumerate(kept) if one is row)] if _actor(one) == _actor(row)]
    asked = next((one for one in reversed(before) if _actor(one) != _actor(row)), None)
    if asked is None or (earlier and earlier[-1]["created_at"] >= asked["created_at"]):
        return
    kind = KINDS.get((row["actor_kind"], asked["actor_kind"]))
    if kind is not None:
        yield _made(kind, row, asked["created_at"])


def _bot_reply(row: Row, own: Sequence[Row], kept: Sequence[Row]) -> Iterator[Reply]:
    opened = None if row["since_open_s"] is None else row["created_at"] - timedelta(seconds=row["since_open_s"])
    times = [one["created_at"] for one in kept] + ([] if opened is None else [opened])
    asked = max((at for at in times if at < row["created_at"]), default=None)
    first = next((one for one in own if asked is not None and one["created_at"] > asked), None)
    if asked is not None and first is row:
        yield _made(KINDS[row["actor_kind"], ""], row, asked)


def _made(kind: str, row: Row, asked: datetime) -> Reply:
    seconds = (row["created_at"] - asked).total_seconds()
    split = -1 if row["split10"] is None else int(row["split10"])
    return Reply(kind, _actor(row), str(row["repo_key"]), split, seconds, bool(row["actor_is_author"]))


def _actor(row: Row) -> str:
    return SAME.get(row.get("app_login") or "", row.get("app_login") or "") or str(row["actor_key"])


# --- figures ------------------------------------------------------------------


def sums(times: Sequence[float]) -> list[float]:
    """Add up what the figures need of one cluster: n, sum and squares of ln t, counts by band, and for the rho."""
    logs = [math.log(max(time, 1.0)) for time in times]
    bands = [0] * len(BAND_NAMES)
    for time in times:
        bands[sum(time >= edge for edge in BANDS)] += 1
    n = len(times)
    return [n, math.fsum(logs), math.fsum(one * one for one in logs), *bands, n * n, bands[2] ** 2 / n, 1]


def mean(s: Sums) -> float:
    """Return the mean of ln t."""
    return s[1] / s[0]


def deviation(s: Sums) -> float:
    """Return the deviation of ln t."""
    return math.sqrt(max(0.0, (s[2] - s[1] * s[1] / s[0]) / (s[0] - 1))) if s[0] > 1 else 0.0


def share(first: int, last: int) -> Figure:
    """Return the share of replies in the bands from first to last."""
    return lambda s: math.fsum(s[3 + first : 4 + last]) / s[0]


def rho(s: Sums) -> float:
    """Return the intra-account correlation of the one-to-ten-minute indicator (one-way analysis of variance)."""
    n, k, squares, between, groups = s[0], s[5], s[9], s[10], s[11]
    if groups < 2 or n <= groups:
        return math.nan
    above = (between - k * k / n) / (groups - 1)
    within = (k - between) / (n - groups)
    size = (n - squares / n) / (groups - 1)
    below = above + (size - 1) * within
    return (above - within) / below if below > 0 else math.nan


def clusters(found: Iterable[Reply]) -> tuple[str, list[list[float]]]:
    """Group replies by account, or by repository where the accounts are few; return the word for it and the sums."""
    given = list(found)
    by = "account" if len({one.account for one in given}) >= FEW else "repository"
    groups: dict[str, list[float]] = defaultdict(list)
    for one in given:
        groups[one.account if by == "account" else one.repo].append(one.seconds)
    return by, [sums(groups[name]) for name in sorted(groups)]


def draws(groups: Sequence[Sums], seed: int = SEED) -> list[list[float]]:
    """Draw clusters with replacement and return the totals of each draw."""
    chance = random.Random(seed)  # noqa: S311 - a bootstrap, no secret
    return [total(chance.choices(groups, k=len(groups))) for _ in range(DRAWS)]


def total(groups: Iterable[Sums]) -> list[float]:
    """Add clusters up."""
    return [math.fsum(column) for column in zip(*groups, strict=True)]


def interval(value: float, drawn: Iterable[float]) -> Interval:
    """Return a figure with the middle 95 % of its draws."""
    ascending = sorted(one for one in drawn if not math.isnan(one))
    if not ascending:
        return Interval(value, math.nan, math.nan)
    last = len(ascending) - 1
    return Interval(value, ascending[round(0.025 * last)], ascending[round(0.975 * last)])


@dataclass(frozen=True, slots=True)
class Fit:
    """The replies of one kind, added up, and their draws."""

    found: Sequence[Reply]
    by: str
    sums: Sums
    drawn: Sequence[Sums]

    def of(self, figure: Figure) -> Interval:
        """Return a figure with its interval."""
        return interval(figure(self.sums), map(figure, self.drawn))


def fit(found: Sequence[Reply]) -> Fit:
    """Add up and draw."""
    by, groups = clusters(found)
    return Fit(found, by, total(groups), draws(groups))


def quartiles(times: Sequence[float]) -> tuple[float, float, float]:
    """Return the lower quartile, the median and the upper quartile."""
    if len(times) < 2:
        return times[0], times[0], times[0]
    low, middle, high = statistics.quantiles(times, n=4, method="inclusive")
    return low, middle, high


def repeated(found: Iterable[Reply]) -> tuple[int, int]:
    """Count the accounts with enough replies, and those of them that gave 80 % within ten minutes."""
    accounts: dict[str, list[float]] = defaultdict(list)
    for one in found:
        accounts[one.account].append(one.seconds)
    enough = [times for times in accounts.values() if len(times) >= ENOUGH]
    return len(enough), sum(sum(time < 600 for time in times) >= 0.8 * len(times) for times in enough)


# --- gaps ---------------------------------------------------------------------


def gaps(rows: Iterable[Row]) -> dict[str, list[tuple[int, int]]]:
    """Return for each kind (gaps, gaps under two minutes) of each author with two or more own pull requests."""
    times: dict[tuple[str, str], list[datetime]] = defaultdict(list)
    for row in rows:
        if row["label_agent"] in {0, 1} and row["author_key"] is not None and row["created_at"] is not None:
            kind = _author(row)
            times[kind, row["author_key"]].append(row["created_at"])
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for (kind, _), moments in sorted(times.items()):
        waits = [(b - a).total_seconds() for a, b in pairwise(sorted(moments))]
        if waits:
            found[kind].append((len(waits), sum(wait < GAP for wait in waits)))
    return found


def _author(row: Row) -> str:
    if row["label_agent"] == 0:
        return "person"
    return "agent's own account" if row["agent"] in APPS else "person who drives an agent"


def by_author(found: Sequence[tuple[int, int]]) -> Interval:
    """Return the share of short gaps, each author weighing the same."""
    shares = [short / n for n, short in found]
    chance = random.Random(SEED)  # noqa: S311 - a bootstrap, no secret
    drawn = [statistics.fmean(chance.choices(shares, k=len(shares))) for _ in range(DRAWS)]
    return interval(statistics.fmean(shares), drawn)


def fullest(moments: Sequence[datetime], width: float) -> int:
    """Return the most events in one window of so many seconds."""
    ascending = sorted(moments)
    most = first = 0
    for last, moment in enumerate(ascending):
        while (moment - ascending[first]).total_seconds() > width:
            first += 1
        most = max(most, last - first + 1)
    return most


# --- tables -------------------------------------------------------------------


def table(head: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Write a Markdown table."""
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows)


def tables(corpus: Path) -> str:
    """Measure and write every table."""
    given = replies(read(corpus / "pr_events.parquet", EVENTS, OPTIONAL))
    pulls = read(corpus / "pull_requests.parquet", PULLS)
    acts = read(corpus / "account_events.parquet", ACTS)
    fits: dict[tuple[str, str], Fit] = {}
    given += [replace(one, kind=AUTHOR) for one in given if one.kind == PERSON and one.author]
    for kind in (PERSON, AUTHOR, *(kind for kind in KINDS.values() if kind != PERSON)):
        for name, buckets in SPLITS.items():
            if found := [one for one in given if one.kind == kind and one.split in buckets]:
                fits[kind, name] = fit(found)
    parts = [_counts(fits), _logs(fits), _shares(fits), _ratios(fits), _repeats(fits), _gaps(pulls), _acts(acts)]
    return "\n\n".join(parts) + "\n"


Fits = Mapping[tuple[str, str], Fit]


def _counts(fits: Fits) -> str:
    lines = []
    for (kind, name), one in fits.items():
        low, middle, high = quartiles([reply.seconds for reply in one.found])
        accounts = len({reply.account for reply in one.found})
        repos = len({reply.repo for reply in one.found})
        row = [kind, name, len(one.found), accounts, repos, f"{middle:.0f}", f"{low:.0f} to {high:.0f}"]
        lines.append(row)
    head = ("who", "buckets", "replies", "accounts", "repositories", "median, s", "middle half, s")
    return "### Times to reply\n\n" + table(head, lines)


def _logs(fits: Fits) -> str:
    lines = []
    for (kind, name), one in fits.items():
        low, middle, high = (math.log(max(at, 1.0)) for at in quartiles([reply.seconds for reply in one.found]))
        robust = f"{middle:.2f}, {(high - low) / 1.349:.2f}"
        lines.append([kind, name, one.of(mean).told(), one.of(deviation).told(), robust, one.by])
    head = ("who", "buckets", "mean of ln t", "deviation of ln t", "by median and middle half", "drawn by")
    return "### Logarithm of seconds\n\n" + table(head, lines)


def _shares(fits: Fits) -> str:
    wanted = (share(0, 0), share(0, 1), share(2, 2), share(0, 2))
    lines = [[kind, name, *(one.of(figure).told(1, 100) for figure in wanted)] for (kind, name), one in fits.items()]
    head = ("who", "buckets", "under 15 s, %", "under 60 s, %", "1-10 min, %", "under 10 min, %")
    return "### Shares\n\n" + table(head, lines)


def _ratios(fits: Fits) -> str:
    lines = []
    for place, band in enumerate(BAND_NAMES):
        cells = []
        for name in SPLITS:
            agent, person = fits.get((AGENT, name)), fits.get((PERSON, name))
            cells.append("-" if agent is None or person is None else ratio(agent, person, place).told())
        lines.append([band, *cells])
    return "### Likelihood ratio of one reply, agent : person\n\n" + table(
        ("after", *(f"buckets {name}" for name in SPLITS)), lines
    )


def ratio(agent: Fit, person: Fit, band: int) -> Interval:
    """Return how much likelier a band is for an agent than for a person, half a reply added to each count."""

    def part(s: Sums) -> float:
        return (s[3 + band] + 0.5) / (s[0] + 1.0)

    drawn = [part(a) / part(p) for a, p in zip(agent.drawn, person.drawn, strict=True)]
    return interval(part(agent.sums) / part(person.sums), drawn)


def _repeats(fits: Fits) -> str:
    lines = []
    for (kind, name), one in fits.items():
        if kind == PERSON:
            enough, fast = repeated(one.found)
            alike = one.of(rho).told(3) if one.by == "account" else "too few accounts"
            lines.append([name, alike, enough, fast])
    head = ("buckets", "rho of 1-10 min", f"people with {ENOUGH} or more replies", "of them 80 % within ten minutes")
    return "### Repetition: people, to people\n\n" + table(head, lines)


def _gaps(rows: Sequence[Row]) -> str:
    lines = []
    for name, buckets in SPLITS.items():
        for kind, found in sorted(gaps(row for row in rows if row["split10"] in buckets).items()):
            n, short = (sum(column) for column in zip(*found, strict=True))
            full = [part / of for of, part in found if of >= ENOUGH]
            some = f"{sum(one >= 0.2 for one in full)} of {len(full)}"
            told = by_author(found).told(1, 100) if len(found) >= FEW else "too few accounts"
            lines.append([kind, name, len(found), n, told, f"{100 * short / n:.1f}", some])
    head = (
        "who",
        "buckets",
        "authors",
        "gaps",
        "under 120 s, % by author",
        "% of all gaps",
        f"authors at 20 % or more, of those with {ENOUGH} gaps",
    )
    return "### Gaps between own pull requests\n\n" + table(head, sorted(lines, key=lambda line: (line[0], line[1])))


def _acts(rows: Sequence[Row]) -> str:
    accounts: dict[tuple[int, str], list[Row]] = defaultdict(list)
    for row in rows:
        accounts[int(row["label_automation"]), row["account_key"]].append(row)
    lines = []
    for (label, _), own in sorted(accounts.items()):
        moments = sorted(row["created_at"] for row in own)
        short = [(b - a).total_seconds() < GAP for a, b in pairwise(moments)]
        most = [fullest(moments, width) for width in (GAP, 3600.0)]
        said = fullest([row["created_at"] for row in own if row["type"] == "IssueCommentEvent"], GAP)
        gap = f"{100 * statistics.fmean(short):.0f}" if short else "-"
        lines.append(["automation" if label else "person", len(own), gap, *most, said])
    lines.sort(key=lambda line: (line[0], -int(line[1]), line[2:]))
    head = ("account known as", "events", "gaps under 120 s, %", "most in 2 min", "most in 1 h", "comments in 2 min")
    return "### Bursts of single accounts\n\n" + table(head, lines)


def main(arguments: list[str]) -> int:
    """Print the tables."""
    if len(arguments) != 1:
        print("usage: python -m bench.timing CORPUS", file=sys.stderr)
        return 2
    try:
        print(tables(Path(arguments[0])), end="")
    except Missing as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
