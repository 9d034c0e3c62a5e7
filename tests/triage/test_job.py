"""What becomes of a claim: judged and let go, put back with growing waits, or given up and brought back; never lost."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence

import pytest

from models.recorded.database import Database, DatabaseError, DatabaseUnavailable
from models.recorded.deliveries import Arrival, Claim, Deliveries
from triage.forge.port import Forbidden, Suspended, Unavailable
from triage.job import FIRST_WAIT, LONGEST_WAIT, MOST_ATTEMPTS, MOST_DEATHS, SUSPENDED_WAIT, Judge
from triage.walk import Outcome

THREAD, PERSON = "thread:2:7", "person:2:3"
SETTLE, LEASE = 3.0, 30.0


class Clock:
    """Seconds since 1970, moved by the test."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Walking:
    """Ends each walk as the test says: with an outcome, with an error, or with what a function does meanwhile."""

    def __init__(self) -> None:
        self.ends: list[Outcome | BaseException | Callable[[Callable[[], None]], Outcome]] = []
        self.claims: list[Claim] = []

    def walk(self, claim: Claim, hold: Callable[[], None]) -> Outcome:
        self.claims.append(claim)
        end = self.ends.pop(0) if self.ends else Outcome("judged")
        if isinstance(end, BaseException):
            raise end
        return end if isinstance(end, Outcome) else end(hold)


class Room:
    """A judge with its deliveries, its walk, its clock and its bell."""

    def __init__(self, deliveries: Deliveries) -> None:
        self.deliveries = deliveries
        self.clock = Clock()
        self.walking = Walking()
        self.rung: list[str] = []
        self.judge = self.another()

    def another(self) -> Judge:
        return Judge(
            self.deliveries,
            self.walking,  # type: ignore[arg-type]
            lease=LEASE,
            settle=SETTLE,
            wake=self.rung.extend,
            clock=self.clock,
        )

    def keep(self, *guids: str, subject: str = THREAD) -> None:
        arrivals = [Arrival(guid, "issue_comment", "created", 5, 2, subject, b"{}", self.clock.now) for guid in guids]
        self.deliveries.keep(arrivals, settle=SETTLE)

    def states(self) -> dict[str, str]:
        return {row.guid: row.state for row in self.deliveries.listed()}

    def judge_when_due(self) -> float | None:
        """Move the clock to when the thread is due, and judge it; returns how long it then waits."""
        self.clock.now = max(self.clock.now, self.deliveries.waiting_at(THREAD) or 0.0)
        again = self.judge.judge(THREAD, "worker")
        return None if again is None else again - self.clock.now


@pytest.fixture
def room(database: Database) -> Room:
    return Room(Deliveries(database))


# --- done -----------------------------------------------------------------------


def test_what_was_judged_is_done_with_its_outcome(room: Room) -> None:
    room.keep("a", "b")
    room.walking.ends = [Outcome("unsure")]
    assert room.judge_when_due() is None
    assert [(row.state, row.outcome, row.attempts) for row in room.deliveries.listed()] == [("done", "unsure", 1)] * 2
    assert room.deliveries.waiting_at(THREAD) is None


def test_nothing_is_judged_before_it_settled_nor_twice(room: Room) -> None:
    room.keep("a")
    assert room.judge.judge(THREAD, "worker") is None
    room.judge_when_due()
    assert room.judge.judge(THREAD, "worker") is None
    assert len(room.walking.claims) == 1


def test_whom_a_verdict_concerns_next_settles_and_is_rung_for(room: Room) -> None:
    room.keep("a")
    room.walking.ends = [Outcome("unsure", ((PERSON, 5),))]
    room.judge_when_due()
    assert room.rung == [PERSON]
    assert room.deliveries.waiting_at(PERSON) == room.clock.now + SETTLE


def test_what_comes_meanwhile_is_wanted_again(room: Room) -> None:
    room.keep("a")

    def meanwhile(_hold: Callable[[], None]) -> Outcome:
        room.keep("b")
        return Outcome("judged")

    room.walking.ends = [meanwhile]
    assert room.judge_when_due() == SETTLE
    assert room.states() == {"a": "done", "b": "waiting"}


# --- put back -------------------------------------------------------------------


def test_github_is_waited_for_without_end_and_longer_each_time(room: Room) -> None:
    room.keep("a")
    room.walking.ends = [Unavailable("GitHub is not well (502)") for _ in range(30)]
    waits = [room.judge_when_due() for _ in range(30)]
    assert waits[:4] == [FIRST_WAIT, 2 * FIRST_WAIT, 4 * FIRST_WAIT, 8 * FIRST_WAIT]
    assert waits[10:] == [LONGEST_WAIT] * 20
    assert room.states() == {"a": "waiting"}
    assert [trouble.reason for trouble in room.deliveries.troubles()] == ["Unavailable: GitHub is not well (502)"]
    assert room.judge_when_due() is None
    assert room.states() == {"a": "done"}
    assert room.deliveries.troubles() == []


def test_github_says_when_to_come_back(room: Room) -> None:
    room.keep("a")
    room.walking.ends = [Unavailable("over GitHub's hourly limit", 1800.0), Unavailable("too fast", 1.0)]
    assert room.judge_when_due() == 1800.0
    assert room.judge_when_due() == 2 * FIRST_WAIT


def test_a_suspended_installation_is_looked_at_again_in_an_hour_without_end(room: Room) -> None:
    room.keep("a")
    room.walking.ends = [Suspended("the installation is suspended") for _ in range(2 * MOST_ATTEMPTS)]
    assert {room.judge_when_due() for _ in range(2 * MOST_ATTEMPTS)} == {SUSPENDED_WAIT}
    assert room.states() == {"a": "waiting"}


@pytest.mark.parametrize("fault", [KeyError("a stranger's words"), Forbidden("a permission is missing")])
def test_our_own_faults_are_given_up_after_growing_waits(room: Room, fault: Exception) -> None:
    room.keep("a")
    room.walking.ends = [fault] * MOST_ATTEMPTS
    waits = [room.judge_when_due() for _ in range(MOST_ATTEMPTS)]
    assert waits == [*(min(FIRST_WAIT * 2**number, LONGEST_WAIT) for number in range(MOST_ATTEMPTS - 1)), None]
    (row,) = room.deliveries.listed()
    assert (row.state, row.attempts) == ("failed", MOST_ATTEMPTS)
    assert row.outcome in {"KeyError", "Forbidden: a permission is missing"}
    assert room.deliveries.waiting_at(THREAD) is None


def test_a_fault_after_an_hour_without_github_is_not_the_last_try(room: Room) -> None:
    room.keep("a")
    outage: list[BaseException] = [Unavailable("down")] * 20
    room.walking.ends = [*outage, KeyError("first")]
    for _ in range(21):
        assert room.judge_when_due() is not None
    assert room.states() == {"a": "waiting"}
    assert room.judge_when_due() is None
    assert room.states() == {"a": "done"}


def test_what_kills_every_worker_is_given_up(room: Room) -> None:
    """A delivery that ends the process must not end all that follow; what it was stays to be looked at."""
    room.keep("a")
    room.clock.now += SETTLE
    for number in range(MOST_DEATHS + 1):
        held = room.deliveries.claim(THREAD, f"worker-{number}", now=room.clock.now, lease=10.0)
        assert held is not None
        assert held.deaths == number
        room.clock.now += 11.0  # killed: nobody lets go
    assert room.judge.judge(THREAD, "survivor") is None
    stored = room.deliveries.listed()
    assert [(row.state, row.outcome) for row in stored] == [("failed", f"{MOST_DEATHS + 1} workers died judging it")]


def test_a_database_that_comes_and_goes_kills_nobody(room: Room) -> None:
    """The same worker finds its own lease run out: that was no death."""
    room.keep("a")
    room.clock.now += SETTLE
    for _ in range(MOST_DEATHS + 1):
        held = room.deliveries.claim(THREAD, "worker", now=room.clock.now, lease=10.0)
        assert held is not None
        assert held.deaths == 0
        room.clock.now += 11.0


def test_what_was_given_up_is_brought_back_on_the_command_line(room: Room, database_url: str) -> None:
    room.keep("a", "b")
    room.walking.ends = [KeyError()] * MOST_ATTEMPTS
    for _ in range(MOST_ATTEMPTS):
        room.judge_when_due()
    assert room.states() == {"a": "failed", "b": "failed"}
    command = [sys.executable, "-m", "triage", "deliveries", "--state", "waiting", "--retry", "--json"]
    env = {**os.environ, "LIVEFIRST_DATABASE_URL": database_url}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(one["guid"], one["state"], one["attempts"]) for one in told] == [("a", "waiting", 0), ("b", "waiting", 0)]
    assert "1 to be judged again" in done.stderr
    room.judge_when_due()
    assert room.states() == {"a": "done", "b": "done"}


def test_a_database_that_is_away_counts_no_attempt(room: Room) -> None:
    room.keep("a")
    room.walking.ends = [DatabaseUnavailable("locked")]
    with pytest.raises(DatabaseUnavailable):
        room.judge_when_due()
    assert room.states() == {"a": "waiting"}
    assert room.judge.judge(THREAD, "worker") is None  # the lease stands
    room.clock.now += LEASE
    assert room.judge.judge(THREAD, "worker") is None
    assert room.states() == {"a": "done"}
    assert room.walking.claims[-1].attempts == 0


def test_what_the_database_never_takes_is_given_up_too(room: Room) -> None:
    """A value that no table holds must not be tried for ever at the pace of a lease."""
    room.keep("a")
    room.walking.ends = [DatabaseError("DataError (22003)") for _ in range(MOST_ATTEMPTS)]
    for _ in range(MOST_ATTEMPTS):
        room.judge_when_due()
    assert [(row.state, row.outcome) for row in room.deliveries.listed()] == [
        ("failed", "DatabaseError: DataError (22003)")
    ]


def test_one_subjects_faults_leave_the_others_alone(room: Room) -> None:
    room.keep("a")
    room.keep("b", subject="thread:2:8")
    room.walking.ends = [KeyError()]
    room.judge_when_due()
    assert room.judge.judge("thread:2:8", "worker") is None
    assert room.states() == {"a": "waiting", "b": "done"}


# --- leases ---------------------------------------------------------------------


def test_the_heartbeat_renews_what_is_judged_now(room: Room) -> None:
    room.keep("a")

    def slowly(hold: Callable[[], None]) -> Outcome:
        for _ in range(9):  # three leases long
            room.clock.now += LEASE / 3
            room.judge.beat()
            assert room.another().judge(THREAD, "other") is None
            hold()
        return Outcome("judged")

    room.walking.ends = [slowly]
    room.judge_when_due()
    assert room.states() == {"a": "done"}
    assert len(room.walking.claims) == 1
    room.judge.beat()  # nothing is held any more
    assert room.deliveries.waiting_at(THREAD) is None


def overtaken(room: Room, then: Callable[[Callable[[], None]], Outcome]) -> Callable[[Callable[[], None]], Outcome]:
    """Sleep through the lease while another takes the subject and finishes it; go on afterwards."""

    def asleep(hold: Callable[[], None]) -> Outcome:
        hold()
        room.clock.now += LEASE
        assert room.another().judge(THREAD, "other") is None
        assert room.states() == {"a": "done"}
        return then(hold)

    return asleep


def test_who_slept_through_its_lease_changes_nothing(room: Room) -> None:
    """``hold`` stops it before it touches GitHub."""
    room.keep("a")
    changed = []

    def change(hold: Callable[[], None]) -> Outcome:
        hold()
        changed.append("a label")
        return Outcome("never")

    room.walking.ends = [overtaken(room, change), Outcome("by the heir")]
    assert room.judge_when_due() is None
    assert changed == []
    assert [row.outcome for row in room.deliveries.listed()] == ["by the heir"]


def test_a_heartbeat_that_finds_the_lease_gone_stops_the_walk(room: Room) -> None:
    room.keep("a")
    changed = []

    def change(hold: Callable[[], None]) -> Outcome:
        room.judge.beat()
        hold()
        changed.append("a label")
        return Outcome("never")

    room.walking.ends = [overtaken(room, change), Outcome("by the heir")]
    assert room.judge_when_due() is None
    assert changed == []


@pytest.mark.parametrize("end", [Outcome("too late", ((PERSON, 5),)), KeyError(), Unavailable("down")])
def test_what_a_worker_without_lease_found_is_not_written(room: Room, end: Outcome | Exception) -> None:
    room.keep("a")

    def late(_hold: Callable[[], None]) -> Outcome:
        if isinstance(end, Exception):
            raise end
        return end

    room.walking.ends = [overtaken(room, late), Outcome("by the heir")]
    room.judge_when_due()
    assert [(row.state, row.outcome, row.attempts) for row in room.deliveries.listed()] == [("done", "by the heir", 1)]
    assert room.rung == []
    assert room.deliveries.waiting_at(PERSON) is None


def test_a_lease_that_ran_out_but_that_nobody_took_is_held_again(room: Room) -> None:
    room.keep("a")

    def asleep(hold: Callable[[], None]) -> Outcome:
        room.clock.now += 2 * LEASE
        hold()
        assert room.another().judge(THREAD, "other") is None
        return Outcome("judged")

    room.walking.ends = [asleep]
    room.judge_when_due()
    assert room.states() == {"a": "done"}
    assert len(room.walking.claims) == 1


def test_a_killed_worker_is_followed_by_another(room: Room) -> None:
    room.keep("a")
    room.walking.ends = [SystemExit()]
    with pytest.raises(SystemExit):
        room.judge_when_due()
    judges: Sequence[Judge] = [room.another(), room.another()]
    assert [judge.judge(THREAD, "other") for judge in judges] == [None, None]
    assert room.states() == {"a": "waiting"}
    room.clock.now += LEASE
    assert [judge.judge(THREAD, "other") for judge in judges] == [None, None]
    assert room.states() == {"a": "done"}
    assert len(room.walking.claims) == 2
