"""Does one person send more at once than people do, or than this person ever did?

Counted across everything that the installation sees, own repositories aside. A stack of pull requests is one unit of
work, and so is a review with many remarks. Bots are no persons and are not counted.
"""

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from triage.evidence import Reading, Signal, unknown
from triage.facts import Activity, ActivityKind, Facts
from triage.pace import DAY, HOUR, is_own, is_own_repository, kept, now, ordered, repo_key, span, spans, times_word

RECENT: Final = timedelta(days=7)
HISTORY: Final = 180.0  # days of the own past that the own rate is taken from

# Pull requests to other people's repositories in a window of so many seconds; the size of the negative binomial, small
# because human timing comes in heaps (a Poisson count, size without end, fires far too often).
WINDOWS: Final[Mapping[float, float]] = {HOUR: 0.5, DAY: 0.7, 7 * DAY: 1.0}
# The past of somebody who is hardly known: one pull request in five days, worth ten days of looking.
PRIOR_COUNT: Final = 2.0
PRIOR_DAYS: Final = 10.0

SPRAY: Final = timedelta(minutes=2)
GAP: Final = 120.0
GAPS: Final = 20
BRANCHES: Final = 20
OPENED_IN: Final = 90.0  # seconds from a branch to its pull request
BURST: Final = (2.0, 5)  # -log10 p, and pull requests: of who seldom sends any, one alone is as unlikely
REVIEW_PAUSE: Final = timedelta(minutes=2)  # longer, and it is another review

_KINDS: Final[Mapping[str, ActivityKind]] = {"comment": "comment", "review": "review", "review_comment": "review"}
TRUNKS: Final = frozenset({"main", "master", "trunk", "develop", "development", "dev", "next", "staging", "default"})


@dataclass(frozen=True, slots=True)
class Flood:
    """So many acts of one person from first to last, in the fullest window.

    ``spans`` are the times (first, last) in which it flooded, windows that overlap taken together; ``threads`` are the
    numbers that it hit in this repository within them.
    """

    count: int
    first_at: datetime
    last_at: datetime
    threads: tuple[int, ...]
    spans: tuple[tuple[datetime, datetime], ...]


def flood(facts: Facts, *, events: int, minutes: int) -> Flood | None:
    """Find the fullest window of so many minutes in which one person acted at least so many times.

    Counts comments, reviews and pull requests; own repositories do not count, a stack of pull requests and the remarks
    of one review count once. Of a pull request only windows that hold an act on it are looked at; of a commenter those
    of the last seven days. ``None`` when there is no such window.
    """
    if facts.author.type == "Bot":
        return None
    units = _units(facts)
    fullest: tuple[int, int, int] | None = None
    runs: list[tuple[int, int]] = []
    first = 0
    for last, unit in enumerate(units):
        while unit.at - units[first].at > timedelta(minutes=minutes):
            first += 1
        count = last - first + 1
        if count < events or not _concerns(facts, units[first : last + 1]):
            continue
        if fullest is None or count > fullest[0]:
            fullest = (count, first, last)
        runs = [*runs[:-1], (runs[-1][0], last)] if runs and first <= runs[-1][1] else [*runs, (first, last)]
    if fullest is None:
        return None
    count, first, last = fullest
    within = (unit for start, end in runs for unit in units[start : end + 1])
    hit = {unit.number for unit in within if unit.here and unit.number is not None}
    spans = tuple((units[start].at, units[end].at) for start, end in runs)
    return Flood(count, units[first].at, units[last].at, tuple(sorted(hit)), spans)


@dataclass(frozen=True, slots=True, order=True)
class _Unit:
    """One act that counts: when, in which repository (empty when unknown), on which thread."""

    at: datetime
    repo: str
    here: bool
    number: int | None


def _units(facts: Facts) -> list[_Unit]:
    acts = _acts(facts)
    said = {
        (repo_key(act.repo), act.number, act.at.replace(microsecond=0)): act for act in acts if act.kind == "comment"
    }
    counted = [*unstacked(act for act in acts if act.kind == "pull_request"), *_reviews(acts), *said.values()]
    units = [
        _Unit(act.at, repo_key(act.repo), repo_key(act.repo) == repo_key(facts.repo), act.number) for act in counted
    ]
    return sorted(units, key=lambda unit: (unit.at, unit.repo, unit.number or 0))


def _reviews(acts: Iterable[Activity]) -> list[Activity]:
    """Keep one act of each review: remarks on one thread that follow each other closely are one review."""
    kept: list[Activity] = []
    last: dict[Hashable, datetime] = {}
    for act in acts:
        if act.kind == "review":
            thread = (repo_key(act.repo), act.number)
            if thread not in last or act.at - last[thread] > REVIEW_PAUSE:
                kept.append(act)
            last[thread] = act.at
    return kept


@kept
def _acts(facts: Facts) -> tuple[Activity, ...]:
    """Return what the person did outside the own repositories, from activity and timeline, each act once, by time."""
    acts = [act for act in facts.activity or () if not is_own_repository(facts, act.repo, act.own_repo)]
    if not is_own_repository(facts, facts.repo):
        acts.extend(_this_pull(facts, acts))
        acts.extend(_said_here(facts, acts))
    return tuple(sorted(acts, key=lambda act: (act.at, act.kind, act.repo or "", act.number or 0, act.base or "")))


def _said_here(facts: Facts, acts: Sequence[Activity]) -> list[Activity]:
    """Return the own comments and reviews of the timeline that the activity does not hold."""
    known = {(repo_key(act.repo), act.number, act.at.replace(microsecond=0)) for act in acts}
    unnumbered = {(place, at) for place, number, at in known if number is None}
    said = []
    for event in ordered(facts):
        number = facts.number if event.number is None else event.number
        second = event.at.replace(microsecond=0)
        seen = (repo_key(facts.repo), number, second) in known or (repo_key(facts.repo), second) in unnumbered
        kind = _KINDS.get(event.kind)
        if kind is not None and is_own(event, facts) and not seen:
            said.append(Activity(event.at, kind, facts.repo, own_repo=False, number=number))
    return said


def _this_pull(facts: Facts, acts: Sequence[Activity]) -> Iterable[Activity]:
    pull = facts.pull_request
    if pull is None or pull.created_at is None:
        return ()
    for act in acts:
        same = act.number == facts.number if None not in {act.number, facts.number} else act.at == pull.created_at
        if act.kind == "pull_request" and repo_key(act.repo) == repo_key(facts.repo) and same:
            return ()
    return (Activity(pull.created_at, "pull_request", facts.repo, own_repo=False, number=facts.number),)


def _concerns(facts: Facts, window: Sequence[_Unit]) -> bool:
    if facts.subject == "pull_request":
        pull = facts.pull_request
        opened = pull.created_at if pull is not None else None
        if facts.number is None:
            return opened is None or window[0].at <= opened <= window[-1].at
        return any(unit.here and unit.number == facts.number for unit in window)
    moment = now(facts)
    return moment is None or window[-1].at > moment - RECENT


def unstacked(pulls: Iterable[Activity]) -> list[Activity]:
    """Return pull requests by time, a stack and a row of backports once each.

    A pull request is stacked when its base is no trunk: neither named like one nor the base of another one of them.
    Where the base is unknown nothing is concluded.
    """
    ascending = sorted(pulls, key=lambda act: (act.at, act.repo or "", act.number or 0, act.base or ""))
    seen: set[Hashable] = set()
    once = []
    for act in ascending:
        key = (act.repo, act.number if act.number is not None else act.at)
        if key not in seen:
            seen.add(key)
            once.append(act)
    bases = Counter((act.repo, act.base) for act in once)
    opened: set[str | None] = set()
    kept = []
    for act in once:
        trunk = act.base is None or act.base.casefold() in TRUNKS or bases[act.repo, act.base] > 1
        if trunk or act.repo not in opened:
            kept.append(act)
        opened.add(act.repo)
    return kept


def burst_scan(facts: Facts) -> Reading:
    """Read how unlikely the fullest hour, day or week around this act is at the person's own rate: -log10 p."""
    pulls = _foreign_pulls(facts)
    if pulls is None:
        return unknown("the person's activity is not known")
    moment = _anchor(facts, pulls)
    if moment is None or not pulls:
        return Reading(0.0, 0, "No pull request to another repository in the known activity.")
    found = []
    for seconds, size in WINDOWS.items():
        start, count = _fullest(pulls, moment, timedelta(seconds=seconds))
        rate = _daily_rate(pulls, start)
        p = negative_binomial_tail(count, rate * seconds / DAY, size)
        value = max(0.0, -math.log10(max(p, 1e-300)) - math.log10(len(WINDOWS)))
        found.append((round(value, 6), count, seconds, rate))
    value, n, seconds, rate = max(found, key=lambda one: (one[0], -one[2]))
    sentence = (
        f"{n} {_plural('pull request', n)} to other repositories within {span(seconds)}; usually {rate:.2f} a day."
    )
    return Reading(value, n, sentence)


def self_ratio(facts: Facts) -> Reading:
    """Read the last day's pull requests against the person's own daily rate: ln of the ratio."""
    pulls = _foreign_pulls(facts)
    moment = None if pulls is None else _anchor(facts, pulls)
    if pulls is None or moment is None:
        return unknown("the person's activity is not known")
    start, count = _fullest(pulls, moment, timedelta(days=1))
    before = [act.at for act in facts.activity or () if act.at < start]
    days = min(HISTORY, (start - min(before)).total_seconds() / DAY) if before else 0.0
    if days < 14:  # noqa: PLR2004 - a rate of less than two weeks is no habit
        return unknown("less than two weeks of the person's past are known", count)
    rate = sum(1 for act in pulls if start - timedelta(days=HISTORY) <= act.at < start) / days
    sentence = f"{count} pull requests to other repositories within 24 h; usually {rate:.2f} a day."
    return Reading(round(math.log((count + 0.5) / (rate + 0.5)), 6), count, sentence)


def owner_spread(facts: Facts) -> Reading:
    """Read how widely a week's pull requests are spread: entropy in nats times the number of foreign owners."""
    pulls = _foreign_pulls(facts)
    moment = None if pulls is None else _anchor(facts, pulls)
    if pulls is None or moment is None:
        return unknown("the person's activity is not known")
    week = [act for act in pulls if moment - RECENT < act.at <= moment and act.repo]
    owners = sorted(Counter((act.repo or "").partition("/")[0].casefold() for act in week).values())
    entropy = -math.fsum(count / len(week) * math.log(count / len(week)) for count in owners)
    sentence = f"{len(week)} pull requests to {len(owners)} other owners within seven days."
    return Reading(round(entropy * len(owners), 6) + 0.0, len(week), sentence)


def comment_spray(facts: Facts) -> Reading:
    """Count the distinct threads that the person commented on within two minutes, at most, in the last seven days."""
    if facts.activity is None and facts.timeline is None:
        return unknown("the person's activity is not known")
    moment = now(facts)
    if facts.author.type == "Bot" or moment is None:
        return unknown("there is no person's comment")
    # No reviews: a maintainer who approves the same update in fourteen sister repositories says nothing fourteen times.
    since = moment - RECENT
    said = [act for act in _acts(facts) if act.kind == "comment" and act.at > since]
    most, first = 0, 0
    inside: Counter[Hashable] = Counter()
    for act in said:
        inside[repo_key(act.repo), act.number] += 1
        while act.at - said[first].at > SPRAY:
            gone = (repo_key(said[first].repo), said[first].number)
            inside[gone] -= 1
            if not inside[gone]:
                del inside[gone]
            first += 1
        most = max(most, len(inside))
    sentence = f"The person commented on at most {most} different {_plural('thread', most)} within two minutes."
    return Reading(float(most), len(said), sentence)


def micro_gap(facts: Facts) -> Reading:
    """Read the share of the last twenty gaps between own pull requests that are under two minutes."""
    pulls = _foreign_pulls(facts)
    if pulls is None:
        return unknown("the person's activity is not known")
    gaps = [(b.at - a.at).total_seconds() for a, b in pairwise(pulls)][-GAPS:]
    if len(gaps) < 5:  # noqa: PLR2004 - two in a row are no pace
        return unknown("fewer than six pull requests to other repositories", len(gaps))
    short = [gap for gap in gaps if gap < GAP]
    times = f" ({spans(short)})" if short else ""
    sentence = f"{len(short)} of the last {len(gaps)} pauses between pull requests were under two minutes{times}."
    return Reading(round(len(short) / len(gaps), 6), len(gaps), sentence)


def branch_to_pull(facts: Facts) -> Reading:
    """Read the share of the last twenty branches that were a pull request within 90 s; none without a burst.

    Whoever edits on the web, or with a tool that does both at once, opens a pull request seconds after its branch: it
    says something only of many. The numerator holds no pull request to an own repository; a branch does not tell what
    it was made for, so all of them are below the line.
    """
    pulls = _foreign_pulls(facts)
    if pulls is None:
        return unknown("the person's activity is not known")
    made = (act for act in facts.activity or () if act.kind == "branch")
    branches = sorted(made, key=lambda act: (act.at, repo_key(act.repo), act.own_repo is not True))[-BRANCHES:]
    n = len(branches)
    if n < 5:  # noqa: PLR2004 - fewer are no habit
        return unknown("fewer than five new branches are known", n)
    quick = _opened_at_once(facts, branches, pulls)
    scan = burst_scan(facts)
    many = (scan.value or 0.0) >= BURST[0] and scan.n >= BURST[1]
    aside = "" if many or not quick else "; there is no burst of pull requests"
    sentence = (
        f"{quick} of the last {n} branches were a pull request to another repository within {OPENED_IN:.0f} s{aside}."
    )
    return Reading(round(quick / n, 6) if many else 0.0, n, sentence)


def _opened_at_once(facts: Facts, branches: Sequence[Activity], pulls: Sequence[Activity]) -> int:
    """Count the branches with a pull request of their own soon after, from a fork or within the same repository."""
    times = [act.at for act in pulls]
    taken: set[int] = set()
    for branch in branches:
        until = bisect_right(times, branch.at + timedelta(seconds=OPENED_IN))
        fork = branch.repo is None or is_own_repository(facts, branch.repo, branch.own_repo)
        for place in range(bisect_left(times, branch.at), until):
            if place not in taken and (fork or repo_key(pulls[place].repo) == repo_key(branch.repo)):
                taken.add(place)
                break
    return len(taken)


def fork_burst(facts: Facts) -> Reading:
    """Read how many forks the person made in the fullest day of the last week: ln(1 + forks)."""
    moment = now(facts)
    if facts.activity is None or moment is None:
        return unknown("the person's activity is not known")
    forks = sorted(act.at for act in facts.activity if act.kind == "fork" and act.at > moment - RECENT)
    counts = (bisect_right(forks, at + timedelta(days=1)) - first for first, at in enumerate(forks))
    most = max(counts, default=0)
    return Reading(round(math.log1p(most), 6), len(forks), f"The person forked {times_word(most)} within 24 h.")


def negative_binomial_tail(count: int, mean: float, size: float) -> float:
    """Return P(N >= count) of a negative binomial with this mean and size, summed exactly."""
    p = size / (size + mean)
    log_p, log_q = math.log(p), math.log1p(-p)
    terms = (
        math.exp(math.lgamma(i + size) - math.lgamma(size) - math.lgamma(i + 1) + size * log_p + i * log_q)
        for i in range(count)
    )
    below = math.fsum(terms)
    if below < 1.0 - 1e-9:
        return 1.0 - below
    # Too far out for a difference from one: the first terms of the tail hold nearly all of it.
    first = math.lgamma(count + size) - math.lgamma(size) - math.lgamma(count + 1) + size * log_p + count * log_q
    return math.exp(first) / (1.0 - math.exp(log_q))


@kept
def _foreign_pulls(facts: Facts) -> tuple[Activity, ...] | None:
    if facts.activity is None or facts.author.type == "Bot":
        return None
    pulls = [act for act in facts.activity if act.kind == "pull_request" and act.repo is not None]
    foreign = [act for act in pulls if not is_own_repository(facts, act.repo, act.own_repo)]
    if facts.repo is not None and not is_own_repository(facts, facts.repo):
        foreign.extend(_this_pull(facts, foreign))
    return tuple(unstacked(foreign))


def _anchor(facts: Facts, pulls: Sequence[Activity]) -> datetime | None:
    """Return the moment that the windows must hold: the opening, else the person's last pull request."""
    if facts.pull_request is not None and facts.pull_request.created_at is not None:
        return facts.pull_request.created_at
    return pulls[-1].at if pulls else None


def _fullest(pulls: Sequence[Activity], moment: datetime, width: timedelta) -> tuple[datetime, int]:
    """Return (start, count) of the window that holds the moment and most pull requests, the earliest of equals."""
    times = [act.at for act in pulls]
    starts = times[bisect_right(times, moment - width) : bisect_right(times, moment)] or [moment]
    counts = [(bisect_left(times, start + width) - bisect_left(times, start), start) for start in starts]
    count, start = max(counts, key=lambda pair: pair[0])
    return start, count


def _daily_rate(pulls: Sequence[Activity], start: datetime) -> float:
    """Return the own pull requests a day before a moment, shrunk towards somebody who is hardly known."""
    past = [act.at for act in pulls if start - timedelta(days=HISTORY) <= act.at < start]
    days = (start - past[0]).total_seconds() / DAY if past else 0.0
    return (len(past) + PRIOR_COUNT) / (days + PRIOR_DAYS)


def _plural(word: str, count: int) -> str:
    return word if count == 1 else f"{word}s"


_BOTH: Final = ("pull_request", "commenter")

SIGNALS: Final[tuple[Signal, ...]] = (
    Signal("burst_scan", "burst", ("agent",), "A", burst_scan, subjects=_BOTH),
    Signal("self_ratio", "burst", ("agent",), "B", self_ratio, subjects=_BOTH),
    Signal("owner_spread", "burst", ("agent",), "B", owner_spread, subjects=_BOTH),
    Signal("comment_spray", "burst", ("agent", "unreviewed"), "B", comment_spray, subjects=_BOTH),
    Signal("micro_gap", "burst", ("agent",), "B", micro_gap, subjects=_BOTH),
    Signal("branch_to_pull", "burst", ("agent",), "C", branch_to_pull, subjects=_BOTH),
    Signal("fork_burst", "burst", ("agent",), "C", fork_burst, subjects=_BOTH),
)
