"""The policy file in use: whose file governs, when a change takes effect, and what happens to a broken one."""

import pytest
from plugins_github import REPOSITORY, AppKey
from walk_by_hand import BOT, REVIEW, STRICT, WIDGETS, Desk, small, unread

from triage.policy import DEFAULT
from triage.policy import parse as read_policy
from triage.repo_policy import CHECK_NAME, PATH, READ_AGAIN_AFTER, in_force

OBSERVE = "mode: observe\nsensitivity: strict\n"
BROKEN = "mode: label\nmodes: strict\n"


def governs(desk: Desk) -> str:
    """Return the fingerprint of the policy in force."""
    row = desk.store.repository(REPOSITORY)
    assert row is not None
    return in_force(row).fingerprint


def test_the_default_branch_governs_and_a_pull_request_that_changes_it_does_not(desk: Desk) -> None:
    desk.seed(OBSERVE)
    files = [*unread()["pull"]["files"], {"path": PATH, "status": "modified", "additions": 1, "patch": "@@ -1 +1 @@"}]
    number = desk.opened("newbie", **unread(files=files, tree={PATH: STRICT}))
    assert governs(desk) == read_policy(OBSERVE).fingerprint
    assert desk.labels(number) == []
    [run] = desk.standin.state()["repositories"][0]["check_runs"]
    assert (run["name"], run["conclusion"], run["head_sha"]) == (CHECK_NAME, "success", desk.thread(number).head_sha)
    assert [one for one in desk.written() if not one.endswith("/check-runs")] == []


def test_a_proposed_file_with_problems_is_reported_with_line_and_column(desk: Desk) -> None:
    desk.seed(OBSERVE)
    shown = "mode: label\n'@everyone <b>': 1\n"
    change = {"path": PATH, "status": "added", "additions": 2, "patch": "@@ -0,0 +1,2 @@"}
    number = desk.opened("ann", **small(files=[change], tree={PATH: shown}))
    [run] = desk.standin.state()["repositories"][0]["check_runs"]
    assert run["conclusion"] == "failure"
    assert f"{PATH}:2:1:" in run["summary"]
    assert all(line.startswith("    ") for line in run["summary"].splitlines())  # shown as text, whatever it holds
    desk.standin.act("comment", "max", number=number, body="Please fix the file.")
    desk.settle()
    assert len(desk.standin.state()["repositories"][0]["check_runs"]) == 1
    desk.standin.act("push", "ann", number=number)
    desk.settle()
    assert len(desk.standin.state()["repositories"][0]["check_runs"]) == 2


def test_a_report_that_is_not_allowed_spoils_nothing(desk: Desk) -> None:
    desk.seed(STRICT)
    desk.standin.fail("forbidden", path="*/check-runs", count=None)
    files = [*unread()["pull"]["files"], {"path": PATH, "status": "added", "additions": 1, "patch": "@@ -0,0 +1 @@"}]
    number = desk.opened("newbie", **unread(files=files, tree={PATH: STRICT}))
    assert desk.labels(number) == [REVIEW]
    assert desk.deliveries.backlog().subjects == 0
    assert desk.deliveries.backlog().failed == 0


def test_the_organisations_file_governs_where_there_is_none(desk: Desk, app_key: AppKey) -> None:
    world = desk.world()
    world["repositories"].append({"full_name": "acme/.github", "id": 701, "files": {PATH: STRICT}})
    desk.standin.seed(world)
    number = desk.opened("newbie", **unread())
    assert desk.labels(number) == [REVIEW]
    row = desk.store.repository(REPOSITORY)
    assert row is not None
    assert row.policy_source == f"acme/.github:{PATH}"
    # a push to the organisation's file reaches every repository that it governs
    desk.standin.act("write_files", "max", "acme/.github", files={PATH: STRICT + "exempt: {users: [newbie]}\n"})
    desk.settle()
    assert desk.lane(number) == "exempt"
    assert desk.labels(number) == []


def test_without_any_file_the_defaults_hold(desk: Desk) -> None:
    desk.seed(None)
    desk.opened("newbie", **unread())
    assert governs(desk) == DEFAULT.fingerprint


def test_a_broken_file_keeps_the_last_good_one_and_says_so(desk: Desk) -> None:
    desk.seed(STRICT)
    first = desk.opened("newbie", **unread())
    desk.standin.act("write_files", "max", files={PATH: BROKEN})
    desk.settle()
    second = desk.opened("newbie2", **unread())
    assert [desk.labels(one) for one in (first, second)] == [[REVIEW], [REVIEW]]
    assert governs(desk) == read_policy(STRICT).fingerprint
    [error] = desk.queue().health.policy_errors
    assert error.startswith(f"{WIDGETS}: {PATH}:2:1: ")
    assert "modes" in error
    desk.standin.act("write_files", "max", files={PATH: STRICT})
    desk.settle()
    assert desk.queue().health.policy_errors == ()


def test_a_broken_first_file_observes(desk: Desk) -> None:
    desk.seed(BROKEN)
    desk.opened("newbie", **unread())
    assert desk.written() == []
    assert len(desk.queue().health.policy_errors) == 1


def test_a_push_takes_effect_at_once_on_what_is_open(desk: Desk) -> None:
    """From observe to label, then an exemption of the author, then another name, then back to observe."""
    desk.seed(OBSERVE)
    number = desk.opened("newbie", **unread())
    closed = desk.opened("other", **unread())
    desk.standin.act("close", "other", number=closed)
    desk.settle()
    assert desk.written() == []
    desk.standin.act("write_files", "max", files={PATH: STRICT})
    desk.settle()
    assert desk.history(number) == [("labeled", REVIEW, BOT)]
    assert desk.history(closed) == []
    desk.standin.act("write_files", "max", files={PATH: STRICT + 'labels: {likely_unreviewed: "not read yet"}\n'})
    desk.settle()
    assert desk.labels(number) == ["not read yet"]
    desk.standin.act("write_files", "max", files={PATH: OBSERVE})
    desk.settle()
    before = desk.written()
    desk.standin.act("push", "newbie", number=number)
    desk.settle()
    assert desk.written() == before
    assert desk.store.corrections(REPOSITORY, number) == []


def test_whom_a_new_policy_exempts_loses_the_label_at_once(desk: Desk) -> None:
    desk.seed(STRICT)
    number = desk.opened("newbie", **unread())
    desk.standin.act("write_files", "max", files={PATH: STRICT + "exempt: {users: [newbie]}\n"})
    desk.settle()
    assert (desk.lane(number), desk.labels(number)) == ("exempt", [])


def test_a_push_that_leaves_the_file_alone_asks_nothing(desk: Desk) -> None:
    desk.seed(STRICT)
    desk.opened("ann", **small())
    desk.spent()
    desk.standin.act("write_files", "max", files={"README.md": "# New\n"})
    desk.settle()
    assert sum(desk.spent().values()) == 0


def test_a_file_whose_push_was_never_heard_is_read_within_a_day(desk: Desk) -> None:
    desk.seed(OBSERVE)
    desk.opened("ann", **small())
    state = desk.standin.state()
    state["repositories"][0]["files"][PATH] = STRICT
    desk.standin.seed(state)
    assert desk.labels(desk.opened("newbie", **unread())) == []
    desk.later += READ_AGAIN_AFTER + 1
    assert desk.labels(desk.opened("newbie2", **unread())) == [REVIEW]


@pytest.mark.parametrize("sensitivity", ["cautious", "balanced", "strict"])
def test_a_stricter_policy_never_labels_fewer(desk: Desk, sensitivity: str) -> None:
    desk.seed(f"mode: label\nsensitivity: {sensitivity}\n")
    number = desk.opened("newbie", **unread())
    assert desk.labels(number) == [REVIEW]  # so far outside what people write that every promise holds


def test_over_the_limit_of_open_pull_requests(desk: Desk) -> None:
    desk.seed('mode: label\nlabels: {over_limit: "too many open"}\nlimits: {open_pull_requests: 2}\n')
    numbers = [desk.opened("eager", **small()) for _ in range(3)]
    assert [desk.labels(number) for number in numbers] == [[], [], ["too many open"]]
    assert desk.labels(desk.opened("max", **small())) == []
    desk.standin.act("close", "eager", number=numbers[0])
    desk.settle()
    desk.standin.act("comment", "eager", number=numbers[2], body="I closed one.")
    desk.settle()
    assert desk.labels(numbers[2]) == []
