"""Which outward changes does a decision want, and how are they made once?

wanted - present, and only what is ours is ever taken back. A change is written down before it is made; one that was
written but not confirmed (a crash in between) is first looked for on GitHub, never repeated blindly.
"""

from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from models.recorded.store import INTERRUPTED, UNASKED, Store
from models.recorded.tables import ActRow, ChangeRow, ThreadRow
from triage.decide import LABEL_KINDS, LabelKind
from triage.forge.port import Forge, ForgeError, Gone, RepositoryRef, Suspended, Unavailable
from triage.policy import Policy

FLIPPING: Final[LabelKind] = "likely_unreviewed"  # the label whose changes are counted, so that it does not flicker
REFUSED_FOR: Final = 86400.0  # seconds until what GitHub refused is tried again
MARKER: Final = "<!-- livefirst: the one comment -->"

COLOURS: Final[dict[LabelKind, str]] = {
    "likely_unreviewed": "d4c5f9",
    "burst": "fef2c0",
    "disclosed": "c5def5",
    "live_person": "c2e0c6",
    "over_limit": "eeeeee",
}
DESCRIPTIONS: Final[dict[LabelKind, str]] = {
    "likely_unreviewed": "No sign yet that the author has reviewed this. A reply in your own words clears it.",
    "burst": "Many acts by one account in minutes reached this thread. Says nothing about who opened it.",
    "disclosed": "The use of an agent is stated. That is fine here.",
    "live_person": "A person answers here.",
    "over_limit": "The author has more open pull requests here than this project takes at once.",
}
_COMMENT: Final = (
    "This pull request is at the end of the review queue for now: nothing here shows yet that its author has reviewed "
    "it.\n\nWhat moves it forward: answer a question about the change in your own words, mend what a reviewer points "
    "at, or edit the description to say what you checked yourself. Using an agent is fine.\n\nA maintainer can take "
    "the label off at any time, and it will then stay off. Nothing is closed automatically."
)
_COMMENT_CLEARED: Final = "This pull request has left the end of the review queue. Thank you for answering."


def plan(
    policy: Policy,
    thread: ThreadRow,
    wanted: frozenset[LabelKind],
    *,
    held: Iterable[ActRow] = (),
    past: Iterable[ChangeRow] = (),
    now: float,
) -> list[ChangeRow]:
    """Return the changes from the thread as known to the kinds of label wanted; empty where hands are kept off.

    ``held`` are the acts of a flood that reached this thread, for the policy's ``burst.action``. ``past`` are the
    changes that were wanted of the thread before: what GitHub refused is left alone for a day, and a comment that was
    collapsed or a thread that was locked once is never again, since a person may have undone it.
    """
    if policy.mode == "observe" or not thread.open or thread.reopened:
        return []
    if policy.burst.action == "none":
        wanted -= {"burst"}
    asked = [change for change in past if change.error not in UNASKED]
    refused = {
        (change.kind, change.target, change.detail.lower())
        for change in asked
        if change.state == "refused" and (change.made_at or 0.0) > now - REFUSED_FOR
    }
    changes = [
        change
        for change in _labels(policy, thread, wanted, now=now)
        if (change.kind, change.target, change.detail.lower()) not in refused
    ]
    if policy.mode == "comment":
        said = [change.detail for change in asked if change.kind == "comment"]
        changes += _comment(thread, changes, said[-1] if said else None, now=now)
    if "burst" in wanted and "burst" not in thread.kept_off:
        once = {(change.kind, change.target) for change in asked}
        burst = _burst(policy, thread, held, now=now)
        changes += [change for change in burst if (change.kind, change.target) not in once]
    return changes


def _change(thread: ThreadRow, kind: str, target: str, detail: str, now: float) -> ChangeRow:
    return ChangeRow(
        repository_id=thread.repository_id,
        number=thread.number,
        kind=kind,
        target=target,
        detail=detail,
        wanted_at=now,
    )


def _labels(policy: Policy, thread: ThreadRow, wanted: frozenset[LabelKind], *, now: float) -> Iterable[ChangeRow]:
    present = {name.lower() for name in thread.labels}
    for kind in LABEL_KINDS:
        name: str | None = getattr(policy.labels, kind) if kind in wanted and kind not in thread.kept_off else None
        ours = thread.labelled.get(kind)
        if ours is not None and (name is None or name.lower() != ours.lower()):
            yield _change(thread, "remove_label", kind, ours, now)
            ours = None
        # A label of that name that we did not put on is a person's: it is left as it is.
        if name is not None and ours is None and name.lower() not in present:
            yield _change(thread, "add_label", kind, name, now)


def _comment(thread: ThreadRow, labels: Iterable[ChangeRow], said: str | None, *, now: float) -> list[ChangeRow]:
    """Say it with the label, and take it back with the label, whoever takes that off; ``said`` was said last."""
    waiting, cleared = f"{MARKER}\n{_COMMENT}", f"{MARKER}\n{_COMMENT_CLEARED}"
    turn = {change.kind for change in labels if change.target == "likely_unreviewed"}
    if turn == {"add_label"} and not thread.locked:
        return [_change(thread, "comment", "", waiting, now)]
    taken_off = "likely_unreviewed" in thread.kept_off and said == waiting
    if (turn == {"remove_label"} or taken_off) and thread.comment_id is not None:
        return [_change(thread, "comment", "", cleared, now)]
    return []


def _burst(policy: Policy, thread: ThreadRow, held: Iterable[ActRow], *, now: float) -> Iterable[ChangeRow]:
    if policy.burst.action == "minimize":
        for act in held:
            if act.node is not None and act.kind in {"comment", "review_comment"}:
                yield _change(thread, "minimize", act.node, "", now)
    if policy.burst.action == "lock" and not thread.locked:
        yield _change(thread, "lock", "", "", now)


def let_go(thread: ThreadRow, changes: Iterable[ChangeRow]) -> None:
    """Stop calling a label ours before it is taken off, so that GitHub's echo is never heard as a correction."""
    leaving = {change.target for change in changes if change.kind == "remove_label"}
    thread.labelled = {kind: name for kind, name in thread.labelled.items() if kind not in leaving}


@dataclass(frozen=True, slots=True)
class Hand:
    """What makes changes: where they are written down, where they are made, and the lease under which it is done.

    ``hold`` raises when the lease is another's; it is asked before every change. ``clock`` gives seconds since 1970.
    """

    store: Store
    forge: Forge
    repository: RepositoryRef
    hold: Callable[[], None]
    clock: Callable[[], float]


def reconcile(hand: Hand, thread: ThreadRow, taken_off: Collection[str] = ()) -> bool:
    """Find out what became of changes that were wanted when a worker stopped; false when there were none.

    Labels are read from GitHub and taken into ``labelled`` where they stand; everything else is safe to make again.
    ``taken_off`` are the labels, in lower case, that people took off since: one of ours among them was on.

    Raises
    ------
    Unavailable, Suspended
        When GitHub cannot answer: they stay wanted.
    """
    pending = hand.store.wanted(thread.repository_id, thread.number)
    if not pending:
        return False
    hand.hold()
    try:
        present = hand.forge.present(hand.repository, thread.number)
    except (Unavailable, Suspended):
        raise
    except ForgeError as error:  # the thread is gone, or out of reach: nothing can be made there any more
        for change in pending:
            _refuse(hand, thread, change, str(error))
        return True
    thread.labels, thread.open, thread.locked = sorted(present.labels), present.open, present.locked
    there = {name.lower(): name for name in present.labels}
    for change in pending:
        if change.kind.endswith("_label"):
            _reconcile_label(hand, thread, change, there.get(change.detail.lower()), taken_off)
    _make_all(hand, thread, [change for change in pending if not change.kind.endswith("_label")])
    return True


def _reconcile_label(
    hand: Hand, thread: ThreadRow, change: ChangeRow, there: str | None, taken_off: Collection[str]
) -> None:
    """Close the change of a label by what is ``there``: its name on GitHub, ``None`` when it is not on the thread."""
    was_on = change.kind == "add_label" and change.detail.lower() in taken_off
    if there is not None or was_on:
        thread.labelled = {**thread.labelled, change.target: there or change.detail}
    done = was_on or (there is not None) == (change.kind == "add_label")
    if not done and change.target == FLIPPING:
        thread.flips = max(thread.flips - 1, 0)  # it never happened: wanting it again counts it again
    _close(hand, thread, change, None if done else INTERRUPTED)


def apply(hand: Hand, thread: ThreadRow) -> int:
    """Make the changes that are written down for a thread; returns how many were made.

    A change that GitHub refuses for good is stored as refused and does not stop the others.

    Raises
    ------
    Unavailable, Suspended
        When GitHub cannot answer: what is left stays wanted.
    """
    return _make_all(hand, thread, hand.store.wanted(thread.repository_id, thread.number))


def _make_all(hand: Hand, thread: ThreadRow, changes: Iterable[ChangeRow]) -> int:
    made = 0
    for change in changes:
        hand.hold()
        try:
            _make(hand.forge, hand.repository, thread, change)
        except (Unavailable, Suspended):
            raise
        except ForgeError as error:
            _refuse(hand, thread, change, str(error))
        else:
            made += 1
            _close(hand, thread, change, None)
    return made


def _refuse(hand: Hand, thread: ThreadRow, change: ChangeRow, refusal: str) -> None:
    """Take a change back into the thread as never made: its label did not flip, and is ours still if it was."""
    if change.kind.endswith("_label") and change.target == FLIPPING:
        thread.flips = max(thread.flips - 1, 0)
    if change.kind == "remove_label":
        thread.labelled = {**thread.labelled, change.target: change.detail}
    _close(hand, thread, change, refusal)


def _close(hand: Hand, thread: ThreadRow, change: ChangeRow, refusal: str | None) -> None:
    hand.store.save_thread(thread)
    if change.id is None:
        raise AssertionError("a change is stored before it is made")
    if refusal is None:
        hand.store.made(change.id, hand.clock())
    else:
        hand.store.refused(change.id, refusal, hand.clock())


def _make(forge: Forge, repository: RepositoryRef, thread: ThreadRow, change: ChangeRow) -> None:
    number = thread.number
    match change.kind:
        case "add_label":
            kind: LabelKind = change.target  # type: ignore[assignment]  # written by _labels above
            name = forge.add_label(repository, number, change.detail, COLOURS[kind], DESCRIPTIONS[kind])
            thread.labelled = {**thread.labelled, kind: name}
            thread.labels = sorted({*thread.labels, name})
        case "remove_label":
            forge.remove_label(repository, number, change.detail)
            thread.labels = [name for name in thread.labels if name.lower() != change.detail.lower()]
        case "comment":
            thread.comment_id = _say(forge, repository, thread, change.detail)
        case "minimize":
            forge.minimize_comment(repository, change.target)
        case "lock":
            forge.lock(repository, number)
            thread.locked = True
        case other:
            raise AssertionError(f"unknown change {other}")


def _say(forge: Forge, repository: RepositoryRef, thread: ThreadRow, body: str) -> int:
    """Edit the one comment in place, looking for it first where its id is not known (a crash may have hidden it)."""
    comment = thread.comment_id
    if comment is None:
        comment = forge.own_comment(repository, thread.number, MARKER)
    if comment is None:
        return forge.post_comment(repository, thread.number, body)
    with suppress(Gone):  # somebody deleted it: a person's word, so it is not posted again
        forge.edit_comment(repository, comment, body)
    return comment
