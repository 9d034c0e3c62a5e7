"""What is remembered of deliveries, whatever their order and however often they come."""

import itertools
from dataclasses import replace
from typing import Any

import pytest

from models.recorded.database import Database
from models.recorded.store import Store
from models.recorded.tables import ThreadRow
from triage import intake
from triage.events import Act, Checks, Event, Person, RepositorySeen, ThreadSeen

ANN, MAX = Person(id=3, login="ann", type="User"), Person(id=2, login="max", type="User")
WIDGETS = RepositorySeen(1, "acme/widgets", False, False, "main", "acme")
SEEN = ThreadSeen("pull", 7, title="Fix a", body="b", author=ANN, open=True, updated_at=100.0, head_sha="s1", labels=())


def event(why: Any = "edited", acts: tuple[Act, ...] = (), **seen: Any) -> Event:
    return Event(
        event="pull_request",
        action=why,
        why=why,
        installation_id=5,
        repository=WIDGETS,
        sender=ANN,
        subject="thread:1:7",
        thread=replace(SEEN, **seen),
        acts=acts,
    )


def noted(*events: Event, known: ThreadRow | None = None) -> ThreadRow:
    for one in events:
        known = intake.note_thread(known, one)
    assert known is not None
    return known


@pytest.fixture
def store(database: Database) -> Store:
    return Store(database)


def test_the_newest_state_stands_in_every_order_of_arrival() -> None:
    told = [
        event("opened", title="One", updated_at=100.0),
        event("edited", title="Two", updated_at=200.0),
        event("closed", title="Two", updated_at=300.0, open=False),
    ]
    for order in itertools.permutations(told):
        row = noted(*order)
        assert (row.title, row.open, row.updated_at) == ("Two", False, 300.0)
    for order in itertools.permutations(told):
        assert [one.why for one in intake.in_order(order)] == ["opened", "edited", "closed"]


def test_what_a_body_leaves_out_stays_as_known_and_an_old_one_fills_gaps() -> None:
    row = noted(event(additions=3, updated_at=200.0), event("said", additions=None, head_sha=None, updated_at=300.0))
    assert (row.additions, row.head_sha) == (3, "s1")
    row = noted(event("said", additions=None, updated_at=300.0), event(additions=3, title="Old", updated_at=100.0))
    assert (row.additions, row.title) == (3, "Fix a")
    assert row.updated_at == 300.0


def test_words_of_the_same_second_do_not_undo_a_deed() -> None:
    closed, said = event("closed", open=False, updated_at=300.0), event("said", open=True, updated_at=300.0)
    for order in ((closed, said), (said, closed)):
        assert noted(*order).open is False
        assert [one.why for one in intake.in_order(order)] == ["said", "closed"]
    assert noted(closed, replace(event("reopened", open=True, updated_at=300.0))).open is True


def test_labels_are_those_of_the_newest_body_that_tells_them() -> None:
    row = noted(event(labels=("a", "b"), updated_at=200.0), event(labels=None, updated_at=300.0))
    assert row.labels == ["a", "b"]
    assert noted(event(labels=("old",), updated_at=100.0), known=row).labels == ["a", "b"]
    assert noted(event(labels=(), updated_at=400.0), known=row).labels == []


def test_a_ghost_takes_the_author_from_nobody() -> None:
    assert noted(event(author=None)).author_id is None
    assert noted(event(), event(author=None, updated_at=200.0)).author == "ann"


def test_an_event_without_a_thread_changes_none() -> None:
    row = noted(event())
    assert intake.note_thread(row, replace(event(), thread=None)) is row
    assert intake.note_thread(None, replace(event(), thread=None)) is None


def test_an_event_without_times_goes_first_and_changes_no_newer_state() -> None:
    timeless = event(title="When?", updated_at=None)
    assert next(iter(intake.in_order([event(), timeless]))) is timeless
    assert noted(event(), timeless).title == "Fix a"


SAID = Act("comment:9", "comment", 50.0, MAX, "MEMBER", body="Why?")


def test_an_act_is_remembered_once(store: Store) -> None:
    told = event("said", acts=(SAID,))
    assert [intake.note_acts(store, told) for _ in range(3)] == [1, 0, 0]
    [kept] = store.acts_of_thread(1, 7)
    assert (kept.actor_id, kept.actor, kept.association, kept.installation_id) == (2, "max", "MEMBER", 5)


def test_people_are_remembered_under_their_present_name(store: Store) -> None:
    intake.note_people(store, event("said", acts=(SAID,)))
    renamed = replace(SAID, actor=replace(MAX, login="maximilian"))
    intake.note_people(store, replace(event("said", acts=(renamed,)), sender=None))
    assert [getattr(store.person(one), "login", None) for one in (2, 3)] == ["maximilian", "ann"]


def test_a_repository_keeps_its_id_through_a_rename(store: Store) -> None:
    first = intake.note_repository(store, event())
    moved = replace(event(), repository=replace(WIDGETS, full_name="other/gadgets"), installation_id=None)
    second = intake.note_repository(store, moved)
    assert (first.id, second.id, second.full_name, second.installation_id) == (1, 1, "other/gadgets", 0)


def test_checks_reach_every_thread_with_that_commit_and_no_other(store: Store) -> None:
    for number, sha in ((7, "s1"), (8, "s1"), (9, "s2")):
        store.save_thread(noted(event(number=number, head_sha=sha)))
    ended = Act("checked:4:60", "checked", 60.0, MAX, body="failure", thread="4", base="s1")
    told = replace(event("checked", acts=(ended,)), thread=None, checks=Checks("s1", "failure"))
    assert [row.number for row in intake.note_checks(store, told)] == [7, 8]
    assert [row.number for row in intake.note_checks(store, told)] == [7, 8]
    assert [len(store.acts_of_thread(1, number)) for number in (7, 8, 9)] == [1, 1, 0]
    assert intake.note_checks(store, replace(told, checks=None)) == []
