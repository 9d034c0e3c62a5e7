"""What is written down of a verdict, when nothing new is written, and since when an author waits."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from made_scores import classifier, pull

from models.recorded.database import Database
from models.recorded.store import Store
from models.recorded.tables import ActRow, ChangeRow, PersonRow, ThreadRow
from triage.decide import Standing
from triage.evaluate import Evaluation, evaluate
from triage.facts import Activity, Author, Facts, TimelineEvent
from triage.policy import DEFAULT, parse
from triage.record import hit_anew, record_person, record_thread, standing, waiting_since
from triage.signals.burst import Flood

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def store(database: Database) -> Store:
    return Store(database)


def judged(**change: Any) -> Evaluation:
    return evaluate(pull(**change), DEFAULT, classifier())


def thread(**change: Any) -> ThreadRow:
    return ThreadRow(repository_id=1, number=7, installation_id=5, **change)


def change(kind: str, target: str = "likely_unreviewed") -> ChangeRow:
    return ChangeRow(repository_id=1, number=7, kind=kind, target=target, detail="name", wanted_at=1.0)


def test_a_verdict_is_stored_with_its_readings_and_its_changes(store: Store) -> None:
    row = thread()
    assert record_thread(store, row, judged(), [change("add_label")], now=5.0) is True
    kept = store.last_verdict(1, 7)
    assert kept is not None
    assert (kept.lane, kept.at, kept.number) == ("unsure", 5.0, 7)
    assert kept.verdict["reasons"]
    assert kept.readings["bullet_share"].keys() == {"revision", "value", "n"}
    known = store.thread(1, 7)
    assert known is not None
    assert (known.lane, known.verdict_id, known.flips) == ("unsure", kept.id, 1)
    assert [one.kind for one in store.wanted(1, 7)] == ["add_label"]


def test_nothing_new_is_no_new_verdict(store: Store) -> None:
    row = thread()
    record_thread(store, row, judged(), [], now=5.0)
    first = row.verdict_id
    row.title = "Another title"
    assert record_thread(store, row, judged(), [], now=6.0) is False
    assert row.verdict_id == first
    known = store.thread(1, 7)
    assert known is not None
    assert known.title == "Another title"  # the thread is saved all the same
    assert record_thread(store, row, judged(body="Other words."), [], now=7.0) is True
    assert record_thread(store, row, judged(body="Other words."), [change("add_label")], now=8.0) is True


@pytest.mark.parametrize(
    ("changes", "flips"),
    [
        ([change("add_label")], 1),
        ([change("remove_label")], 1),
        ([change("add_label", "burst")], 0),
        ([change("comment", "")], 0),
        ([], 0),
    ],
)
def test_only_the_label_of_the_lane_flips(store: Store, changes: list[ChangeRow], flips: int) -> None:
    row = thread()
    record_thread(store, row, judged(), changes, now=5.0)
    assert row.flips == flips


def test_the_standing_tells_what_has_happened() -> None:
    row = thread(labelled={"likely_unreviewed": "x"}, flips=1, kept_off=["burst"])
    assert standing(row, open_here=4) == Standing(True, 1, frozenset({"burst"}), 4)
    assert standing(thread(labelled={"burst": "x"}), open_here=None) == Standing()


def test_a_flood_is_written_down_with_its_times_and_threads(store: Store) -> None:
    times = [NOW + timedelta(seconds=20 * turn) for turn in range(9)]
    acts = tuple(Activity(at, "comment", "acme/widgets", False, turn) for turn, at in enumerate(times, 1))
    facts = Facts(NOW + timedelta(minutes=5), subject="commenter", repo="acme/widgets", author=Author("eve", "User"))
    evaluation = evaluate(replace(facts, activity=acts), parse("burst: {events: 6, minutes: 2}"), classifier())
    person = PersonRow(id=3, login="eve")
    assert record_person(store, 1, person, evaluation, now=5.0) is True
    kept = store.last_verdict(1, person_id=3)
    assert kept is not None
    first, last = times[0].timestamp(), times[-1].timestamp()
    assert kept.verdict["flood"]["spans"] == [[first, last]]
    assert kept.verdict["flood"]["threads"] == list(range(1, 10))
    assert kept.verdict["flood"]["count"] == 7  # the fullest two minutes
    assert record_person(store, 1, person, evaluation, now=6.0) is False


def act(at: float, who: int | None, kind: str = "comment", actor_type: str = "User") -> ActRow:
    return ActRow(
        key=f"{kind}:{at}", installation_id=5, repository_id=1, number=7, kind=kind, at=at, actor_id=who,
        actor_type=actor_type,
    )  # fmt: skip


ANN, MAX = 3, 2


@pytest.mark.parametrize(
    ("acts", "since"),
    [
        ([], 10.0),
        ([act(20.0, ANN)], 10.0),  # a second word does not begin the wait anew
        ([act(20.0, MAX)], None),
        ([act(20.0, MAX, "review")], None),
        ([act(20.0, MAX), act(30.0, ANN), act(40.0, ANN)], 30.0),
        ([act(20.0, MAX), act(30.0, ANN, "commit")], 30.0),
        ([act(20.0, 9, actor_type="Bot")], 10.0),  # an App answers nobody
        ([act(20.0, MAX, "labeled")], 10.0),
        ([act(20.0, None)], 10.0),
    ],
)
def test_an_author_waits_from_the_first_word_that_nobody_answered(acts: list[ActRow], since: float | None) -> None:
    assert waiting_since(thread(author_id=ANN, created_at=10.0), acts) == since


def test_a_ghost_waits_from_the_opening() -> None:
    assert waiting_since(thread(created_at=10.0), [act(20.0, MAX)]) == 10.0


def comment(number: int, minute: float, *, own: bool = True) -> TimelineEvent:
    return TimelineEvent(at=NOW + timedelta(minutes=minute), kind="comment", is_author=own, number=number)


def grown(until: float, threads: tuple[int, ...]) -> Flood:
    end = NOW + timedelta(minutes=until)
    return Flood(count=len(threads), first_at=NOW, last_at=end, threads=threads, spans=((NOW, end),))


def test_of_a_new_flood_every_thread_is_looked_at() -> None:
    assert hit_anew(grown(2, (3, 1, 2)), None, []) == [1, 2, 3]


def test_of_a_flood_that_grows_only_what_it_hit_since_is_looked_at() -> None:
    known = {"threads": [1, 2], "spans": [[NOW.timestamp(), (NOW + timedelta(minutes=2)).timestamp()]]}
    acts = [comment(1, 0), comment(2, 2), comment(1, 3), comment(3, 4), comment(2, 4, own=False)]
    assert hit_anew(grown(4, (1, 2, 3)), known, acts) == [1, 3]
    assert hit_anew(grown(2, (1, 2)), known, acts[:2]) == []


def test_a_thread_that_joins_within_the_old_times_is_looked_at() -> None:
    known = {"threads": [1], "spans": [[NOW.timestamp(), (NOW + timedelta(minutes=2)).timestamp()]]}
    assert hit_anew(grown(2, (1, 2)), known, [comment(1, 0), comment(2, 1)]) == [2]
