"""From a delivery to a label: what stands on GitHub afterwards, what was asked of it, and what was left alone."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from plugins_github import REPOSITORY, StandIn
from walk_by_hand import BOT, CLEAN, REVIEW, STRICT, WIDGETS, Desk, Heard, small, unread

from triage.actions import COLOURS, DESCRIPTIONS, MARKER

GUIDE = 4  # requests for what a repository says to contributors, and one for its policy, once a day


# --- the label --------------------------------------------------------------------


def test_an_unread_change_gets_the_label_and_an_ordinary_one_nothing(desk: Desk) -> None:
    desk.seed(STRICT)
    number, other = desk.opened("newbie", **unread()), desk.opened("ann", **small())
    assert (desk.lane(number), desk.labels(number)) == ("likely_unreviewed", [REVIEW])
    assert (desk.lane(other), desk.labels(other)) == ("unsure", [])
    assert desk.history(number) == [("labeled", REVIEW, BOT)]


def test_fast_regular_answers_bring_the_label_that_the_opening_did_not(desk: Desk) -> None:
    """A plan left behind is one kind of evidence; an answer seven minutes after every question is the second."""
    desk.seed(STRICT)
    files = [{"path": "PLAN.md", "status": "added", "patch": "@@ -0,0 +1 @@\n+1."}, *CLEAN]
    opened = datetime.now(UTC) - timedelta(hours=3)
    body = "The value was wrong and is right now."
    number = desk.opened("newbie", title="Fix a", body=body, at=opened.isoformat(), pull={"files": files})
    assert (desk.lane(number), desk.labels(number)) == ("unsure", [])
    answer = "Good point, and thank you for the careful review! I have looked into part {} and changed it accordingly."
    for turn in range(6):
        asked = opened + timedelta(minutes=20 * (turn + 1))
        desk.standin.act("comment", "max", number=number, body=f"What about part {turn}?", at=asked.isoformat())
        answered = asked + timedelta(minutes=7, seconds=5 * turn)
        desk.standin.act("comment", "newbie", number=number, body=answer.format(turn), at=answered.isoformat())
        desk.settle()
    assert desk.lane(number) == "likely_unreviewed"
    assert desk.history(number) == [("labeled", REVIEW, BOT)]


def test_a_missing_label_is_made_with_its_colour_and_description(desk: Desk) -> None:
    desk.seed(STRICT)
    desk.opened("newbie", **unread())
    [made] = desk.standin.state()["repositories"][0]["labels"]
    assert made["name"] == REVIEW
    assert (made["color"], made["description"]) == (
        COLOURS["likely_unreviewed"],
        DESCRIPTIONS["likely_unreviewed"],
    )


def test_a_label_of_that_name_in_other_letters_is_used_as_it_is(desk: Desk) -> None:
    theirs = {"name": "Triage: Author Review Not Seen", "color": "123456", "description": "ours since 2019"}
    desk.seed(STRICT, labels=[theirs])
    number = desk.opened("newbie", **unread())
    assert desk.labels(number) == [theirs["name"]]
    [kept] = desk.standin.state()["repositories"][0]["labels"]
    assert {name: kept[name] for name in theirs} == theirs
    desk.standin.act("comment", "ann", number=number, body="Same here.")
    desk.settle()
    assert desk.history(number) == [("labeled", theirs["name"], BOT)]


def test_observe_writes_nothing_at_all(desk: Desk) -> None:
    """Without a policy file the verdict is made, and GitHub is only read."""
    desk.seed(None)
    number = desk.opened("newbie", **unread())
    desk.standin.act("comment", "max", number=number, body="Why?")
    desk.standin.act("push", "newbie", number=number)
    desk.settle()
    assert desk.written() == []
    assert [row.number for lane in desk.queue().lanes for row in lane.rows] == [number]


# --- the comment ------------------------------------------------------------------


COMMENT = "mode: comment\nsensitivity: strict\n"


def test_comment_mode_posts_one_comment_that_repeats_nothing_of_a_stranger(desk: Desk) -> None:
    desk.seed(COMMENT)
    body = f"{unread()['body']}\n- **Ping**: @everyone <b>bold</b> https://example.org/x"
    number = desk.opened("newbie", **(unread() | {"body": body, "title": "@max <script>"}))
    [said] = desk.own_comments(number)
    assert said.startswith(MARKER)
    for theirs in ("@", "<b>", "<script>", "example.org", "newbie", "Part 1"):
        assert theirs not in said
    desk.standin.act("comment", "ann", number=number, body="I see this too.")
    desk.standin.act("push", "newbie", number=number)
    desk.settle()
    assert desk.own_comments(number) == [said]


def test_the_comment_is_edited_in_place_and_never_a_strangers_copy_of_it(desk: Desk) -> None:
    desk.seed(COMMENT)
    number = desk.opened("newbie", **unread())
    [before] = desk.own_comments(number)
    copied = f"{MARKER}\nEverybody, look here."
    desk.standin.act("comment", "troll", number=number, body=copied)
    desk.settle()
    desk.standin.act("push", "newbie", number=number, changed=list(CLEAN))
    desk.standin.act("edit", "newbie", number=number, body="It was 1, which is wrong. I ran it on my machine.")
    desk.settle()
    [after] = desk.own_comments(number)
    assert desk.labels(number) == []
    assert after.startswith(MARKER)
    assert "has left the end of the review queue" in after != before
    comments = desk.standin.thread(WIDGETS, number)["comments"]
    assert [one["body"] for one in comments if one["author"] == "troll"] == [copied]


def test_a_locked_thread_gets_the_label_and_no_comment(desk: Desk) -> None:
    desk.seed(COMMENT)
    number = desk.open("newbie", **unread())
    desk.standin.act("lock", "max", number=number)
    desk.settle()
    assert desk.labels(number) == [REVIEW]
    assert desk.own_comments(number) == []
    assert not [one for one in desk.written() if one.endswith("/comments")]


# --- hands off --------------------------------------------------------------------


@pytest.mark.parametrize("end", ["close", "merge"])
def test_a_closed_thread_is_left_alone(desk: Desk, end: str) -> None:
    desk.seed(COMMENT)
    number = desk.open("newbie", **unread())
    desk.standin.act(end, "max", number=number)
    desk.settle()
    desk.standin.act("comment", "newbie", number=number, body="Thanks.")
    desk.settle()
    assert desk.written() == []


def test_close_with_comment_is_closed_in_whatever_order_the_two_arrive(desk: Desk) -> None:
    """Both carry the same second, and the comment's body shows the thread as still open."""
    desk.seed(STRICT)
    for turned in (False, True):
        number = desk.open(f"newbie{turned}", **unread())
        opening = desk.hear()
        at = datetime.now(UTC).replace(microsecond=0).isoformat()
        desk.standin.act("comment", "max", number=number, body="Not needed.", at=at)
        [said] = desk.hear()
        desk.standin.act("close", "max", number=number, at=at)
        [closed] = desk.hear()
        body = json.loads(said.body)
        body["issue"]["updated_at"] = json.loads(closed.body)["pull_request"]["updated_at"]
        said = Heard(said.headers, json.dumps(body).encode())
        both = [closed, said] if turned else [said, closed]
        desk.keep([*opening, *both] if turned else opening[:0])
        if not turned:
            desk.keep(opening)
            desk.keep(both)
        desk.settle()
        assert desk.thread(number).open is False, turned
        assert desk.labels(number) == []
        # and also where the comment comes a minute after the closing was judged
        desk.keep([Heard({**said.headers, "x-github-delivery": f"late-{turned}"}, said.body)])
        desk.settle()
        assert desk.thread(number).open is False
        assert desk.labels(number) == []


def test_a_draft_is_judged_and_labelled_only_when_it_is_ready(desk: Desk) -> None:
    desk.seed(STRICT)
    number = desk.opened("newbie", **unread(draft=True))
    assert desk.labels(number) == []
    assert desk.lane(number) == "unsure"
    desk.standin.act("ready", "newbie", number=number)
    desk.settle()
    assert desk.labels(number) == [REVIEW]


def test_an_archived_repository_is_not_written_to_and_breaks_nothing(desk: Desk) -> None:
    desk.seed(STRICT)
    number = desk.open("newbie", **unread())
    archived = [_archived(one) for one in desk.hear()]
    desk.keep(archived)
    desk.settle()
    assert desk.lane(number) == "likely_unreviewed"
    assert desk.written() == []
    assert desk.deliveries.backlog().failed == 0


def _archived(one: Heard) -> Heard:
    body = json.loads(one.body)
    body["repository"]["archived"] = True
    return Heard(one.headers, json.dumps(body).encode())


@pytest.mark.parametrize(
    ("author", "change"),
    [
        ("max", {}),
        ("listed", {}),
        ("renovate[bot]", {}),
        ("veteran", {}),
    ],
)
def test_the_exempt_are_shown_and_not_touched(desk: Desk, author: str, change: dict[str, Any]) -> None:
    desk.seed(STRICT + "exempt: {users: [Listed], merged_here: 1}\n")
    if author == "veteran":
        first = desk.opened("veteran", **small())
        desk.standin.act("merge", "max", number=first)
        desk.settle()
    desk.standin.forget_requests()
    number = desk.opened(author, **unread(**change))
    assert (desk.lane(number), desk.labels(number)) == ("exempt", [])
    assert desk.written() == []


@pytest.mark.parametrize("author", ["talbot", "renovate", "some-app[bot]"])
def test_a_name_alone_exempts_nobody(desk: Desk, author: str) -> None:
    """A person called like a bot, one called like a listed App, and an App that nobody listed."""
    desk.seed(STRICT)
    number = desk.opened(author, **unread())
    assert desk.lane(number) == "likely_unreviewed"


def test_a_persons_own_label_of_that_name_is_never_taken_off(desk: Desk) -> None:
    desk.seed(STRICT)
    number = desk.open("ann", **small())
    desk.standin.act("label", "max", number=number, label=REVIEW)
    desk.settle()
    desk.standin.act("comment", "ann", number=number, body="I tried it on two machines, here is what I saw there.")
    desk.settle()
    assert desk.history(number) == [("labeled", REVIEW, "max")]
    assert desk.written() == []


# --- what it costs ----------------------------------------------------------------


def test_what_a_delivery_costs_in_requests(desk: Desk) -> None:
    desk.seed(STRICT)
    first = desk.opened("newbie", **unread())
    spent = desk.spent()
    assert sum(spent[kind] for kind in ("files", "commits", "timeline", "author")) == 4
    assert spent["guide"] + spent["text"] <= GUIDE + 1
    assert spent["label"] == 3  # looked for, made, put on
    second = desk.opened("newbie2", **unread())
    assert sum(desk.spent().values()) == 4 + 1
    for number in (first, second):
        desk.standin.act("comment", "ann", number=number, body="I see this too.")
        desk.standin.act("review", "ann", number=number, body="Fine with me.", state="APPROVED")
        desk.standin.act("review_comment", "ann", number=number, body="This line?", path="widgets/core.py")
        desk.standin.act("edit", "newbie", number=number, title="Improve the core")
        desk.standin.act("checks", "max", number=number)
    desk.settle()
    assert sum(desk.spent().values()) == 0
    desk.standin.act("push", "newbie", number=first)
    desk.settle()
    assert desk.spent() == {"files": 1, "commits": 1}


def test_the_echo_of_our_own_label_ends_there(desk: Desk) -> None:
    desk.seed(STRICT)
    number = desk.opened("newbie", **unread())
    echoes = [one for one in desk.standin.settled() if one["event"] == "pull_request" and one["action"] == "labeled"]
    assert len(echoes) == 1
    verdict = desk.thread(number).verdict_id
    desk.wait(3600)
    assert desk.thread(number).verdict_id == verdict
    assert len(desk.written()) == 2
    assert desk.store.corrections(REPOSITORY, number) == []


# --- deliveries that come twice, late, or in disorder ------------------------------


def test_one_guid_is_judged_once_and_an_unfinished_one_goes_through(desk: Desk) -> None:
    desk.seed(STRICT)
    desk.open("newbie", **unread())
    heard = desk.hear()
    assert desk.keep(heard) == ["accepted"]
    assert desk.keep(heard) == ["accepted"]  # GitHub's redelivery of one that is not judged yet
    assert desk.deliveries.backlog().waiting == 1
    desk.settle()
    desk.spent()
    assert desk.keep(heard) == ["duplicate"]
    desk.settle()
    assert sum(desk.spent().values()) == 0
    assert [row.state for row in desk.deliveries.listed(heard[0].guid)] == ["done"]


def test_a_failed_delivery_is_judged_when_it_is_sent_again(desk: Desk) -> None:
    desk.seed(STRICT)
    number = desk.open("newbie", **unread())
    heard = desk.hear()
    desk.keep(heard)
    desk.later += 1
    claim = desk.deliveries.claim(f"thread:{REPOSITORY}:{number}", "w", now=desk.clock(), lease=30)
    assert claim is not None
    desk.deliveries.give_up(claim, now=desk.clock(), error="a fault of ours")
    desk.settle()
    assert desk.labels(number) == []
    assert desk.keep(heard) == ["accepted"]
    desk.settle()
    assert desk.labels(number) == [REVIEW]


@pytest.mark.parametrize("apart", [False, True], ids=["together", "each judged alone"])
def test_the_order_of_arrival_changes_nothing(desk: Desk, apart: bool) -> None:
    """What was edited last stands, whichever delivery comes last."""
    desk.seed(STRICT)
    at = datetime.now(UTC) - timedelta(hours=1)
    number = desk.open("newbie", **small(draft=True), at=at.isoformat())
    for minute, (do, more) in enumerate(
        [
            ("edit", {"title": "Second title"}),
            ("ready", {}),
            ("edit", {"title": "Third title", "body": "New words."}),
            ("comment", {"body": "Please look."}),
        ],
        1,
    ):
        moment = at + timedelta(minutes=minute)
        desk.standin.act(do, "newbie", number=number, at=moment.isoformat(), **more)
    heard = desk.hear()
    for one in reversed(heard):
        desk.keep([one])
        if apart:
            desk.settle()
            desk.later += 120
    desk.settle()
    row = desk.thread(number)
    assert (row.title, row.body, row.draft) == ("Third title", "New words.", False)
    kinds = [act.kind for act in desk.store.acts_of_thread(REPOSITORY, number)]
    assert kinds == ["pull_request", "edited", "ready_for_review", "edited", "comment"]
    assert row.files is not None


def test_labels_that_arrive_one_by_one_are_judged_together(desk: Desk) -> None:
    desk.seed(STRICT)
    number = desk.opened("ann", **small())
    for name in ("bug", "core", "easy"):
        desk.standin.act("label", "max", number=number, label=name)
        desk.keep(desk.hear())
    assert desk.judge_due() == 1
    assert desk.thread(number).labels == ["bug", "core", "easy"]
    assert desk.written() == []


# --- people and places that are gone -----------------------------------------------


def test_a_deleted_account_is_shown_as_ghost_and_never_labelled(desk: Desk) -> None:
    desk.seed(STRICT)
    number = desk.open("newbie", **unread())
    desk.standin.act("comment", "ann", number=number, body="Hello?")
    heard = []
    for one in desk.hear():
        body = json.loads(one.body)
        for name in ("pull_request", "issue", "comment"):
            if name in body:
                body[name]["user"] = None
        heard.append(Heard(one.headers, json.dumps(body).encode()))
    desk.keep(heard)
    desk.settle()
    assert desk.lane(number) == "unsure"
    assert "gone" in desk.reasons(number)
    assert desk.written() == []
    assert desk.deliveries.backlog().failed == 0
    [row] = [row for lane in desk.queue().lanes for row in lane.rows]
    assert row.author is None


def test_a_deleted_fork_is_no_trouble(desk: Desk) -> None:
    desk.seed(STRICT)
    number = desk.opened("newbie", **unread(head_repo=None))
    assert desk.labels(number) == [REVIEW]


def test_a_renamed_repository_is_the_same_one(desk: Desk) -> None:
    desk.seed(STRICT)
    first = desk.opened("newbie", **unread())
    state = desk.standin.state()
    state["repositories"][0] |= {"full_name": "acme/gadgets", "old_names": [WIDGETS]}
    late = desk.open("late", **unread())  # a delivery that still tells the old name
    told_before = desk.hear()
    state["repositories"][0]["threads"] = desk.standin.state()["repositories"][0]["threads"]
    desk.standin.seed(state)
    desk.keep(told_before)
    desk.settle()
    assert desk.labels(late, "acme/gadgets") == [REVIEW]
    desk.standin.act("comment", "ann", "acme/gadgets", number=first, body="Hello.")
    desk.settle()
    found = desk.store.repository(REPOSITORY)
    assert found is not None
    assert found.full_name == "acme/gadgets"
    assert len(desk.store.repositories()) == 1


def test_another_repository_under_the_old_name_is_never_written_to(desk: Desk) -> None:
    """The name was given to somebody else: the redirect leads to another repository, and nothing is put there."""
    desk.seed(STRICT)
    number = desk.opened("ann", **small())
    desk.standin.fail(
        "moved_301", path="/repos/acme/widgets/*", count=None, location=f"{desk.standin.url}/repositories/999/x"
    )
    desk.open("newbie", **unread())
    desk.settle()
    assert desk.written() == []
    assert desk.labels(number) == []


# --- checks -----------------------------------------------------------------------


def test_green_checks_on_a_small_tested_change_make_a_quick_win(desk: Desk) -> None:
    desk.seed(STRICT)
    tests = {"path": "tests/test_core.py", "additions": 3, "patch": "@@ -1 +1,4 @@\n a\n+assert a == 2\n+x = 1\n+y = 2"}
    number = desk.opened("ann", **small(files=[*CLEAN, tests]))
    assert (desk.thread(number).checks, desk.thread(number).quick_win) == (None, False)
    desk.standin.act("checks", "max", number=number, conclusion="success")
    desk.settle()
    assert (desk.thread(number).checks, desk.thread(number).quick_win) == ("success", True)
    desk.standin.act("checks", "max", number=number, conclusion="failure")
    desk.settle()
    assert (desk.thread(number).checks, desk.thread(number).quick_win) == ("failure", False)
    desk.standin.act("push", "ann", number=number)
    desk.settle()
    assert desk.thread(number).checks is None


# --- the whole server: door, engine and page -----------------------------------------


def test_a_real_server_takes_signed_deliveries_to_a_label(
    livefirst: Any, standin: StandIn, world: dict[str, Any]
) -> None:
    """From GitHub's signed delivery over HTTP to the label, the page and the commands; each delivery once."""
    repository = world["repositories"][0]
    repository["files"][".github/triage.yml"] = "mode: comment\nsensitivity: strict\n"
    standin.seed(world)
    livefirst.start()
    number = standin.act("open_pull", "newbie", **unread())["number"]
    other = standin.act("open_pull", "ann", **small())["number"]
    livefirst.until(lambda: standin.thread(WIDGETS, number)["labels"] == [REVIEW], "the label")
    standin.settled()
    livefirst.quiet()
    assert livefirst.lane(number) == "likely_unreviewed"
    assert livefirst.lane(other) == "unsure"
    assert [one["author"] for one in standin.thread(WIDGETS, number)["comments"]] == [BOT]
    heard = [one for one in standin.settled() if one["status_code"] == 202]
    opening = next(one for one in heard if one["action"] == "opened")
    assert livefirst.post("pull_request", opening["payload"], guid=opening["guid"]).json() == {"status": "duplicate"}
    forged = livefirst.client.post(f"{livefirst.url}/webhooks/github", json=opening["payload"])
    assert forged.status_code == 401
    livefirst.quiet()
    told = {one["guid"]: one for one in livefirst.deliveries()}
    assert {one["state"] for one in told.values()} == {"done"}
    assert told.keys() <= {one["guid"] for one in heard}
    assert told[opening["guid"]]["attempts"] == 1
    assert told[opening["guid"]]["outcome"] == "likely_unreviewed"
    asked = livefirst.run("explain", f"{WIDGETS}#{number}", "--json")
    assert json.loads(asked.stdout)["lane"] == "likely_unreviewed", asked.stderr
    labelled = [one for one in standin.thread(WIDGETS, number)["events"] if one["event"] == "labeled"]
    assert len(labelled) == 1


def test_a_real_server_waits_while_github_is_away_and_tells_why(
    livefirst: Any, standin: StandIn, world: dict[str, Any]
) -> None:
    """Also when it is stopped and started again meanwhile; a broken policy is told on the same page."""
    repository = world["repositories"][0]
    repository["files"][".github/triage.yml"] = STRICT
    standin.seed(world)
    standin.fail("server_error", path="/repos/*", count=None)
    livefirst.env["LIVEFIRST_RETRY_SECONDS"] = "1"
    livefirst.start()
    number = standin.act("open_pull", "newbie", **unread())["number"]

    def health() -> Any:
        return livefirst.page("/api/queue").json()["health"]

    livefirst.until(lambda: bool(health()["troubles"]), "the trouble to be told")
    assert health()["waiting"] == 1
    assert standin.thread(WIDGETS, number)["labels"] == []
    livefirst.restart()
    standin.heal()
    livefirst.until(lambda: standin.thread(WIDGETS, number)["labels"] == [REVIEW], "the label")
    standin.act("write_files", "max", files={".github/triage.yml": "mode: loud\n"})
    livefirst.until(lambda: bool(health()["policy_errors"]), "the policy's problem to be told")
    assert ".github/triage.yml:1:7" in health()["policy_errors"][0]
    assert health()["troubles"] == []
