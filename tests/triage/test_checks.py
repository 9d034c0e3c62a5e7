"""How checks ended is known whichever delivery is judged first: the pull request's or the check suite's."""

import pytest

from models.recorded.database import Database
from models.recorded.store import Store
from models.recorded.tables import ThreadRow
from triage import dossier, intake
from triage.events import Act, Checks, Event, RepositorySeen

SHA = "a" * 40
REPOSITORY = RepositorySeen(700, "acme/widgets", private=False, archived=False, default_branch="main", owner="acme")


def ended(outcome: str, *, suite: int = 1, at: float = 100.0, sha: str = SHA) -> Event:
    """Tell that a check suite ended."""
    act = Act(f"checked:{suite}:{at:.0f}", "checked", at, body=outcome, thread=str(suite), base=sha)
    return Event(
        event="check_suite",
        action="completed",
        why="checked",
        installation_id=70,
        repository=REPOSITORY,
        sender=None,
        subject="repository:700",
        acts=(act,),
        checks=Checks(sha, "success" if outcome == "success" else "failure"),
    )


def pull(sha: str = SHA, number: int = 1) -> ThreadRow:
    return ThreadRow(repository_id=700, number=number, installation_id=70, head_sha=sha)


def checks(store: Store, thread: ThreadRow) -> str | None:
    return dossier.checks(thread, store.acts_of_thread(thread.repository_id, thread.number))


@pytest.mark.parametrize("first", ["the pull request", "the check suite"])
def test_either_may_be_heard_first(database: Database, first: str) -> None:
    """After downtime the suite's delivery may be judged before the pull request is known."""
    store, thread = Store(database), pull()
    if first == "the pull request":
        store.save_thread(thread)
        assert [one.number for one in intake.note_checks(store, ended("success"))] == [1]
    else:
        assert intake.note_checks(store, ended("success")) == []
        store.save_thread(thread)
        intake.take_checks(store, thread)
    assert checks(store, thread) == "success"


def test_checks_of_another_commit_say_nothing(database: Database) -> None:
    """A push makes what ran before it history."""
    store, thread = Store(database), pull("b" * 40)
    store.save_thread(thread)
    intake.note_checks(store, ended("success"))
    intake.take_checks(store, thread)
    assert checks(store, thread) is None


def test_one_failing_suite_is_a_failure_until_it_is_run_again(database: Database) -> None:
    """Suites are told apart, and each counts by its newest ending; hearing one twice changes nothing."""
    store, thread = Store(database), pull()
    store.save_thread(thread)
    intake.note_checks(store, ended("success", suite=1))
    intake.note_checks(store, ended("failure", suite=2))
    assert checks(store, thread) == "failure"
    intake.note_checks(store, ended("success", suite=2, at=200.0))
    intake.note_checks(store, ended("success", suite=2, at=200.0))
    assert checks(store, thread) == "success"
