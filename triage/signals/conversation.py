"""Is a person in the conversation: somebody who comes back, answers what was asked and names what it is about?

Terse is fine: a few words after a push are neutral, never against the author. Silence counts only after two weeks.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from triage.evidence import Reading, Signal, unknown
from triage.facts import Commit, Facts, TimelineEvent
from triage.pace import ANSWERS, QUESTIONS, READ, answers, is_other, is_own, now, ordered, span, words, words_of
from triage.traces import in_commit, of_app

LATER: Final = timedelta(minutes=2)  # an edit so long after opening is a second look
UNHURRIED: Final = 914.0  # seconds; three quarters of agents' replies come sooner, so a sooner one shows no person
ANSWERED_IN: Final = timedelta(days=7)
SILENT_AFTER: Final = timedelta(days=14)

ALIKE: Final = 0.5  # Jaccard
COMPARED: Final = 100  # own comments, the latest
WRITTEN_OUT: Final = 8  # distinct words; below it everybody repeats oneself
PATCH_READ: Final = 200_000  # characters of the diff that names are looked for in
PLAIN: Final = 5  # letters of a word that can be told from filler in any language
QUESTION_MARKS: Final = "?\uff1f\u061f"
SHARED: Final = 2  # plain words or pairs of signs in common

# A name, a path, a number, a symbol: something that is about this code and no other. Tokens are cut out first and
# looked at one by one, so that a line without an end costs no more than its length.
_TOKEN: Final = re.compile(r"[\w./:-]{2,}")
_NAMED: Final = re.compile(r"[\d_]|[a-z][A-Z]|\w[./:]+\w")
_TICKED: Final = re.compile(r"`([^`\n]{2,80})`")
_NAME_LENGTH: Final = 120
_UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]+")
_OPENERS: Final = re.compile(
    r"(?i)^\W*(?:thank(?:s| you)[^.!\n]*[.!]|great (?:catch|point|question|suggestion)[^.!\n]*[.!]|good "
    r"(?:catch|point|idea)[^.!\n]*[.!]|you(?:['\u2019]re| are)(?: absolutely| completely)? right[^.!\n]*[.!]|"
    r"absolutely[.!]|sure[.!,]|i (?:appreciate|apologi[sz]e)[^.!\n]*[.!]|sorry[^.!\n]*[.!])\s*"
)


def human_touch(facts: Facts) -> Reading:
    """Count the kinds of a person's own hand since the opening, zero to four."""
    pull = facts.pull_request
    if pull is None or (facts.timeline is None and pull.commits is None):
        return unknown("the timeline was not read")
    touches = [touch for touch in (_took_over(facts), *_came_back(facts), _thought_over(facts)) if touch is not None]
    if not touches:
        return Reading(0.0, 0, "No edit, own commit or considered answer of a person since the opening.")
    return Reading(float(len(touches)), len(touches), f"Since the opening: {'; '.join(touches)}.")


def feedback_addressed(facts: Facts) -> Reading:
    """Read the share of reviewers' threads that got an answer or a commit within seven days; pending ones wait."""
    if facts.timeline is None or facts.pull_request is None:
        return unknown("the timeline was not read")
    moment = now(facts)
    own = [event for event in ordered(facts) if event.kind in ANSWERS and is_own(event, facts)]
    settled = [one for one in (_settled(asked, own, moment) for asked in _asked(facts)) if one is not None]
    if not settled:
        return unknown("no reviewer's remark is answered, or two weeks old")
    done = sum(settled)
    sentence = f"{done} of {len(settled)} reviewers' remarks got an answer or a commit within seven days."
    return Reading(round(done / len(settled), 6), len(settled), sentence)


def reply_fit(facts: Facts) -> Reading:
    """Read the share of written-out answers that name something of the comment they answer or of the diff."""
    if facts.timeline is None:
        return unknown("the timeline was not read")
    pairs = list(_pairs(facts))
    diff = _diff_names(facts) if pairs else frozenset()
    fits = [one for one in (_fit(answer, asked, facts, diff) for answer, asked in pairs) if one is not None]
    if not fits:
        return unknown("no written-out answer of the author to another person")
    sentence = f"{sum(fits)} of {len(fits)} answers name something of the comment they answer or of the diff."
    return Reading(round(sum(fits) / len(fits), 6), len(fits), sentence)


def repeated_replies(facts: Facts) -> Reading:
    """Read how much the author's written-out comments repeat each other: 1 - clusters / comments."""
    if facts.timeline is None:
        return unknown("the timeline was not read")
    own = [event for event in ordered(facts) if event.kind in QUESTIONS and is_own(event, facts)]
    texts = [frozenset(words(words_of(event, facts))) for event in own[-COMPARED:]]
    texts = [text for text in texts if len(text) >= WRITTEN_OUT]
    n = len(texts)
    if n < 5:  # noqa: PLR2004 - fewer is no habit
        return unknown("fewer than five written-out comments", n)
    clusters = _clusters(texts)
    sentence = f"{n} written-out comments of the author say {clusters} different things."
    return Reading(round(1.0 - clusters / n, 6), n, sentence)


def _took_over(facts: Facts) -> str | None:
    """Find a commit without an agent's mark after one that carries it."""
    pull = facts.pull_request
    commits = pull.commits if pull is not None and pull.commits is not None else ()
    marked = False
    for commit in commits:
        if in_commit(commit) is not None:
            marked = True
        elif marked and _by_person(commit):
            return "a person's commit after an agent's"
    return None


def _by_person(commit: Commit) -> bool:
    login = commit.author_login
    return login is not None and not login.endswith("[bot]") and of_app(login) is None


def _came_back(facts: Facts) -> Iterator[str]:
    """Find a later edit of the description by the author, and a draft that a person made ready."""
    pull = facts.pull_request
    opened = pull.created_at if pull is not None else None
    events = ordered(facts)
    edits = [event.at for event in events if event.kind == "edited" and is_own(event, facts)]
    if opened is not None:
        late = [at - opened for at in edits if at - opened >= LATER]
        if late:
            yield f"the author edited the description {span(min(late).total_seconds())} after opening"
    if any(event.kind == "ready_for_review" and event.actor is not None for event in events):
        yield "a person made the draft ready"


def _thought_over(facts: Facts) -> str | None:
    """Find an answer to a review that took longer than agents take."""
    for answer in answers(facts):
        if answer.asked.kind != "comment" and answer.how != "brief" and answer.seconds >= UNHURRIED:
            return f"a reviewer's remark answered after {span(answer.seconds)}"
    return None


@dataclass(frozen=True, slots=True)
class _Remark:
    """What a reviewer wants: one review thread, one review with words, or one question."""

    at: datetime
    thread: str | None


def _asked(facts: Facts) -> list[_Remark]:
    found: dict[tuple[object, ...], _Remark] = {}
    for event in ordered(facts):
        if not is_other(event, facts) or event.kind not in QUESTIONS:
            continue
        if event.kind == "review_comment":
            key: tuple[object, ...] = (event.thread or (event.path, event.line, event.at),)
        elif _asks(event):
            key = (event.kind, event.at, event.actor)
        else:
            continue
        found.setdefault(key, _Remark(event.at, event.thread if event.kind == "review_comment" else None))
    return list(found.values())


def _asks(event: TimelineEvent) -> bool:
    """Tell whether a review or comment wants an answer: words of a review, a question mark in a comment."""
    body = event.body or ""
    return bool(body.strip()) if event.kind == "review" else any(mark in body for mark in QUESTION_MARKS)


def _settled(asked: _Remark, own: Sequence[TimelineEvent], moment: datetime | None) -> bool | None:
    """Tell whether a remark was taken up: yes within seven days, no after two silent weeks, else not yet known."""
    for event in own:
        # Any later commit counts: a timeline does not tell which lines a commit touches.
        if event.at > asked.at and (
            event.kind == "commit" or None in {asked.thread, event.thread} or event.thread == asked.thread
        ):
            return True if event.at - asked.at <= ANSWERED_IN else None
    return False if moment is not None and moment - asked.at >= SILENT_AFTER else None


def _pairs(facts: Facts) -> Iterator[tuple[TimelineEvent, TimelineEvent]]:
    """Yield each own message with the last word of another person before it, of the same thread where it has one."""
    said: list[TimelineEvent] = []
    for event in ordered(facts):
        if event.kind not in QUESTIONS:
            continue
        if is_other(event, facts):
            said.append(event)
        elif is_own(event, facts):
            here = [one for one in said if one.number == event.number]
            same = [one for one in here if event.thread and one.thread == event.thread]
            if same or here:
                yield event, (same or here)[-1]


def _fit(answer: TimelineEvent, asked: TimelineEvent, facts: Facts, diff: frozenset[str]) -> bool | None:
    """Tell whether an answer names something; unknown for a few words, and where there is nothing to name."""
    said, question = _without_openers(words_of(answer, facts)), (asked.body or "")[:READ]
    named, asked_of = _names(said), _names(question)
    # A person answers `decode` with the plain word: what the question marks as a name is one in the answer too.
    if named & diff or (named | set(words(said))) & asked_of or _share(said, question):
        return True
    asks = bool(asked_of) or any(mark in question for mark in QUESTION_MARKS)
    other_script = bool(_UNSPACED.search(said)) != bool(_UNSPACED.search(question))
    short = len(set(words(words_of(answer, facts)))) < WRITTEN_OUT and not _UNSPACED.search(said)
    return False if asks and not other_script and not short else None


def _share(said: str, question: str) -> bool:
    return len(_plain(said) & _plain(question)) >= SHARED


def _without_openers(text: str) -> str:
    for _ in range(3):
        text = _OPENERS.sub("", text, count=1)
    return text


def _names(text: str) -> frozenset[str]:
    tokens = (token.strip("./:-") for token in set(_TOKEN.findall(text[:PATCH_READ])) if len(token) <= _NAME_LENGTH)
    named = {token.casefold() for token in tokens if _NAMED.search(token)}
    return frozenset(named | {name.casefold() for name in _TICKED.findall(text[:PATCH_READ])})


def _plain(text: str) -> frozenset[str]:
    """Return the words that are long enough to be about something; pairs of signs where a script has no spaces."""
    long = {word for word in words(text) if len(word) >= PLAIN and (word.isascii() or not _UNSPACED.search(word))}
    return frozenset(long | {run[i : i + 2] for run in _UNSPACED.findall(text) for i in range(len(run) - 1)})


def _diff_names(facts: Facts) -> frozenset[str]:
    pull = facts.pull_request
    files = pull.files if pull is not None and pull.files is not None else ()
    paths = {part.casefold() for file in files for part in (file.path, file.path.rpartition("/")[2])}
    room, changed = PATCH_READ, list[str]()
    for file in files:
        patch = (file.patch or "")[:room]
        room -= len(patch)
        changed += [line[1:] for line in patch.splitlines() if line[:1] in {"+", "-"}]
    return frozenset(paths | {name for name in _names("\n".join(changed)) if len(name) >= PLAIN})


def _clusters(texts: Sequence[frozenset[str]]) -> int:
    """Count groups of like texts; each text joins the first group whose first text it is like."""
    firsts: list[frozenset[str]] = []
    for text in sorted(texts, key=lambda text: (-len(text), sorted(text))):
        if not any(_jaccard(text, first) >= ALIKE for first in firsts):
            firsts.append(text)
    return len(firsts)


def _jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b)


_BOTH: Final = ("pull_request", "commenter")

SIGNALS: Final[tuple[Signal, ...]] = (
    Signal("human_touch", "conversation", ("unreviewed",), "B", human_touch),
    Signal("feedback_addressed", "conversation", ("unreviewed",), "B", feedback_addressed),
    Signal("reply_fit", "conversation", ("unreviewed",), "C", reply_fit, subjects=_BOTH),
    Signal("repeated_replies", "conversation", ("agent",), "A", repeated_replies, subjects=_BOTH),
)
