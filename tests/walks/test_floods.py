"""A flood: what one person sends in minutes marks the threads that it hit, and nobody else."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from plugins_github import REPOSITORY
from walk_by_hand import BOT, BURST, LEASE, WIDGETS, Desk, small

from models.recorded.database import DatabaseUnavailable
from models.recorded.deliveries import Claim

POLICY = "mode: label\n"
SEEN = "I can reproduce this, please assign number {} to me."


def threads(desk: Desk, pulls: int, issues: int) -> list[int]:
    """Let others open pull requests and issues; returns their numbers."""
    numbers = [desk.open(f"owner{one}", **small()) for one in range(pulls)]
    numbers += [desk.standin.act("open_issue", f"asker{one}", title="It breaks")["number"] for one in range(issues)]
    desk.settle()
    return numbers


def flood(desk: Desk, actor: str, numbers: Iterable[int], *, apart: float, ago: float = 900.0, every: int = 7) -> None:
    """Let somebody comment, ``apart`` seconds from one to the next; what came is judged after every few."""
    begin = datetime.now(UTC) - timedelta(seconds=ago)
    for turn, number in enumerate(numbers):
        at = (begin + timedelta(seconds=turn * apart)).isoformat()
        desk.standin.act("comment", actor, number=number, body=SEEN.format(number), at=at)
        if turn % every == every - 1:
            desk.settle()
    desk.settle()


def test_forty_comments_in_twelve_minutes_mark_every_thread_once(desk: Desk) -> None:
    """Also those that were hit before it was a flood, and those that the fullest ten minutes leave out."""
    desk.seed(POLICY)
    numbers = threads(desk, 10, 10)
    lanes = {number: desk.lane(number) for number in numbers[:10]}
    flood(desk, "flooder", [*numbers, *numbers], apart=18, every=14)
    for number in numbers:
        assert desk.history(number) == [("labeled", BURST, BOT)], number
    assert {number: desk.lane(number) for number in numbers[:10]} == lanes  # says nothing about who opened them
    verdict = desk.store.last_verdict(REPOSITORY, person_id=_id(desk, "flooder"))
    assert verdict is not None
    assert verdict.lane == "burst"


def test_a_flood_whose_recorder_could_not_finish_still_marks_every_thread(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database was away when the job ended, and the next comment moved the time that the subject is due."""
    desk.seed(POLICY + "burst: {events: 6, minutes: 10}\n")
    numbers = threads(desk, 4, 4)
    finish = desk.deliveries.finish
    failed: list[str] = []

    def fail_once(claim: Claim, *given: Any, **named: Any) -> Any:
        verdict = desk.store.last_verdict(REPOSITORY, person_id=_id(desk, "flooder"))
        if claim.subject.startswith("person:") and verdict is not None and verdict.lane == "burst" and not failed:
            failed.append(claim.subject)
            raise DatabaseUnavailable("away")
        return finish(claim, *given, **named)

    monkeypatch.setattr(desk.deliveries, "finish", fail_once)
    with pytest.raises(DatabaseUnavailable):
        flood(desk, "flooder", numbers[:-1], apart=18, every=100)
    desk.deliveries.nudge([(failed[0], None)], desk.clock(), desk.clock() + 1.0)
    desk.later += 2 * LEASE
    flood(desk, "flooder", numbers[-1:], apart=1, ago=700)
    assert [BURST in desk.labels(number) for number in numbers] == [True] * 8


def test_the_last_threads_of_a_flood_are_marked_too(desk: Desk) -> None:
    """Twelve threads, one comment each, in three minutes: the fullest two hold nine of them."""
    desk.seed(POLICY + "burst: {events: 8, minutes: 2}\n")
    numbers = threads(desk, 0, 12)
    flood(desk, "flooder", numbers, apart=15, every=4)
    assert [desk.labels(number) for number in numbers] == [[BURST]] * 12
    assert all(len(desk.history(number)) == 1 for number in numbers)


def test_the_flooders_own_pull_request_is_a_burst(desk: Desk) -> None:
    desk.seed(POLICY + "burst: {events: 6, minutes: 10}\n")
    numbers = threads(desk, 0, 5)
    at = (datetime.now(UTC) - timedelta(seconds=880)).isoformat()
    own = desk.opened("flooder", **small(), at=at)
    flood(desk, "flooder", numbers, apart=18)
    desk.standin.act("comment", "flooder", number=own, body="Please review.")
    desk.settle()
    assert (desk.lane(own), desk.labels(own)) == ("burst", [BURST])


def test_what_an_exempt_person_or_an_app_says_is_never_a_flood(desk: Desk) -> None:
    desk.seed(POLICY)
    numbers = threads(desk, 2, 2)
    for actor in ("max", "helper[bot]"):  # a member with a role here, and an App that nobody listed
        flood(desk, actor, numbers * 10, apart=18, every=20)
    assert [desk.history(number) for number in numbers] == [[]] * 4
    assert desk.written() == []


def test_merged_work_does_not_excuse_a_flood(desk: Desk) -> None:
    desk.seed(POLICY + "exempt: {merged_here: 1}\nburst: {events: 6, minutes: 10}\n")
    merged = desk.opened("veteran", **small())
    desk.standin.act("merge", "max", number=merged)
    numbers = threads(desk, 0, 6)
    flood(desk, "veteran", numbers, apart=18)
    assert [desk.labels(number) for number in numbers] == [[BURST]] * 6


def test_one_review_with_many_remarks_is_no_flood(desk: Desk) -> None:
    desk.seed(POLICY)
    [number] = threads(desk, 1, 0)
    begin = datetime.now(UTC) - timedelta(minutes=10)
    for turn in range(30):
        at = (begin + timedelta(seconds=turn)).isoformat()
        desk.standin.act("review_comment", "reader", number=number, body=f"Line {turn}?", path="widgets/core.py", at=at)
    desk.standin.act(
        "review", "reader", number=number, body="Some remarks.", at=(begin + timedelta(minutes=1)).isoformat()
    )
    desk.settle()
    assert desk.history(number) == []


def test_an_ordinary_busy_person_is_no_flood(desk: Desk) -> None:
    desk.seed(POLICY)
    numbers = threads(desk, 4, 4)
    flood(desk, "busy", numbers * 2, apart=40)
    assert [desk.history(number) for number in numbers] == [[]] * 8


def test_a_burst_label_that_a_person_took_off_stays_off(desk: Desk) -> None:
    desk.seed(POLICY + "burst: {events: 4, minutes: 10, action: lock}\n")
    numbers = threads(desk, 0, 2)
    flood(desk, "flooder", numbers * 2, apart=18)
    desk.standin.act("unlabel", "max", number=numbers[0], label=BURST)
    desk.standin.act("unlock", "max", number=numbers[0])
    desk.settle()
    flood(desk, "flooder", numbers * 2, apart=18, ago=300)
    assert desk.history(numbers[0]) == [("labeled", BURST, BOT), ("unlabeled", BURST, "max")]
    assert desk.standin.thread(WIDGETS, numbers[0])["locked"] is False
    assert desk.labels(numbers[1]) == [BURST]


# --- what the policy does about it --------------------------------------------------


def acted(desk: Desk, action: str, **more: Any) -> list[int]:
    """Flood two issues under an action; returns their numbers."""
    desk.seed(POLICY + f"burst: {{events: 6, minutes: 10, action: {action}}}\n", **more)
    numbers = threads(desk, 0, 2)
    for number in numbers:
        desk.standin.act("comment", "calm", number=number, body="I see this as well.")
    flood(desk, "flooder", numbers * 5, apart=18, every=1)
    return numbers


def test_action_none_only_places(desk: Desk) -> None:
    acted(desk, "none")
    assert desk.written() == []
    verdict = desk.store.last_verdict(REPOSITORY, person_id=_id(desk, "flooder"))
    assert verdict is not None
    assert verdict.lane == "burst"


def test_action_minimize_collapses_the_floods_comments_and_only_those(desk: Desk) -> None:
    """Also what comes after the label stands."""
    for number in acted(desk, "minimize"):
        comments = desk.standin.thread(WIDGETS, number)["comments"]
        assert {one["author"]: bool(one["minimized"]) for one in comments} == {"calm": False, "flooder": True}
        assert all(one["minimized"] for one in comments if one["author"] == "flooder")
        assert desk.labels(number) == [BURST]
    asked = [one for one in desk.standin.requests("/graphql") if one["method"] == "POST"]
    assert len(asked) <= 10 + 4  # each once, and the queries on authors


def test_action_lock_locks_once_and_leaves_an_unlocked_thread_open(desk: Desk) -> None:
    first, second = acted(desk, "lock")
    assert [desk.standin.thread(WIDGETS, one)["locked"] for one in (first, second)] == [True, True]
    desk.standin.act("unlock", "max", number=first)
    desk.settle()
    desk.standin.act("comment", "calm", number=first, body="Thank you.")
    desk.settle()
    assert desk.standin.thread(WIDGETS, first)["locked"] is False
    assert desk.standin.thread(WIDGETS, second)["locked"] is True


@pytest.mark.parametrize("mode", ["observe", "label"])
def test_without_a_name_no_label_is_put_on(desk: Desk, mode: str) -> None:
    desk.seed(f"mode: {mode}\nlabels: {{burst: null}}\nburst: {{events: 6, minutes: 10, action: minimize}}\n")
    numbers = threads(desk, 0, 2)
    flood(desk, "flooder", numbers * 4, apart=18)
    assert [desk.labels(number) for number in numbers] == [[], []]
    collapsed = [bool(one["minimized"]) for one in desk.standin.thread(WIDGETS, numbers[0])["comments"]]
    assert collapsed == [mode == "label"] * 4


def _id(desk: Desk, login: str) -> int:
    found = next(one["id"] for one in desk.standin.state()["people"] if one["login"] == login)
    return int(found)
