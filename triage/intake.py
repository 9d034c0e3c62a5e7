"""What does a delivery tell? Its repository, people, thread and acts are remembered here; nothing is judged.

Deliveries come late and out of order: a thread's state is taken from the body that is newest by its own ``updated_at``,
and everything is keyed by GitHub's ids, so that hearing something twice changes nothing.
"""

from collections.abc import Iterable
from typing import Final

from models.recorded.store import Store
from models.recorded.tables import ActRow, RepositoryRow, ThreadRow
from triage.events import Act, Event, Person, ThreadSeen
from triage.facts import TimelineEvent

LOOSE: Final = 0  # no thread's number: what was heard of a commit before its thread was

_TOLD = (
    "title",
    "body",
    "association",
    "app_author",
    "open",
    "merged",
    "draft",
    "locked",
    "created_at",
    "updated_at",
    "head_ref",
    "head_sha",
    "base_ref",
    "additions",
    "deletions",
    "changed_files",
)


def note_repository(store: Store, event: Event) -> RepositoryRow:
    """Remember the repository of an event; a webhook of a repository's own has no installation, which reads 0."""
    seen = event.repository
    return store.see_repository(seen.id, event.installation_id or 0, seen.full_name, seen.private, seen.archived)


def note_people(store: Store, event: Event) -> None:
    """Remember who acted."""
    thread = event.thread
    people = [event.sender, *(act.actor for act in event.acts), thread.author if thread else None]
    for person in {one.id: one for one in people if one is not None}.values():
        store.see_person(person.id, person.login, person.type)


def note_acts(store: Store, event: Event) -> int:
    """Remember what was done; returns how much of it was new."""
    if event.thread is None:
        return 0
    place = event.installation_id or 0, event.repository.id, event.thread.number
    return store.add_acts([_act(act, *place) for act in event.acts])


def _act(act: Act, installation_id: int, repository_id: int, number: int) -> ActRow:
    actor = act.actor
    return ActRow(
        key=act.key,
        installation_id=installation_id,
        repository_id=repository_id,
        number=number,
        kind=act.kind,
        at=act.at,
        actor_id=actor.id if actor else None,
        actor=actor.login if actor else None,
        actor_type=actor.type if actor else None,
        association=act.association,
        body=act.body,
        path=act.path,
        line=act.line,
        thread=act.thread,
        node=act.node,
        base=act.base,
    )


def note_timeline(store: Store, thread: ThreadRow, events: Iterable[TimelineEvent]) -> int:
    """Remember the acts that the forge lists for a thread; one without an identity cannot be told from a known one."""
    return store.add_acts(
        [
            ActRow(
                key=_same_as_delivered(thread, event.key),
                installation_id=thread.installation_id,
                repository_id=thread.repository_id,
                number=thread.number,
                kind=event.kind,
                at=event.at.timestamp(),
                actor_id=event.actor_id,
                actor=event.actor,
                actor_type=event.actor_type,
                body=event.body,
                path=event.path,
                line=event.line,
                thread=event.thread,
            )
            for event in events
            if event.key is not None
        ]
    )


def _same_as_delivered(thread: ThreadRow, key: str) -> str:
    """Name a commit as a delivery of its push does, so that both are one act."""
    kind, _, sha = key.partition(":")
    return f"push:{thread.repository_id}:{thread.number}:{sha}" if kind == "commit" else key


def note_checks(store: Store, event: Event) -> list[ThreadRow]:
    """Remember how checks ended on a commit; returns the threads whose newest commit it is.

    They are kept loose first and the threads are looked up after that, while ``take_checks`` comes after its thread was
    saved: whichever of the two deliveries is judged first, the ending is found.
    """
    if event.checks is None:
        return []
    store.add_acts([_act(act, event.installation_id or 0, event.repository.id, LOOSE) for act in event.acts])
    threads = store.threads_by_sha(event.repository.id, event.checks.head_sha)
    for thread in threads:
        take_checks(store, thread)
    return threads


def take_checks(store: Store, thread: ThreadRow) -> int:
    """Move the endings of checks that were heard for a thread's newest commit to the thread; returns how many."""
    loose = store.acts_of_thread(thread.repository_id, LOOSE)
    acts = [_moved(act, thread) for act in loose if act.base is not None and act.base == thread.head_sha]
    return store.add_acts(acts)


def _moved(act: ActRow, thread: ThreadRow) -> ActRow:
    told = act.model_dump(exclude={"id"})
    return ActRow(**told | {"key": f"{act.key}:{thread.number}", "number": thread.number})


def note_thread(known: ThreadRow | None, event: Event) -> ThreadRow | None:
    """Return the thread with what the event tells of it: newest state wins, what a body leaves out stays as known."""
    seen = event.thread
    if seen is None:
        return known
    row = known or ThreadRow(
        repository_id=event.repository.id,
        number=seen.number,
        installation_id=event.installation_id or 0,
        kind=seen.kind,
    )
    row.installation_id = event.installation_id or row.installation_id
    _take_author(row, seen.author)
    newer = _newer(row, event, seen)
    for name in _TOLD:
        value = getattr(seen, name)
        if value is not None and (newer or getattr(row, name) is None):
            setattr(row, name, value)
    if seen.labels is not None and (newer or known is None):
        row.labels = list(seen.labels)
    return row


def _newer(row: ThreadRow, event: Event, seen: ThreadSeen) -> bool:
    """Tell whether a body shows a newer state; "close with comment" shows the comment's as open in the same second."""
    if row.updated_at is None:
        return True
    if seen.updated_at is None or seen.updated_at < row.updated_at:
        return False
    return seen.updated_at > row.updated_at or event.why != "said"


def _take_author(row: ThreadRow, author: Person | None) -> None:
    if author is not None:
        row.author_id, row.author, row.author_type = author.id, author.login, author.type


def in_order(events: Iterable[Event]) -> list[Event]:
    """Sort events by the time that their bodies tell, words before deeds; those that tell none come first."""
    return sorted(events, key=_told_at)


def _told_at(event: Event) -> tuple[float, bool]:
    seen: ThreadSeen | None = event.thread
    times = [act.at for act in event.acts]
    if seen is not None and seen.updated_at is not None:
        times.append(seen.updated_at)
    return max(times, default=0.0), event.why != "said"
