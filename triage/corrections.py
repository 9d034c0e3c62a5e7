"""What counts as a maintainer's correction, and what follows from it?

A label of ours that somebody else takes off stays off for that thread; one that a person puts on is theirs and is never
taken off by us; a thread that somebody other than its author reopened is not touched again. Each is stored: a
maintainer's word is final, and it teaches the classifier.
"""

from collections.abc import Iterable
from typing import Final

from models.recorded.store import Store
from models.recorded.tables import CorrectionRow, ThreadRow
from triage.decide import LABEL_KINDS, LabelKind
from triage.events import Event
from triage.policy import Policy

HEARD: Final = frozenset({"unlabelled", "labelled", "reopened"})


def hear(store: Store, policy: Policy, thread: ThreadRow, event: Event) -> bool:
    """Take a correction from an event into the thread and the store; false when the event is none.

    Our own changes never look like one: a label that we take off leaves ``labelled`` before GitHub is asked, and one
    that we put on enters it as wanted first.
    """
    if event.why == "unlabelled":
        return _label_taken_off(store, policy, thread, event)
    if event.why == "labelled":
        return _label_put_on(store, policy, thread, event)
    if event.why == "reopened":
        return _reopened(store, thread, event)
    return False


def taken_off(events: Iterable[Event]) -> frozenset[str]:
    """Return the labels, in lower case, that people took off."""
    return frozenset(
        (event.label or "").lower()
        for event in events
        if event.why == "unlabelled" and event.sender is not None and event.sender.type != "Bot"
    )


def _label_taken_off(store: Store, policy: Policy, thread: ThreadRow, event: Event) -> bool:
    name = (event.label or "").lower()
    kind = next((kind for kind, ours in thread.labelled.items() if ours.lower() == name), None)
    if kind is None and _by_person(event):  # ours from before, or a person's: no is no either way
        kind = kind_of(policy, event.label)
    if kind is None:
        return False
    thread.labelled = {other: ours for other, ours in thread.labelled.items() if other != kind}
    thread.kept_off = sorted({*thread.kept_off, kind})
    return _store(store, thread, event, "label_removed", kind)


def _label_put_on(store: Store, policy: Policy, thread: ThreadRow, event: Event) -> bool:
    kind = kind_of(policy, event.label)
    if kind is None or not _by_person(event) or kind in thread.labelled:
        return False
    thread.kept_off = [other for other in thread.kept_off if other != kind]
    return _store(store, thread, event, "label_added", kind)


def _reopened(store: Store, thread: ThreadRow, event: Event) -> bool:
    # Only a maintainer and the author can reopen; the author's own click is no maintainer's word.
    if not _by_person(event) or event.sender is None or event.sender.id == thread.author_id:
        return False
    thread.reopened = True
    return _store(store, thread, event, "reopened", None)


def _by_person(event: Event) -> bool:
    return event.sender is not None and event.sender.type != "Bot"


def kind_of(policy: Policy, name: str | None) -> LabelKind | None:
    """Return the kind of label that a name stands for under a policy; names are compared without case."""
    wanted = (name or "").lower()
    for kind in LABEL_KINDS:
        ours = getattr(policy.labels, kind)
        if ours is not None and ours.lower() == wanted:
            return kind
    return None


def _store(store: Store, thread: ThreadRow, event: Event, what: str, label: str | None) -> bool:
    at = max((act.at for act in event.acts), default=thread.updated_at or 0.0)
    return store.add_correction(
        CorrectionRow(
            key=f"{what}:{thread.repository_id}:{thread.number}:{label or ''}:{at:.0f}",
            repository_id=thread.repository_id,
            number=thread.number,
            person_id=thread.author_id,
            kind=what,
            label=label,
            by=event.sender.login if event.sender else None,
            at=at,
            verdict_id=thread.verdict_id,
        )
    )
