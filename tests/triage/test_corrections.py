"""Whose doing is a person's word, and what follows from it?"""

from dataclasses import replace
from typing import Any

import pytest

from models.recorded.database import Database
from models.recorded.store import Store
from models.recorded.tables import ThreadRow
from triage.corrections import hear, kind_of, taken_off
from triage.decide import LABEL_KINDS
from triage.events import Act, Event, Person, RepositorySeen, ThreadSeen
from triage.policy import DEFAULT, parse

REVIEW = str(DEFAULT.labels.likely_unreviewed)
MAX = Person(id=2, login="max", type="User")
ANN = Person(id=3, login="ann", type="User")
BOT = Person(id=9, login="livefirst[bot]", type="Bot")


@pytest.fixture
def store(database: Database) -> Store:
    return Store(database)


def event(why: Any, sender: Person | None = MAX, label: str | None = REVIEW, at: float = 100.0) -> Event:
    return Event(
        event="pull_request",
        action=why,
        why=why,
        installation_id=5,
        repository=RepositorySeen(1, "acme/widgets", False, False, "main", "acme"),
        sender=sender,
        subject="thread:1:7",
        thread=ThreadSeen("pull", 7),
        acts=(Act(f"{why}:1:7:{at:.0f}", why, at, sender),),
        label=label,
    )


def thread(**change: Any) -> ThreadRow:
    ours = {"author_id": 3, "labelled": {"likely_unreviewed": REVIEW}, "verdict_id": 40}
    return ThreadRow(repository_id=1, number=7, installation_id=5, **(ours | change))


def test_our_label_taken_off_by_a_person_is_kept_off(store: Store) -> None:
    row = thread()
    assert hear(store, DEFAULT, row, event("unlabelled", label=REVIEW.upper())) is True
    assert (row.labelled, row.kept_off) == ({}, ["likely_unreviewed"])
    [said] = store.corrections(1, 7)
    assert (said.kind, said.label, said.by, said.at, said.verdict_id, said.person_id) == (
        "label_removed",
        "likely_unreviewed",
        "max",
        100.0,
        40,
        3,
    )


def test_heard_twice_it_is_one_correction(store: Store) -> None:
    for _ in range(2):
        hear(store, DEFAULT, thread(), event("unlabelled"))
    assert len(store.corrections(1, 7)) == 1
    hear(store, DEFAULT, thread(), event("unlabelled", at=200.0))
    assert len(store.corrections(1, 7)) == 2


def test_our_own_doing_is_no_correction(store: Store) -> None:
    """What we take off leaves ``labelled`` before GitHub is asked, and what we put on is in it."""
    let_go = thread(labelled={})
    assert hear(store, DEFAULT, let_go, event("unlabelled", BOT)) is False
    assert hear(store, DEFAULT, thread(), event("labelled", BOT)) is False
    assert let_go.kept_off == []
    assert store.corrections(1, 7) == []


def test_a_label_that_a_person_puts_on_is_theirs_and_lifts_the_bar(store: Store) -> None:
    row = thread(labelled={}, kept_off=["burst", "likely_unreviewed"])
    assert hear(store, DEFAULT, row, event("labelled")) is True
    assert (row.labelled, row.kept_off) == ({}, ["burst"])
    assert [one.kind for one in store.corrections(1, 7)] == ["label_added"]


@pytest.mark.parametrize("sender", [BOT, None])
def test_a_label_put_on_by_an_app_or_by_nobody_says_nothing(store: Store, sender: Person | None) -> None:
    row = thread(labelled={}, kept_off=["likely_unreviewed"])
    assert hear(store, DEFAULT, row, event("labelled", sender)) is False
    assert row.kept_off == ["likely_unreviewed"]


@pytest.mark.parametrize("why", ["labelled", "unlabelled"])
@pytest.mark.parametrize("label", ["bug", "", None])
def test_other_labels_say_nothing(store: Store, why: str, label: str | None) -> None:
    row = thread()
    assert hear(store, DEFAULT, row, event(why, label=label)) is False
    assert (row.labelled, row.kept_off) == ({"likely_unreviewed": REVIEW}, [])


@pytest.mark.parametrize(("sender", "heard"), [(MAX, True), (ANN, False), (BOT, False), (None, False)])
def test_only_somebody_elses_reopening_is_a_word(store: Store, sender: Person | None, heard: bool) -> None:
    row = thread()
    assert hear(store, DEFAULT, row, event("reopened", sender, None)) is heard
    assert row.reopened is heard


@pytest.mark.parametrize("why", ["opened", "said", "closed", "pushed", "locked"])
def test_everything_else_is_no_correction(store: Store, why: str) -> None:
    row = thread()
    before = row.model_dump()
    assert hear(store, DEFAULT, row, event(why)) is False
    assert row.model_dump() == before


def test_what_people_took_off_of_late() -> None:
    events = [
        event("unlabelled", label="A"),
        event("unlabelled", BOT, "b"),
        event("labelled", label="c"),
        replace(event("unlabelled"), label=None),
    ]
    assert taken_off(events) == {"a", ""}


def test_a_name_stands_for_the_kind_that_the_policy_gives_it() -> None:
    policy = parse('labels: {disclosed: "AI stated", burst: null}')
    assert [kind_of(policy, name) for name in ("ai STATED", REVIEW, "triage: burst on hold", None, "x")] == [
        "disclosed",
        "likely_unreviewed",
        None,
        None,
        None,
    ]
    assert {kind_of(DEFAULT, getattr(DEFAULT.labels, kind)) for kind in LABEL_KINDS} == {
        "likely_unreviewed",
        "burst",
        None,
    }
