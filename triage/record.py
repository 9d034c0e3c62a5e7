"""Evaluation to rows: the verdict, its readings and the changes it wants, in one transaction."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from models.recorded.store import Store
from models.recorded.tables import ActRow, ChangeRow, PersonRow, ThreadRow, VerdictRow
from triage.decide import Standing
from triage.evaluate import Evaluation, readings, verdict
from triage.facts import TimelineEvent
from triage.signals.burst import Flood

LABELLED_LANE = "likely_unreviewed"


def standing(thread: ThreadRow, *, open_here: int | None) -> Standing:
    """Tell what has happened to a thread before."""
    return Standing(
        labelled=LABELLED_LANE in thread.labelled,
        flips=thread.flips,
        kept_off=frozenset(thread.kept_off),
        open_here=open_here,
    )


def record_thread(
    store: Store, thread: ThreadRow, evaluation: Evaluation, changes: Sequence[ChangeRow], *, now: float
) -> bool:
    """Store the verdict on a pull request with its changes; false when nothing is new since the last one.

    What is stored is what was known at the time, so that training can never look ahead.
    """
    thread.lane, thread.quick_win = evaluation.decision.lane, evaluation.decision.quick_win
    thread.flips += sum(change.target == LABELLED_LANE and change.kind.endswith("_label") for change in changes)
    row = _row(evaluation, now)
    row.repository_id, row.number = thread.repository_id, thread.number
    last = store.last_verdict(thread.repository_id, number=thread.number)
    if last is not None and not changes and _same(last, row):
        store.save_thread(thread)
        return False
    store.record(row, changes, thread)
    return True


def record_person(store: Store, repository_id: int, person: PersonRow, evaluation: Evaluation, *, now: float) -> bool:
    """Store the verdict on a commenter, with the flood it found; false when nothing is new since the last one."""
    row = _row(evaluation, now)
    row.repository_id, row.person_id = repository_id, person.id
    hit = evaluation.decision.flood
    if hit is not None:
        row.verdict["flood"] = {
            "count": hit.count,
            "first_at": hit.first_at.timestamp(),
            "last_at": hit.last_at.timestamp(),
            "threads": sorted(hit.threads),
            "spans": [[first.timestamp(), last.timestamp()] for first, last in hit.spans],
        }
    last = store.last_verdict(repository_id, person_id=person.id)
    if last is not None and _same(last, row):
        return False
    store.record(row, (), None)
    return True


def hit_anew(hit: Flood, known: Mapping[str, Any] | None, acts: Iterable[TimelineEvent]) -> list[int]:
    """Return the threads, ascending, where a flood holds acts that the one recorded before did not.

    Of a flood that grows only these: to look at all of them for every act more would cost its square.
    """
    if known is None:
        return sorted(hit.threads)
    before = set(known["threads"])
    spans = [(first.timestamp(), last.timestamp()) for first, last in hit.spans]
    own = [(act.number, act.at.timestamp()) for act in acts if act.number in before and act.is_author]
    grown = {number for number, at in own if within(at, spans) and not within(at, known["spans"])}
    return sorted(number for number in hit.threads if number not in before or number in grown)


def within(at: float, spans: Iterable[Sequence[float]]) -> bool:
    """Tell whether a moment lies in one of a flood's spans (first, last), in seconds."""
    return any(first <= at <= last for first, last in spans)


def _row(evaluation: Evaluation, now: float) -> VerdictRow:
    return VerdictRow(
        repository_id=0,
        at=now,
        lane=evaluation.decision.lane,
        verdict=verdict(evaluation),
        readings=readings(evaluation),
        model=evaluation.model,
        policy=evaluation.policy,
    )


def _same(last: VerdictRow, row: VerdictRow) -> bool:
    return (last.lane, last.verdict, last.model, last.policy) == (row.lane, row.verdict, row.model, row.policy)


def waiting_since(thread: ThreadRow, acts: Sequence[ActRow]) -> float | None:
    """Return since when the author has waited for an answer (seconds since 1970); ``None`` when it is their turn."""
    if thread.author_id is None:
        return thread.created_at
    since = thread.created_at
    for act in acts:  # in order of time; bots answer nobody
        if act.actor_id is None or act.actor_type == "Bot" or act.kind in {"labeled", "unlabeled", "edited"}:
            continue
        if act.actor_id != thread.author_id:
            since = None
        elif since is None:
            since = act.at
    return since
