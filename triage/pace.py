"""Who answered whom, and how long did it take? Another person's questions and the author's answers, off the timeline.

Bots are taken out before any gap is measured. One round is what others say until the author answers; a round gives one
answer, however many messages it took, so that five replies to one review are one observation.
"""

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from typing import Final, Literal, TypeVar

from triage.facts import Facts, TimelineEvent
from triage.prose import residual

QUESTIONS: Final = frozenset({"comment", "review", "review_comment"})
ANSWERS: Final = QUESTIONS | {"commit"}

TOLD: Final = 80  # residual characters; above it a reply is written out, up to it a quick "done, thanks"
READ: Final = 20_000  # characters of one message that are read
LATEST: Final = 1000  # events that are read, the newest
MINUTE: Final = 60.0
HOUR: Final = 3600.0
DAY: Final = 86_400.0

_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answer:
    """The author's answer to one round of questions, ``seconds`` after the question that it answers.

    ``how`` is ``told`` for a message that is written out, ``pushed`` for a commit and ``brief`` for a few words.
    """

    seconds: float
    how: Literal["told", "pushed", "brief"]
    event: TimelineEvent
    asked: TimelineEvent
    words: str


def is_bot(event: TimelineEvent) -> bool:
    """Tell whether an App acted, by account type; by the suffix that only Apps can carry where the type is unknown."""
    return event.actor_type == "Bot" or (event.actor_type is None and (event.actor or "").endswith("[bot]"))


def is_own(event: TimelineEvent, facts: Facts) -> bool:
    """Tell whether the author acted; a deleted account is nobody."""
    if event.is_author is not None or event.actor is None or facts.author.login is None:
        return bool(event.is_author)
    return event.actor.casefold() == facts.author.login.casefold()


def repo_key(repo: str | None) -> str:
    """Return a repository's name as names are compared; empty when unknown."""
    return (repo or "").casefold()


def is_own_repository(facts: Facts, repo: str | None, known: bool | None = None) -> bool:
    """Tell whether a repository is the author's own: by what is ``known``, else by the owner's name."""
    if known is not None:
        return known
    owner = repo_key(repo).partition("/")[0]
    return bool(owner) and owner == (facts.author.login or "").casefold()


def is_other(event: TimelineEvent, facts: Facts) -> bool:
    """Tell whether another person acted; a deleted account could have been a bot and is left out."""
    return event.actor is not None and not is_bot(event) and not is_own(event, facts)


def kept(read: Callable[[Facts], T]) -> Callable[[Facts], T]:
    """Keep what was read last in each thread: the signals of one evaluation ask the same of the same frozen facts."""
    last = threading.local()

    @wraps(read)
    def ask(facts: Facts) -> T:
        if getattr(last, "facts", None) is not facts:
            last.found = read(facts)
            last.facts = facts
        found: T = last.found
        return found

    return ask


@kept
def ordered(facts: Facts) -> tuple[TimelineEvent, ...]:
    """Return the people's events in one order that no order of delivery changes; in one second the author comes first.

    An own event in the same second as a question cannot be its answer.
    """
    people = [event for event in facts.timeline or () if not is_bot(event)]
    if facts.author.type == "Bot":  # its events are a bot's, whatever their own type says
        people = [event for event in people if not is_own(event, facts)]

    def place(event: TimelineEvent) -> tuple[object, ...]:
        rest = (event.number or 0, event.line or 0)
        texts = (event.kind, event.actor or "", event.thread or "", event.path or "", event.body or "")
        return (event.at, not is_own(event, facts), texts, rest)

    return tuple(sorted(people, key=place)[-LATEST:])


def words_of(event: TimelineEvent, facts: Facts) -> str:
    """Return what the person wrote in an event: its residual text, empty when unknown."""
    if not event.body:
        return ""
    room = facts.repository
    text = residual(event.body[:READ], templates=room.templates, common_lines=room.common_lines).text
    return text.strip()


@kept
def answers(facts: Facts) -> tuple[Answer, ...]:
    """Return the author's answers to other people, one a round, by time."""
    threads: dict[int | None, list[TimelineEvent]] = {}
    for event in ordered(facts):
        threads.setdefault(event.number, []).append(event)
    found = [answer for events in threads.values() for answer in _thread_answers(events, facts)]
    return tuple(sorted(found, key=lambda answer: (answer.event.at, answer.asked.at, answer.event.number or 0)))


def _thread_answers(events: Sequence[TimelineEvent], facts: Facts) -> Iterator[Answer]:
    asked: list[TimelineEvent] = []
    given: list[Answer] = []
    earlier: set[str] = set()  # review threads whose round is over
    for event in events:
        if event.kind in QUESTIONS and is_other(event, facts):
            if given:
                yield _best(given)
                earlier.update(question.thread for question in asked if question.thread)
                asked, given = [], []
            asked.append(event)
        elif event.kind in ANSWERS and asked and is_own(event, facts):
            same = [question for question in asked if event.thread and question.thread == event.thread]
            if same or event.thread not in earlier:  # a late word in an older thread answers no new question
                given.append(_answer(event, (same or asked)[-1], facts))
    if given:
        yield _best(given)


def _answer(event: TimelineEvent, asked: TimelineEvent, facts: Facts) -> Answer:
    seconds = (event.at - asked.at).total_seconds()
    if event.kind == "commit":
        return Answer(seconds, "pushed", event, asked, "")
    words = words_of(event, facts)
    return Answer(seconds, "told" if len(words) > TOLD else "brief", event, asked, words)


def _best(given: Iterable[Answer]) -> Answer:
    """Pick the first answer that is written out, else the first push, else the first few words."""
    rank = {"told": 0, "pushed": 1, "brief": 2}
    return min(given, key=lambda answer: (rank[answer.how], answer.event.at))


def words(text: str) -> list[str]:
    """Split into words, case folded, in any script that has letters."""
    return [word.casefold() for word in _WORD.findall(text)]


def now(facts: Facts) -> datetime | None:
    """Return the moment of the facts: ``as_of``, else the latest time in them, ``None`` when they hold none."""
    if facts.as_of is not None:
        return facts.as_of
    times = [event.at for event in facts.timeline or ()] + [act.at for act in facts.activity or ()]
    if facts.pull_request is not None and facts.pull_request.created_at is not None:
        times.append(facts.pull_request.created_at)
    return max(times, default=None)


def span(seconds: float) -> str:
    """Write a time in the unit that people would use: seconds, minutes, hours or days."""
    for unit, size, up_to in (("s", 1.0, 99.5), ("min", MINUTE, 90 * MINUTE), ("h", HOUR, 2 * DAY)):
        if seconds < up_to:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds / DAY:.0f} days"


def spans(times: Sequence[float]) -> str:
    """Write the range of some times, given in seconds."""
    low, high = span(min(times)), span(max(times))
    return low if low == high else f"{low} to {high}"


def times_word(count: int) -> str:
    """Write how often."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")
