"""Each delivery is judged at least once and by one worker at a time, whatever happens in between."""

import re
import threading
from collections.abc import Callable
from typing import TypeVar

import pytest
from sqlalchemy import text

from models.recorded import deliveries as module
from models.recorded.database import Database
from models.recorded.deliveries import CLAIM_LIMIT, Arrival, Backlog, Claim, Deliveries, Kept, LeaseLost, Trouble

SETTLE = 3.0
LEASE = 60.0
THREAD = "thread:2:7"
OTHER = "thread:2:8"
T = TypeVar("T")


def arrival(guid: str, at: float = 1000.0, subject: str = THREAD, body: bytes = b"{}") -> Arrival:
    return Arrival(guid, "issue_comment", "created", 5, 2, subject, body, at)


@pytest.fixture
def deliveries(database: Database) -> Deliveries:
    return Deliveries(database)


def claimed(deliveries: Deliveries, now: float, subject: str = THREAD, owner: str = "worker") -> Claim:
    claim = deliveries.claim(subject, owner, now=now, lease=LEASE)
    assert claim is not None
    return claim


def judged(claim: Claim) -> dict[int, str]:
    return {delivery.id: "judged" for delivery in claim.deliveries}


def states(deliveries: Deliveries) -> dict[str, str]:
    return {one.guid: one.state for one in deliveries.listed()}


def together(count: int, work: Callable[[int], T]) -> list[T]:
    """Run ``work`` in threads that start at the same moment."""
    gate, results, failed = threading.Barrier(count), [], []

    def run(number: int) -> None:
        gate.wait()
        try:
            results.append(work(number))
        except Exception as error:  # noqa: BLE001  (shown below)
            failed.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    return results


# --- keeping ------------------------------------------------------------------


def test_a_new_delivery_waits_with_its_subject(deliveries: Deliveries) -> None:
    assert deliveries.keep([arrival("a", 1000.0, body=b"\x00\xff")], settle=SETTLE) == [Kept("accepted", woke=True)]
    assert deliveries.waiting_at(THREAD) == 1003.0
    assert deliveries.backlog() == Backlog(1, 0, 1000.0, 1)
    (stored,) = claimed(deliveries, 1003.0).deliveries
    assert (stored.guid, stored.event, stored.action) == ("a", "issue_comment", "created")
    assert (stored.installation_id, stored.repository_id, stored.received_at) == (5, 2, 1000.0)
    assert (stored.body, stored.state, stored.attempts) == (b"\x00\xff", "waiting", 0)


def test_nothing_to_keep_is_no_error(deliveries: Deliveries) -> None:
    assert deliveries.keep([], settle=SETTLE) == []


def test_the_same_guid_is_stored_once(deliveries: Deliveries) -> None:
    kept = deliveries.keep([arrival("a"), arrival("a", 1001.0), arrival("b")], settle=SETTLE)
    assert kept == [Kept("accepted", woke=True), Kept("accepted", woke=False), Kept("accepted", woke=False)]
    assert deliveries.keep([arrival("a")], settle=SETTLE) == [Kept("accepted", woke=False)]
    assert [one.guid for one in deliveries.listed()] == ["a", "b"]


def test_a_done_guid_is_a_duplicate_and_wakes_nobody(deliveries: Deliveries) -> None:
    deliveries.keep([arrival("a")], settle=SETTLE)
    claim = claimed(deliveries, 1010.0)
    deliveries.finish(claim, judged(claim), now=1011.0)
    kept = deliveries.keep([arrival("a", 1020.0), arrival("b", 1020.0, OTHER)], settle=SETTLE)
    assert kept == [Kept("duplicate", woke=False), Kept("accepted", woke=True)]
    assert deliveries.waiting_at(THREAD) is None


def test_a_failed_guid_waits_again_from_the_start(deliveries: Deliveries) -> None:
    deliveries.keep([arrival("a")], settle=SETTLE)
    deliveries.give_back(claimed(deliveries, 1010.0), now=1010.0, due_at=1020.0, error="GitHub is down", counts=True)
    deliveries.give_up(claimed(deliveries, 1020.0), now=1021.0, error="too many attempts")
    assert deliveries.drop_bodies(2000.0) == 1
    assert deliveries.keep([arrival("a", 1030.0, body=b"again")], settle=SETTLE) == [Kept("accepted", woke=True)]
    claim = claimed(deliveries, 1033.0)
    assert claim.attempts == 0
    (stored,) = claim.deliveries
    assert (stored.state, stored.attempts, stored.outcome, stored.body) == ("waiting", 0, None, b"again")


def test_many_are_kept_at_once_in_their_order(deliveries: Deliveries) -> None:
    batch = [arrival(f"{number:04d}", 1000.0 + number, f"thread:2:{number % 7}") for number in range(512)]
    assert sum(one.woke for one in deliveries.keep(batch, settle=SETTLE)) == 7
    assert [one.guid for one in deliveries.listed()] == [one.guid for one in batch]
    assert len(claimed(deliveries, 9000.0, "thread:2:0").deliveries) == 74


@pytest.mark.parametrize("rounds", range(3))
def test_one_guid_from_many_threads_is_stored_once(deliveries: Deliveries, rounds: int) -> None:
    guids = [f"{rounds}-{number}" for number in range(20)]

    def keep(number: int) -> list[Kept]:
        order = guids if number % 2 else guids[::-1]  # the worst order for locks
        return deliveries.keep([arrival(guid, subject=f"thread:2:{guid}") for guid in order], settle=SETTLE)

    kept = together(8, keep)
    assert {one.outcome for each in kept for one in each} == {"accepted"}
    assert sorted(one.guid for one in deliveries.listed()) == sorted(guids)
    assert all(deliveries.waiting_at(f"thread:2:{guid}") == 1003.0 for guid in guids)


# --- settling -----------------------------------------------------------------


def test_later_deliveries_put_the_work_off_up_to_ten_settle_times(deliveries: Deliveries) -> None:
    for at in range(1000, 1060, 2):
        deliveries.keep([arrival(f"{at}", float(at))], settle=SETTLE)
        assert deliveries.waiting_at(THREAD) == min(at + SETTLE, 1000.0 + 10 * SETTLE)


def test_the_cap_holds_within_one_batch(deliveries: Deliveries) -> None:
    deliveries.keep([arrival("a", 1000.0), arrival("b", 1100.0)], settle=SETTLE)
    assert deliveries.waiting_at(THREAD) == 1030.0


def test_an_earlier_delivery_does_not_hasten(deliveries: Deliveries) -> None:
    deliveries.keep([arrival("a", 1000.0)], settle=SETTLE)
    deliveries.keep([arrival("b", 990.0)], settle=SETTLE)
    assert deliveries.waiting_at(THREAD) == 1003.0


def test_a_retry_that_waits_longer_is_not_hastened_by_a_delivery(deliveries: Deliveries) -> None:
    deliveries.keep([arrival("a")], settle=SETTLE)
    deliveries.give_back(claimed(deliveries, 1010.0), now=1010.0, due_at=1600.0, error="down", counts=True)
    assert deliveries.keep([arrival("b", 1011.0)], settle=SETTLE) == [Kept("accepted", woke=False)]
    assert deliveries.waiting_at(THREAD) == 1600.0


# --- claiming -----------------------------------------------------------------


def test_only_what_is_due_is_claimed(deliveries: Deliveries) -> None:
    assert deliveries.claim(THREAD, "worker", now=1002.9, lease=LEASE) is None
    deliveries.keep([arrival("a")], settle=SETTLE)
    assert deliveries.claim(THREAD, "worker", now=1002.9, lease=LEASE) is None
    claim = claimed(deliveries, 1003.0)
    assert (claim.subject, claim.installation_id, claim.attempts, claim.due_seen) == (THREAD, 5, 0, 1003.0)
    assert claim.token.startswith("worker:")


def test_a_held_subject_is_taken_over_when_its_lease_ran_out(deliveries: Deliveries) -> None:
    deliveries.keep([arrival("a")], settle=SETTLE)
    dead = claimed(deliveries, 1010.0)
    assert deliveries.claim(THREAD, "other", now=1010.0 + LEASE - 0.1, lease=LEASE) is None
    heir = claimed(deliveries, 1010.0 + LEASE, owner="other")
    assert [one.guid for one in heir.deliveries] == ["a"]
    assert deliveries.renew(dead, until=5000.0) is False
    with pytest.raises(LeaseLost):
        deliveries.finish(dead, judged(dead), now=1071.0, nudges=[(OTHER, 5)])
    assert states(deliveries) == {"a": "waiting"}
    assert deliveries.waiting_at(OTHER) is None
    deliveries.give_back(dead, now=1071.0, due_at=9000.0, error="late", counts=True)
    deliveries.give_up(dead, now=1071.0, error="late")
    assert deliveries.waiting_at(THREAD) == 1003.0
    assert deliveries.finish(heir, judged(heir), now=1072.0) is None
    assert states(deliveries) == {"a": "done"}


def test_a_renewed_lease_is_not_taken(deliveries: Deliveries) -> None:
    deliveries.keep([arrival("a")], settle=SETTLE)
    claim = claimed(deliveries, 1010.0)
    assert deliveries.renew(claim, until=2000.0) is True
    assert deliveries.claim(THREAD, "other", now=1999.0, lease=LEASE) is None


def test_of_many_claims_exactly_one_wins(deliveries: Deliveries) -> None:
    for number in range(10):
        deliveries.keep([arrival(f"{number}", subject=f"thread:2:{number}")], settle=SETTLE)
    for number in range(10):
        subject = f"thread:2:{number}"

        def claim(worker: int, subject: str = subject) -> Claim | None:
            return deliveries.claim(subject, f"worker-{worker}", now=1010.0, lease=LEASE)

        assert sum(one is not None for one in together(8, claim)) == 1


def test_a_long_queue_is_claimed_in_parts(deliveries: Deliveries) -> None:
    deliveries.keep([arrival(f"{number:04d}") for number in range(CLAIM_LIMIT + 20)], settle=SETTLE)
    first = claimed(deliveries, 1010.0)
    assert len(first.deliveries) == CLAIM_LIMIT
    assert deliveries.finish(first, judged(first), now=1011.0) == 1011.0
    rest = claimed(deliveries, 1011.0)
    assert len(rest.deliveries) == 20
    assert deliveries.finish(rest, judged(rest), now=1012.0) is None


def test_large_bodies_are_claimed_in_parts(deliveries: Deliveries, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CLAIM_BYTES", 250)
    sizes = {"a": 900, "b": 100, "c": 150, "d": 1}
    deliveries.keep([arrival(guid, body=b"x" * size) for guid, size in sizes.items()], settle=SETTLE)
    parts = []
    now = 1010.0
    while (claim := deliveries.claim(THREAD, "worker", now=now, lease=LEASE)) is not None:
        parts.append({one.guid: len(one.body or b"") for one in claim.deliveries})
        deliveries.finish(claim, judged(claim), now=now)
    assert parts == [{"a": 900}, {"b": 100, "c": 150}, {"d": 1}]


# --- finishing ----------------------------------------------------------------


def test_a_finished_delivery_tells_its_outcome(deliveries: Deliveries) -> None:
    deliveries.keep([arrival("a")], settle=SETTLE)
    claim = claimed(deliveries, 1010.0)
    assert deliveries.finish(claim, judged(claim), now=1011.0) is None
    (row,) = deliveries.listed("a")
    assert (row.state, row.outcome, row.finished_at, row.body) == ("done", "judged", 1011.0, None)
    assert row.attempts == 1
    assert deliveries.waiting_at(THREAD) is None
    assert deliveries.claim(THREAD, "worker", now=9000.0, lease=LEASE) is None
    assert deliveries.backlog() == Backlog(0, 0, None, 0)


def test_what_arrived_meanwhile_goes_on_waiting(deliveries: Deliveries) -> None:
    deliveries.keep([arrival("a")], settle=SETTLE)
    claim = claimed(deliveries, 1010.0)
    assert deliveries.keep([arrival("b", 1011.0)], settle=SETTLE) == [Kept("accepted", woke=False)]
    assert deliveries.finish(claim, judged(claim), now=1012.0) == 1014.0
    assert states(deliveries) == {"a": "done", "b": "waiting"}
    assert deliveries.due(1014.0, 10, rung_before=1014.0) == [THREAD]
    deliveries.keep([arrival("c", 1015.0)], settle=SETTLE)
    assert deliveries.waiting_at(THREAD) == 1018.0  # a new wait with a new cap
    assert [one.guid for one in claimed(deliveries, 1018.0).deliveries] == ["b", "c"]


def test_what_arrived_meanwhile_under_the_cap_is_due_at_once(deliveries: Deliveries) -> None:
    deliveries.keep([arrival("a", 1000.0), arrival("b", 1100.0)], settle=SETTLE)
    claim = claimed(deliveries, 1100.0)
    deliveries.keep([arrival("c", 1101.0)], settle=SETTLE)
    assert deliveries.waiting_at(THREAD) == claim.due_seen == 1030.0
    assert deliveries.finish(claim, judged(claim), now=1102.0) == 1102.0


def test_a_delivery_without_an_outcome_goes_on_waiting(deliveries: Deliveries) -> None:
    deliveries.keep([arrival("a"), arrival("b")], settle=SETTLE)
    claim = claimed(deliveries, 1010.0)
    assert deliveries.finish(claim, {claim.deliveries[0].id: "judged"}, now=1011.0) == 1011.0
    assert states(deliveries) == {"a": "done", "b": "waiting"}


def test_only_claimed_deliveries_are_finished(deliveries: Deliveries) -> None:
    deliveries.keep([arrival("a"), arrival("z", subject=OTHER)], settle=SETTLE)
    claim = claimed(deliveries, 1010.0)
    (other,) = claimed(deliveries, 1010.0, OTHER).deliveries
    deliveries.finish(claim, {**judged(claim), other.id: "judged"}, now=1011.0)
    assert states(deliveries) == {"a": "done", "z": "waiting"}


def test_finishing_nudges_other_subjects(deliveries: Deliveries) -> None:
    deliveries.keep([arrival("a")], settle=SETTLE)
    claim = claimed(deliveries, 1010.0)
    nudges = [("person:2:9", 5), (OTHER, 5)]
    assert deliveries.finish(claim, judged(claim), now=1011.0, nudges=nudges, nudge_due=1015.0) is None
    assert deliveries.waiting_at("person:2:9") == deliveries.waiting_at(OTHER) == 1015.0
    person = claimed(deliveries, 1015.0, "person:2:9")
    assert (person.installation_id, person.deliveries) == (5, ())
    assert deliveries.finish(person, {}, now=1016.0, nudges=[("person:2:9", 5)]) == 1016.0


def test_two_that_nudge_each_other_do_not_block(deliveries: Deliveries) -> None:
    for number in range(10):
        deliveries.keep(
            [arrival(f"a{number}", 1000.0 + number * 100), arrival(f"b{number}", 1000.0 + number * 100, OTHER)],
            settle=SETTLE,
        )
        now = 1050.0 + number * 100
        pair = [(claimed(deliveries, now), OTHER), (claimed(deliveries, now, OTHER), THREAD)]

        def finish(which: int, pair: list[tuple[Claim, str]] = pair, now: float = now) -> None:
            claim, other = pair[which]
            deliveries.finish(claim, judged(claim), now=now, nudges=[(other, 5)], nudge_due=now)

        together(2, finish)
    assert set(states(deliveries).values()) == {"done"}


def test_nothing_is_lost_between_keeping_and_finishing(deliveries: Deliveries) -> None:
    """Deliveries arrive while workers finish: in the end all are done, and no subject waits."""
    ended = threading.Event()

    def work(number: int) -> int:
        done = 0
        if number < 2:
            for step in range(40):
                deliveries.keep([arrival(f"{number}-{step}", 1000.0, f"thread:2:{step % 3}")], settle=0.0)
            return 0
        while not ended.is_set():
            for which in range(3):
                claim = deliveries.claim(f"thread:2:{which}", f"worker-{number}", now=1000.0, lease=LEASE)
                if claim is not None:
                    deliveries.finish(claim, judged(claim), now=1000.0)
                    done += len(claim.deliveries)
            if len(deliveries.listed(state="done")) == 80:
                ended.set()
        return done

    assert sum(together(4, work)) == 80  # each was judged once
    assert [deliveries.waiting_at(f"thread:2:{which}") for which in range(3)] == [None] * 3


# --- nudging ------------------------------------------------------------------


def test_a_nudge_wakes_who_sleeps_and_leaves_who_waits(deliveries: Deliveries) -> None:
    deliveries.keep([arrival("a")], settle=SETTLE)
    assert deliveries.nudge([(THREAD, 5), (OTHER, 5)], 1001.0, 1050.0) == [OTHER]
    assert deliveries.waiting_at(THREAD) == 1003.0
    assert deliveries.waiting_at(OTHER) == 1050.0
    assert deliveries.nudge([], 1001.0, 1050.0) == []


def test_a_nudge_during_work_has_it_looked_at_once_more(deliveries: Deliveries) -> None:
    deliveries.keep([arrival("a")], settle=SETTLE)
    claim = claimed(deliveries, 1010.0)
    assert deliveries.nudge([(THREAD, 5)], 1011.0, 1000.0) == []
    due_at = deliveries.finish(claim, judged(claim), now=1012.0)
    assert due_at == pytest.approx(1003.0, abs=0.01)
    again = claimed(deliveries, 1012.0)
    assert again.deliveries == ()
    assert deliveries.finish(again, {}, now=1013.0) is None


# --- giving back and up -------------------------------------------------------


def test_a_claim_given_back_waits_and_counts(deliveries: Deliveries) -> None:
    deliveries.keep([arrival("a")], settle=SETTLE)
    deliveries.give_back(claimed(deliveries, 1010.0), now=1011.0, due_at=1020.0, error="GitHub is down", counts=True)
    assert deliveries.claim(THREAD, "worker", now=1019.0, lease=LEASE) is None
    claim = claimed(deliveries, 1020.0)
    assert (claim.attempts, claim.deliveries[0].attempts) == (1, 1)
    deliveries.give_back(claim, now=1021.0, due_at=1030.0, error="stopping", counts=False)
    claim = claimed(deliveries, 1030.0)
    assert (claim.attempts, claim.deliveries[0].attempts) == (1, 1)
    deliveries.finish(claim, judged(claim), now=1031.0)
    deliveries.keep([arrival("b", 1040.0)], settle=SETTLE)
    assert claimed(deliveries, 1050.0).attempts == 0


def test_what_is_given_up_fails_and_stops_waiting(deliveries: Deliveries) -> None:
    deliveries.keep([arrival("a")], settle=SETTLE)
    deliveries.give_up(claimed(deliveries, 1010.0), now=1011.0, error="KeyError")
    (row,) = deliveries.listed(state="failed")
    assert (row.outcome, row.finished_at, row.attempts) == ("KeyError", 1011.0, 1)
    assert deliveries.waiting_at(THREAD) is None
    assert deliveries.backlog() == Backlog(0, 1, None, 0)


def test_giving_up_spares_what_arrived_meanwhile(deliveries: Deliveries) -> None:
    deliveries.keep([arrival("a")], settle=SETTLE)
    claim = claimed(deliveries, 1010.0)
    deliveries.keep([arrival("b", 1011.0)], settle=SETTLE)
    deliveries.give_up(claim, now=1012.0, error="KeyError")
    assert states(deliveries) == {"a": "failed", "b": "waiting"}
    assert deliveries.waiting_at(THREAD) == 1014.0


def test_failed_deliveries_are_retried_on_request(deliveries: Deliveries) -> None:
    deliveries.keep([arrival("a"), arrival("b", subject=OTHER)], settle=SETTLE)
    deliveries.give_up(claimed(deliveries, 1010.0), now=1011.0, error="KeyError")
    deliveries.give_up(claimed(deliveries, 1010.0, OTHER), now=1011.0, error="KeyError")
    assert deliveries.retry("nobody", now=1020.0) == []
    assert deliveries.retry("a", now=1020.0) == [THREAD]
    assert states(deliveries) == {"a": "waiting", "b": "failed"}
    assert deliveries.retry(now=1021.0) == [OTHER]
    assert [one.guid for one in claimed(deliveries, 1021.0, OTHER).deliveries] == ["b"]
    assert deliveries.retry(now=1022.0) == []


def test_a_delivery_without_its_body_is_not_retried(deliveries: Deliveries) -> None:
    deliveries.keep([arrival("a")], settle=SETTLE)
    deliveries.give_up(claimed(deliveries, 1010.0), now=1011.0, error="KeyError")
    deliveries.drop_bodies(2000.0)
    assert deliveries.retry() == []
    assert states(deliveries) == {"a": "failed"}


# --- sweeping -----------------------------------------------------------------


def test_the_sweep_rings_what_is_due_longest_first(deliveries: Deliveries) -> None:
    for number in (3, 1, 2, 9):
        deliveries.keep([arrival(f"{number}", 1000.0 + number, f"thread:2:{number}")], settle=SETTLE)
    ring = ["thread:2:1", "thread:2:2", "thread:2:3"]
    assert deliveries.due(1008.0, 2, rung_before=948.0) == ring[:2]
    assert deliveries.due(1008.0, 2, rung_before=948.0) == ring[2:]
    assert deliveries.due(1009.0, 9, rung_before=949.0) == []
    assert deliveries.due(1069.0, 9, rung_before=1009.0) == [*ring, "thread:2:9"]


def test_the_sweep_leaves_what_is_held_until_the_lease_ran_out(deliveries: Deliveries) -> None:
    deliveries.keep([arrival("a")], settle=SETTLE)
    claimed(deliveries, 1010.0)
    assert deliveries.due(1011.0, 9, rung_before=1011.0) == []
    assert deliveries.due(1010.0 + LEASE, 9, rung_before=1011.0) == [THREAD]


def test_two_sweeps_do_not_ring_the_same(deliveries: Deliveries) -> None:
    deliveries.keep([arrival(f"{number}", subject=f"thread:2:{number}") for number in range(40)], settle=SETTLE)
    rung = together(4, lambda _: deliveries.due(1010.0, 10, rung_before=950.0))
    keys = [key for part in rung for key in part]
    assert len(keys) == len(set(keys))


def test_it_is_told_why_work_waits(deliveries: Deliveries) -> None:
    for number in range(3):
        subject = f"thread:2:{number}"
        deliveries.keep([arrival(f"{number}", 1000.0 + number, subject)], settle=SETTLE)
        error = "GitHub is down" if number else "locked"
        deliveries.give_back(claimed(deliveries, 1010.0, subject), now=1011.0, due_at=1020.0, error=error, counts=True)
    deliveries.nudge([(OTHER, 5)], 1012.0, 1013.0)
    assert deliveries.troubles() == [Trouble("GitHub is down", 2, 1001.0), Trouble("locked", 1, 1000.0)]
    assert deliveries.troubles(limit=1) == [Trouble("GitHub is down", 2, 1001.0)]
    assert deliveries.backlog() == Backlog(3, 0, 1000.0, 4)
    claim = claimed(deliveries, 1020.0, "thread:2:0")
    deliveries.finish(claim, judged(claim), now=1021.0)
    assert [one.reason for one in deliveries.troubles()] == ["GitHub is down"]


# --- looking and dropping -----------------------------------------------------


def test_deliveries_are_listed_newest_last(deliveries: Deliveries) -> None:
    deliveries.keep([arrival(guid) for guid in "abcd"], settle=SETTLE)
    assert [one.guid for one in deliveries.listed(limit=2)] == ["c", "d"]
    assert [one.guid for one in deliveries.listed("b")] == ["b"]
    assert deliveries.listed("b", "done") == []
    assert {one.body for one in deliveries.listed()} == {None}


def test_old_bodies_are_dropped_but_not_of_what_waits(deliveries: Deliveries) -> None:
    batch = [arrival(f"{number:04d}", 1000.0, OTHER) for number in range(501)]
    deliveries.keep([*batch, arrival("new", 5000.0, OTHER)], settle=SETTLE)
    for now in (6000.0, 6001.0):
        claim = claimed(deliveries, now, OTHER)
        deliveries.finish(claim, judged(claim), now=now)
    deliveries.keep([arrival("waits")], settle=SETTLE)
    assert deliveries.drop_bodies(2000.0) == 501
    assert deliveries.drop_bodies(2000.0) == 0
    assert claimed(deliveries, 9000.0).deliveries[0].body == b"{}"
    assert deliveries.keep([arrival("0000", 7000.0)], settle=SETTLE) == [Kept("duplicate", woke=False)]


# --- plans --------------------------------------------------------------------


def test_work_is_found_by_index_when_much_waits(database: Database, deliveries: Deliveries) -> None:
    """One subject's deliveries are found without a look at all others that wait."""
    for start in range(0, 6000, 500):
        deliveries.keep(
            [arrival(f"{number}", subject=f"thread:2:{number}") for number in range(start, start + 500)], settle=SETTLE
        )
    waits = "FROM delivery WHERE subject = 'thread:2:7' AND state = 'waiting' ORDER BY id LIMIT"
    with database.write() as session:
        connection = session.connection()
        for query in (f"SELECT * {waits} 500", f"SELECT received_at {waits} 1"):
            if database.postgres:
                connection.execute(text("ANALYZE delivery"))
                plan = "\n".join(connection.scalars(text(f"EXPLAIN {query}")))
                assert re.search(r"Index Cond: .*subject.*thread:2:7.*state", plan)
                assert "Seq Scan" not in plan
            else:
                plan = "\n".join(row[3] for row in connection.execute(text(f"EXPLAIN QUERY PLAN {query}")))
                assert plan == "SEARCH delivery USING INDEX ix_delivery_subject_state (subject=? AND state=?)"
