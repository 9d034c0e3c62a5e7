"""How fast does the author answer other people, and how alike are the times?

One quick answer says little: one reply carries a likelihood ratio of 8.5 at most, and people who sit there together
answer within a minute. Repetition is what counts (signals.md 1.2). Quick "done, thanks" answers are nearly left out.
"""

import math
import re
from bisect import bisect_right
from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from triage.evidence import Reading, Signal, unknown
from triage.facts import Activity, Facts
from triage.pace import (
    ANSWERS,
    QUESTIONS,
    READ,
    TOLD,
    answers,
    is_own,
    is_own_repository,
    ordered,
    repo_key,
    span,
    spans,
    times_word,
    words_of,
)
from triage.prose import residual

# Natural logarithm of seconds to a reply: mean and deviation, of coding agents and of people (signals.md 3).
AGENT: Final = (6.23, 0.81)
PEOPLE: Final = (10.27, 3.39)
# Replies of one account are alike: intra-account correlation, and the share of people's replies in one to ten minutes.
RHO: Final = 0.065
FAST_SHARE: Final = 0.136
FAST: Final = (60.0, 600.0)

PUSHED_COUNTS: Final = 0.5  # a push may have been on its way; no corpus measures it
BRIEF_COUNTS: Final = 0.25
BRIEF_AT_MOST: Final = 0.5  # nats that all brief answers add together

LONG: Final = 200  # characters
TYPING: Final = 10.0  # characters a second; 1.4 to 1.8 % of people's comments are above it, so one is nothing
BATCH: Final = 10.0  # seconds between the parts of one submitted review
INSTANT: Final = 15.0

AT_ONCE: Final = 300.0  # seconds from an issue, or the first word on it, to the pull request
CHANGED: Final = 20  # lines; a smaller change can be made in five minutes
REPOSITORIES: Final = 2  # whoever says "I have a fix" and sends it does so at once, too
AROUND: Final = timedelta(days=7)  # of this pull request, for those in other repositories

# "Fixes #12", "Closes acme/widgets#12", "Resolves https://github.com/acme/widgets/issues/12", as the forge links them.
_CLOSES: Final = re.compile(
    r"(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b:?[ \t]{1,4}"
    r"(?:(?P<repo>[\w.-]{1,100}/[\w.-]{1,100})?#|https://github\.com/(?P<path>[\w.-]{1,100}/[\w.-]{1,100})/issues/)"
    r"(?P<number>\d{1,12})\b"
)


def reply_pace(facts: Facts) -> Reading:
    """Read how much likelier the times to reply are from an agent than from a person: nats, discounted for repeats."""
    given = answers(facts)
    if not given:
        return _no_answers(facts)
    weights = {"told": 1.0, "pushed": PUSHED_COUNTS, "brief": BRIEF_COUNTS}
    parts = [(answer.how, weights[answer.how] * _ratio(answer.seconds)) for answer in given]
    brief = math.fsum(part for how, part in parts if how == "brief")
    rest = math.fsum(part for how, part in parts if how != "brief")
    n = max(1.0, math.fsum(weights[how] for how, _ in parts))
    value = (rest + min(brief, BRIEF_AT_MOST)) / (1.0 + (n - 1.0) * RHO)
    times = spans([answer.seconds for answer in given])
    return Reading(
        round(value, 6), len(given), f"The author answered other people {times_word(len(given))}: in {times}."
    )


def fast_reply_tail(facts: Facts) -> Reading:
    """Read how rare so many answers in one to ten minutes are among people: -log10 of the probability."""
    given = [answer for answer in answers(facts) if answer.how != "brief"]
    n = len(given)
    if n < 3:  # noqa: PLR2004 - fewer is no repetition
        return unknown("fewer than three written answers or pushes after another person's word", n)
    fast = [answer.seconds for answer in given if FAST[0] <= answer.seconds < FAST[1]]
    value = -math.log10(beta_binomial_tail(len(fast), n, FAST_SHARE, RHO))
    times = f" ({spans(fast)})" if fast else ""
    sentence = f"{len(fast)} of {n} answers to other people came after one to ten minutes{times}."
    return Reading(round(value, 6) + 0.0, n, sentence)


def reply_rate(facts: Facts) -> Reading:
    """Count long replies written faster than ten characters a second; one alone reads as none."""
    if facts.timeline is None:
        return unknown("the timeline was not read")
    rates = [characters / max(seconds, 1.0) for characters, seconds in _long_replies(facts)]
    if not rates:
        return unknown(f"no reply of {LONG} characters or more")
    fast = [rate for rate in rates if rate > TYPING]
    value = float(len(fast)) if len(fast) > 1 else 0.0
    sentence = f"{len(fast)} of {len(rates)} long replies were written faster than {TYPING:.0f} characters a second."
    return Reading(value, len(rates), sentence)


def pace_spread(facts: Facts) -> Reading:
    """Read how alike the times to reply are: 1.5 less the spread of their logarithms, not below zero."""
    logs = sorted(math.log(max(answer.seconds, 1.0)) for answer in answers(facts) if answer.how != "brief")
    n = len(logs)
    if n < 5:  # noqa: PLR2004 - a spread of fewer says nothing
        return unknown("fewer than five written answers or pushes after another person's word", n)
    spread = (_quantile(logs, 0.75) - _quantile(logs, 0.25)) / 1.349
    times = spans([math.exp(logs[0]), math.exp(logs[-1])])
    return Reading(round(max(0.0, 1.5 - spread), 6), n, f"{n} answers came after {times}; spread {spread:.2f} in ln s.")


def instant_reply(facts: Facts) -> Reading:
    """Read the share of answers that came within fifteen seconds and are longer than a few words."""
    given = [answer for answer in answers(facts) if answer.how != "pushed"]
    n = len(given)
    if n < 2:  # noqa: PLR2004 - one can be chance
        return unknown("fewer than two answers to another person", n)
    instant = sum(1 for answer in given if answer.how == "told" and answer.seconds < INSTANT)
    sentence = f"{instant} of {n} answers came within {INSTANT:.0f} s and have more than {TOLD} characters."
    return Reading(round(instant / n, 6), n, sentence)


def issue_to_pull(facts: Facts) -> Reading:
    """Count the repositories where a pull request came within five minutes of somebody else's issue; one is none.

    This pull request is one of them, with more than twenty changed lines. Of the others the size and the issue are not
    known: what counts is the first own comment on a thread that the person neither opened nor reviewed.
    """
    pull = facts.pull_request
    if pull is None or pull.created_at is None:
        return unknown("the opening is not known")
    if facts.author.type == "Bot" or is_own_repository(facts, facts.repo):
        return unknown("only people's pull requests to other repositories are read")
    seconds = _since_issue(facts, pull.created_at)
    if seconds is None or (pull.additions is None and pull.deletions is None):
        return unknown("the size of the change, or somebody else's issue that it closes, is not known")
    changed = (pull.additions or 0) + (pull.deletions or 0)
    told = f"This pull request of {changed} changed lines came {span(seconds)} after the issue or the first word on it"
    if seconds >= AT_ONCE or changed <= CHANGED:
        return Reading(0.0, 1, f"{told}.")
    if facts.activity is None:
        return unknown("the person's pull requests to other repositories are not known", 1)
    elsewhere = _since_word_elsewhere(facts, pull.created_at)
    count = 1 + sum(1 for one in elsewhere.values() if one < AT_ONCE)
    n = 1 + len(elsewhere)
    return Reading(
        float(count) if count >= REPOSITORIES else 0.0,
        n,
        f"{told}; under five minutes in {count} of {n} {'repository' if n == 1 else 'repositories'} within a week.",
    )


def beta_binomial_tail(k: int, n: int, mean: float, rho: float) -> float:
    """Return P(K >= k) of a beta-binomial count of n with intra-class correlation rho, summed exactly."""
    if k <= 0:
        return 1.0
    size = (1.0 - rho) / rho
    a, b = mean * size, (1.0 - mean) * size
    return min(1.0, math.fsum(math.exp(_log_mass(i, n, a, b)) for i in range(k, n + 1)))


def _log_mass(i: int, n: int, a: float, b: float) -> float:
    ways = math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1)
    both = math.lgamma(i + a) + math.lgamma(n - i + b) - math.lgamma(n + a + b)
    return ways + both - (math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b))


def _ratio(seconds: float) -> float:
    """Return ln of the likelihood ratio agent : person of one time to reply, clipped to two nats."""
    logs = math.log(max(seconds, 1.0))
    agent, people = (
        -math.log(deviation) - 0.5 * ((logs - mean) / deviation) ** 2 for mean, deviation in (AGENT, PEOPLE)
    )
    return min(max(agent - people, -2.0), 2.0)


def _quantile(ascending: list[float], q: float) -> float:
    place = q * (len(ascending) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ascending) - 1)
    return ascending[low] + (ascending[high] - ascending[low]) * (place - low)


def _no_answers(facts: Facts) -> Reading:
    if facts.timeline is None:
        return unknown("the timeline was not read")
    return unknown("no answer of the author to another person yet")


def _long_replies(facts: Facts) -> list[tuple[int, float]]:
    """Return (characters, seconds since the own last event or the other's last word) of each long own message."""
    own_kinds = ANSWERS | {"edited"}
    events = [event for event in ordered(facts) if event.kind in (own_kinds if is_own(event, facts) else QUESTIONS)]
    reviews = [event.at for event in events if is_own(event, facts) and event.kind in {"review", "review_comment"}]
    found = []
    for before, event in pairwise(events):
        if not is_own(event, facts) or event.kind not in QUESTIONS:
            continue
        if event.kind != "comment" and sum(abs((at - event.at).total_seconds()) <= BATCH for at in reviews) > 1:
            continue  # written one by one, submitted together
        characters = len(words_of(event, facts))
        if characters >= LONG:
            found.append((characters, (event.at - before.at).total_seconds()))
    return found


def _since_issue(facts: Facts, opened: datetime) -> float | None:
    """Return the shortest time to the opening from the issue, or the first own comment on it; not of an own issue."""
    pull = facts.pull_request
    acts = [act for act in facts.activity or () if repo_key(act.repo) == repo_key(facts.repo)]
    own = {act.number for act in acts if act.kind == "issue"}
    named = _closed_numbers(facts) - own
    words = [act for act in acts if act.kind == "comment" and act.number in named]
    since = [(opened - at).total_seconds() for at in _first_words(words).values()]
    issue = pull.linked_issue_created_at if pull is not None else None
    own_times = {act.at.replace(microsecond=0) for act in acts if act.kind == "issue"}
    if issue is not None and issue.replace(microsecond=0) not in own_times:
        since.append((opened - issue).total_seconds())
    return min((one for one in since if one >= 0.0), default=None)


def _closed_numbers(facts: Facts) -> frozenset[int]:
    """Return the numbers of this repository's issues that the description says it closes."""
    body = facts.pull_request.body if facts.pull_request is not None else None
    if not body:
        return frozenset()
    room = facts.repository
    text = residual(body[:READ], templates=room.templates, common_lines=room.common_lines).text
    found = ((match["repo"] or match["path"], int(match["number"])) for match in _CLOSES.finditer(text))
    return frozenset(number for repo, number in found if repo is None or repo_key(repo) == repo_key(facts.repo))


def _first_words(acts: Iterable[Activity]) -> dict[tuple[str, int], datetime]:
    """Return when the person first commented on each thread."""
    first: dict[tuple[str, int], datetime] = {}
    for act in acts:
        if act.number is not None:
            thread = (repo_key(act.repo), act.number)
            first[thread] = min(first.get(thread, act.at), act.at)
    return first


def _since_word_elsewhere(facts: Facts, opened: datetime) -> dict[str, float]:
    """Return the shortest time from a first own comment to a pull request, of each other repository around that day."""
    away = [act for act in facts.activity or () if act.repo and repo_key(act.repo) != repo_key(facts.repo)]
    away = [act for act in away if not is_own_repository(facts, act.repo, act.own_repo)]
    own = {(repo_key(act.repo), act.number) for act in away if act.kind in {"issue", "pull_request", "review"}}
    words: dict[str, list[tuple[datetime, int]]] = {}
    for (place, number), at in _first_words(act for act in away if act.kind == "comment").items():
        if (place, number) not in own:
            words.setdefault(place, []).append((at, number))
    for said in words.values():
        said.sort()
    shortest: dict[str, float] = {}
    for act in away:
        place, number = repo_key(act.repo), act.number or 0
        if act.kind != "pull_request" or abs(act.at - opened) > AROUND or place not in words:
            continue
        before = bisect_right(words[place], (act.at, math.inf))
        if before and (act.number is None or words[place][before - 1][1] < number):  # an issue is older than its change
            seconds = (act.at - words[place][before - 1][0]).total_seconds()
            shortest[place] = min(shortest.get(place, seconds), seconds)
    return shortest


_BOTH: Final = ("pull_request", "commenter")

SIGNALS: Final[tuple[Signal, ...]] = (
    Signal("reply_pace", "latency", ("agent", "unreviewed"), "A", reply_pace, subjects=_BOTH),
    Signal("fast_reply_tail", "latency", ("agent", "unreviewed"), "A", fast_reply_tail, subjects=_BOTH),
    Signal("reply_rate", "latency", ("agent", "unreviewed"), "A", reply_rate, subjects=_BOTH),
    Signal("pace_spread", "latency", ("agent",), "B", pace_spread, subjects=_BOTH),
    Signal("instant_reply", "latency", ("unreviewed",), "B", instant_reply, subjects=_BOTH),
    Signal("issue_to_pull", "latency", ("agent",), "C", issue_to_pull),
)
