"""Ladder 4: each way in which GitHub fails in mid-walk. Work waits, nothing is lost, and nothing comes twice."""

from typing import Any

import pytest
from plugins_github import REPOSITORY
from walk_by_hand import BOT, REVIEW, STRICT, WIDGETS, Desk, small, soon, unread

PULLS = "/repos/acme/widgets/pulls/*"
PUT_ON = "/repos/acme/widgets/issues/*/labels"


def labelled_once(desk: Desk, number: int) -> bool:
    """Tell whether the label stands, and was put on once."""
    return desk.history(number) == [("labeled", REVIEW, BOT)]


WAITS: list[tuple[str, str, dict[str, Any]]] = [
    ("primary limit", PULLS, {"shape": "primary_limit", "retry_after": 90, "count": 3}),
    ("403 with seconds", PULLS, {"shape": "secondary_limit", "retry_after": 90}),
    ("429 with a date", PULLS, {"shape": "secondary_limit", "status": 429, "retry_after": 90, "retry_form": "date"}),
    ("429 with nothing", PULLS, {"shape": "secondary_limit", "status": 429, "retry_form": "absent"}),
    ("limit on the write", PUT_ON, {"shape": "secondary_limit", "retry_after": 90}),
    ("502 on the write", PUT_ON, {"shape": "server_error", "count": 4}),
    ("502 on everything", "*", {"shape": "server_error", "count": 8}),
    ("503 page", "*", {"shape": "not_json", "status": 503, "count": 8}),
    ("cut before", PUT_ON, {"shape": "cut", "count": 4}),
    ("cut after", PUT_ON, {"shape": "cut", "when": "after", "count": 4}),
    ("cut in the answer", PUT_ON, {"shape": "cut_body", "when": "after", "count": 4}),
    ("not JSON", PUT_ON, {"shape": "not_json", "when": "after", "count": 4}),
    ("token refused", "/app/installations/*", {"shape": "server_error", "count": 4}),
    ("suspended", PUT_ON, {"shape": "suspended"}),
]


@pytest.mark.parametrize(("path", "fault"), [one[1:] for one in WAITS], ids=[one[0] for one in WAITS])
def test_work_waits_for_github_and_the_label_is_put_on_once(desk: Desk, path: str, fault: dict[str, Any]) -> None:
    desk.seed(STRICT)
    desk.standin.fail(path=path, **fault)
    number = desk.opened("newbie", **unread())
    soon(desk, lambda: labelled_once(desk, number) and desk.deliveries.backlog().subjects == 0, within=7 * 3600)
    desk.standin.heal()
    assert [row.state for row in desk.deliveries.listed() if row.state != "done"] == []
    assert desk.store.wanted(REPOSITORY, number) == []


def test_what_waits_is_told_with_its_reason_and_nothing_is_asked_before_its_time(desk: Desk) -> None:
    desk.seed(STRICT)
    desk.standin.fail("secondary_limit", path=PULLS, retry_after=600, count=None)
    number = desk.opened("newbie", **unread())
    health = desk.queue().health
    assert health.waiting == 1
    assert [trouble.subjects for trouble in health.troubles] == [1]
    assert "limit" in health.troubles[0].reason
    desk.spent()
    desk.wait(500)
    assert sum(desk.spent().values()) == 0
    desk.standin.heal()
    desk.wait(200)
    assert labelled_once(desk, number)
    assert desk.queue().health.troubles == ()


def test_github_away_for_an_hour(desk: Desk) -> None:
    desk.seed(STRICT)
    early = desk.open("newbie", **unread())
    late = desk.open("newbie2", **unread())
    heard = desk.hear()
    desk.standin.stop()
    desk.keep(heard)
    for _ in range(30):
        desk.judge_due()
        desk.later += 120
    assert {row.state for row in desk.deliveries.listed()} == {"waiting"}
    desk.standin.start()
    soon(desk, lambda: labelled_once(desk, early) and labelled_once(desk, late))


def test_a_token_that_ends_in_the_middle_is_renewed(desk: Desk) -> None:
    desk.seed(STRICT)
    desk.standin.fail("unauthorized", path=PULLS)
    desk.standin.fail("unauthorized", path=PUT_ON)
    number = desk.opened("newbie", **unread())
    assert labelled_once(desk, number)
    assert desk.asked["token"] >= 2


@pytest.mark.parametrize("shape", ["moved_301", "moved_307"])
def test_a_move_is_followed_with_verb_and_body(desk: Desk, shape: str) -> None:
    desk.seed(STRICT)
    desk.standin.act("open_issue", "ann", title="It breaks")
    for path in (PULLS, PUT_ON):
        tail = "/issues/3/labels" if path == PUT_ON else "/pulls/3/files"
        desk.standin.fail(shape, path=path, location=f"{desk.standin.url}/repositories/{REPOSITORY}{tail}")
    number = desk.opened("newbie", **unread())
    assert number == 3
    assert labelled_once(desk, number)
    assert desk.thread(number).files is not None


# --- what waiting does not mend ------------------------------------------------------


def test_a_missing_permission_is_shown_and_the_other_changes_are_made(desk: Desk) -> None:
    """And it costs nothing more until a day has passed; the verdict stays what it is."""
    desk.seed("mode: comment\nsensitivity: strict\n")
    desk.standin.fail("forbidden", path=PUT_ON, count=None)
    number = desk.opened("newbie", **unread())
    assert desk.labels(number) == []
    assert len(desk.own_comments(number)) == 1
    assert desk.lane(number) == "likely_unreviewed"
    [refusal] = desk.queue().health.refusals
    assert refusal.startswith(f"{WIDGETS}: ")
    assert "permission" in refusal or "not accessible" in refusal
    desk.spent()
    for _ in range(4):
        desk.standin.act("comment", "ann", number=number, body="I see this too.")
        desk.settle()
    assert sum(desk.spent().values()) == 0
    assert desk.lane(number) == "likely_unreviewed"  # a label that never went on did not flip
    desk.standin.heal()
    desk.later += 86400
    desk.standin.act("comment", "ann", number=number, body="Still.")
    desk.settle()
    assert desk.labels(number) == [REVIEW]
    assert len(desk.own_comments(number)) == 1
    assert desk.queue().health.refusals == ()


def test_a_label_that_may_not_be_taken_off_is_still_ours(desk: Desk) -> None:
    desk.seed(STRICT)
    number = desk.opened("newbie", **unread())
    desk.standin.fail("forbidden", method="DELETE")
    desk.standin.act("push", "newbie", number=number, changed=small()["pull"]["files"])
    desk.standin.act("edit", "newbie", number=number, body=small()["body"])
    desk.settle()
    assert desk.labels(number) == [REVIEW]
    desk.later += 86400
    desk.standin.act("comment", "ann", number=number, body="Still.")
    desk.settle()
    assert desk.labels(number) == []


@pytest.mark.parametrize("shape", ["not_found", "gone", "too_large"])
def test_a_label_that_github_does_not_take_ends_there(desk: Desk, shape: str) -> None:
    desk.seed(STRICT)
    desk.standin.fail(shape, path=PUT_ON, count=None)
    number = desk.opened("newbie", **unread())
    assert desk.lane(number) == "likely_unreviewed"
    assert desk.deliveries.backlog().subjects == 0
    assert len(desk.queue().health.refusals) == 1


def test_a_label_that_somebody_made_at_the_same_moment_is_used(desk: Desk) -> None:
    """GitHub's answer is 422 already_exists: the lookup had not seen it yet."""
    desk.seed(STRICT, labels=[{"name": REVIEW.upper(), "color": "ffffff"}])
    desk.standin.fail("not_found", path="/repos/acme/widgets/labels/*", method="GET")
    number = desk.opened("newbie", **unread())
    assert desk.labels(number) == [REVIEW.upper()]


def test_a_pull_request_that_was_deleted_meanwhile_leaves_no_trouble(desk: Desk) -> None:
    desk.seed(STRICT)
    desk.standin.fail("not_found", path="/repos/acme/widgets/*", count=None, skip=1)
    number = desk.opened("newbie", **unread())
    assert desk.deliveries.backlog().subjects == 0
    assert desk.deliveries.backlog().failed == 0
    assert desk.lane(number) != "likely_unreviewed"


def test_a_suspended_installation_reads_its_policy_when_it_is_back(desk: Desk) -> None:
    desk.seed(STRICT)
    desk.standin.fail("suspended", path="/app/installations/*", count=None)
    number = desk.opened("newbie", **unread())
    assert desk.written() == []
    desk.standin.heal()
    soon(desk, lambda: labelled_once(desk, number), within=2 * 3600)


@pytest.mark.parametrize("shape", ["graphql_errors", "server_error"])
def test_an_author_who_cannot_be_read_is_unknown(desk: Desk, shape: str) -> None:
    desk.seed(STRICT)
    desk.standin.fail(shape, path="/graphql", count=None)
    number = desk.opened("newbie", **unread())
    assert desk.thread(number).merged_here is None
    assert labelled_once(desk, number)


def test_a_graphql_limit_is_waited_for(desk: Desk) -> None:
    desk.seed(STRICT)
    desk.standin.fail("graphql_limit", path="/graphql")
    number = desk.opened("newbie", **unread())
    assert desk.labels(number) == []
    soon(desk, lambda: labelled_once(desk, number))
    assert desk.thread(number).merged_here == 0


@pytest.mark.parametrize("part", ["files", "commits", "timeline"])
def test_a_part_that_cannot_be_read_is_unknown_and_the_rest_is_judged(desk: Desk, part: str) -> None:
    desk.seed(STRICT)
    desk.standin.fail("not_found", path=f"*/{part}", count=None)
    number = desk.opened("newbie", **unread())
    row = desk.thread(number)
    assert (row.files is None, row.commits is None) == (part == "files", part == "commits")
    assert row.lane == ("unsure" if part == "files" else "likely_unreviewed")


def test_slow_answers_are_waited_for(desk: Desk) -> None:
    desk.seed(STRICT)
    desk.standin.fail("slow", path=PULLS, seconds=0.3, count=2)
    assert labelled_once(desk, desk.opened("newbie", **unread()))
