"""The stand-in grants, refuses, pages and remembers as GitHub does."""

from typing import Any

import httpx
import pytest
from plugins_github import INSTALLATION, REPOSITORY, Asking, StandIn, small_world

from standin.app import create_app
from standin.world import World

R = "/repos/acme/widgets"


def test_a_jwt_of_another_key_or_too_far_ahead_is_refused(asking: Asking) -> None:
    assert asking.ask("GET", "/app", headers=asking.app()).status_code == 200
    assert asking.ask("GET", "/app", headers=asking.app(exp=9_999_999_999)).status_code == 401
    assert asking.ask("GET", "/app", headers=asking.app(iss="8")).status_code == 401
    good = asking.app()["authorization"]
    assert asking.ask("GET", "/app", headers={"authorization": good[:-8] + "AAAAAAAA"}).status_code == 401
    assert asking.ask("GET", "/app", headers=asking.installed()).status_code == 401


def test_a_token_has_githubs_new_shape_and_names_when_it_ends(asking: Asking) -> None:
    answer = asking.ask("POST", f"/app/installations/{INSTALLATION}/access_tokens", {}, asking.app())
    token = answer.json()["token"]
    assert token.startswith("ghs_7_ey")
    assert token.count(".") == 2
    assert answer.json()["permissions"]["issues"] == "write"


@pytest.mark.parametrize(
    ("granted", "method", "path", "body", "status"),
    [
        ({"issues": "read"}, "GET", f"{R}/issues/1", None, 200),
        ({"issues": "read"}, "POST", f"{R}/issues/1/labels", {"labels": ["a"]}, 403),
        ({"pull_requests": "write"}, "POST", f"{R}/issues/1/labels", {"labels": ["a"]}, 200),
        ({"issues": "write"}, "POST", f"{R}/check-runs", {"name": "a", "head_sha": "b"}, 403),
        ({"checks": "write"}, "POST", f"{R}/check-runs", {"name": "a", "head_sha": "b"}, 201),
    ],
)
def test_a_token_may_do_what_it_was_given(
    asking: Asking, granted: dict[str, str], method: str, path: str, body: Any, status: int
) -> None:
    answer = asking.ask(method, path, body, asking.installed(permissions=granted))
    assert answer.status_code == status
    if status == 403:
        assert answer.json()["message"] == "Resource not accessible by integration"
        assert "=write" in answer.headers["x-accepted-github-permissions"]
        assert answer.headers["x-ratelimit-remaining"] != "0"


def test_a_private_repository_of_others_does_not_exist(standin: StandIn, asking: Asking) -> None:
    world = standin.state()
    world["repositories"].append({"full_name": "other/secret", "private": True})
    world["repositories"].append({"full_name": "other/open", "files": {"A": "a"}})
    standin.seed(world)
    assert asking.ask("GET", "/repos/other/secret").status_code == 404
    assert asking.ask("GET", "/repos/other/open/contents/A").status_code == 200
    assert asking.ask("POST", "/repos/other/open/labels", {"name": "a"}).status_code == 403


def test_a_suspended_installation_reads_and_writes_nothing(standin: StandIn, asking: Asking) -> None:
    token = asking.installed()
    world = standin.state()
    world["installations"][0]["suspended_at"] = "2026-12-01T00:00:00Z"
    standin.seed(world)
    assert "suspended" in asking.ask("GET", R, headers=token).json()["message"]
    path = f"/app/installations/{INSTALLATION}/access_tokens"
    assert asking.ask("POST", path, {}, asking.app()).status_code == 403


def test_a_person_with_a_token_has_the_rights_of_the_role(standin: StandIn, asking: Asking) -> None:
    standin.seed({**standin.state(), "tokens": {"ghp_max": "max", "ghp_ann": "ann"}})
    assert asking.ask("POST", f"{R}/labels", {"name": "a"}, {"authorization": "token ghp_max"}).status_code == 201
    assert asking.ask("POST", f"{R}/labels", {"name": "b"}, {"authorization": "token ghp_ann"}).status_code == 403
    assert asking.ask("POST", f"{R}/labels", {"name": "b"}, {}).status_code == 401
    assert asking.ask("GET", R, None, {"authorization": "token ghp_who"}).status_code == 401


def test_lists_are_paged_with_links(standin: StandIn, asking: Asking) -> None:
    world = small_world(asking.key)
    pull = world["repositories"][0]["threads"][0]["pull"]
    pull["files"] = [{"path": f"{at}.py"} for at in range(3100)]
    pull["commits"] = [{"message": str(at)} for at in range(300)]
    standin.seed(world)
    first = asking.ask("GET", f"{R}/pulls/1/files")
    assert len(first.json()) == 30
    assert first.links["next"]["url"].endswith("/pulls/1/files?per_page=30&page=2")
    last = asking.ask("GET", f"{R}/pulls/1/files?per_page=500&page=30")
    assert [one["filename"] for one in last.json()][-1] == "2999.py"
    assert "next" not in last.links
    assert last.links["prev"]["url"].endswith("page=29")
    assert "next" not in asking.ask("GET", f"{R}/pulls/1/commits?per_page=50&page=5").links
    assert asking.ask("GET", f"{R}/pulls/1/files?per_page=100&page=31").json() == []


def test_an_unchanged_answer_costs_nothing_but_only_under_the_same_token(asking: Asking) -> None:
    token = asking.installed()
    first = asking.ask("GET", R, headers=token)
    same = asking.ask("GET", R, headers={**token, "if-none-match": first.headers["etag"]})
    assert same.status_code == 304
    assert same.content == b""
    assert same.headers["x-ratelimit-used"] == first.headers["x-ratelimit-used"]
    other = asking.ask("GET", R, headers={**asking.installed(), "if-none-match": first.headers["etag"]})
    assert other.status_code == 200


def test_the_hour_ends_with_a_limit_that_names_its_reset(standin: StandIn, asking: Asking) -> None:
    standin.seed({**standin.state(), "rate_limit": 2})
    token = asking.installed()
    answers = [asking.ask("GET", R, headers=token) for _ in range(3)]
    assert [one.status_code for one in answers] == [200, 200, 403]
    assert answers[2].headers["x-ratelimit-remaining"] == "0"
    assert "API rate limit exceeded" in answers[2].json()["message"]
    assert asking.ask("GET", "/rate_limit", headers=token).status_code == 200


def test_a_renamed_repository_sends_readers_and_writers_on(standin: StandIn, asking: Asking) -> None:
    world = standin.state()
    world["repositories"][0]["old_names"] = ["acme/gadgets"]
    standin.seed(world)
    read = asking.ask("GET", "/repos/acme/gadgets/issues/1?x=1")
    assert read.status_code == 301
    assert read.headers["location"] == f"{standin.url}/repositories/{REPOSITORY}/issues/1?x=1"
    assert read.json()["url"] == read.headers["location"]
    followed = httpx.get(read.headers["location"], headers=asking.installed())
    assert followed.json()["number"] == 1
    assert asking.ask("POST", "/repos/acme/gadgets/issues/1/comments", {"body": "a"}).status_code == 307


def test_labels_are_the_same_in_any_case(asking: Asking) -> None:
    assert asking.ask("POST", f"{R}/labels", {"name": "Bug", "color": "aabbcc"}).status_code == 201
    again = asking.ask("POST", f"{R}/labels", {"name": "bUG"})
    assert again.status_code == 422
    assert again.json()["errors"] == [{"resource": "Label", "code": "already_exists", "field": "name"}]
    put = asking.ask("POST", f"{R}/issues/1/labels", {"labels": ["BUG", "new"]})
    assert [(one["name"], one["color"]) for one in put.json()] == [("Bug", "aabbcc"), ("new", "ededed")]
    assert asking.ask("DELETE", f"{R}/issues/1/labels/bug").json()[0]["name"] == "new"
    assert asking.ask("DELETE", f"{R}/issues/1/labels/bug").status_code == 404
    assert asking.ask("POST", f"{R}/labels", {"name": "x" * 51}).status_code == 422
    many = [f"l{at}" for at in range(100)]
    assert asking.ask("POST", f"{R}/issues/1/labels", {"labels": many}).status_code == 422


def test_a_locked_thread_and_an_archived_repository_take_nothing(standin: StandIn, asking: Asking) -> None:
    assert asking.ask("PUT", f"{R}/issues/1/lock").status_code == 204
    assert asking.ask("POST", f"{R}/issues/1/comments", {"body": "a"}).status_code == 403
    assert asking.ask("DELETE", f"{R}/issues/1/lock").status_code == 204
    assert asking.ask("POST", f"{R}/issues/1/comments", {"body": "a"}).status_code == 201
    world = standin.state()
    world["repositories"][0]["archived"] = True
    standin.seed(world)
    refused = asking.ask("POST", f"{R}/issues/1/labels", {"labels": ["a"]})
    assert refused.status_code == 403
    assert "read-only" in refused.json()["message"]
    assert asking.ask("GET", f"{R}/issues/1").status_code == 200


def test_files_are_read_as_of_the_default_branch_or_a_head(standin: StandIn, asking: Asking) -> None:
    world = standin.state()
    pull = world["repositories"][0]["threads"][0]["pull"]
    pull["tree"] = {".github/triage.yml": "version: 2"}
    standin.seed(world)
    path = f"{R}/contents/.github/triage.yml"
    assert asking.ask("GET", path).status_code == 404
    assert asking.ask("GET", f"{path}?ref={pull['head_sha']}").json()["name"] == "triage.yml"
    assert asking.ask("GET", f"{path}?ref=nowhere").status_code == 404
    listed = asking.ask("GET", f"{R}/contents/").json()
    assert [(one["name"], one["type"]) for one in listed] == [(".github", "dir"), ("README.md", "file")]


def test_a_deleted_fork_and_a_deleted_account_are_null(standin: StandIn, asking: Asking) -> None:
    world = standin.state()
    thread = world["repositories"][0]["threads"][0]
    thread["author"] = None
    thread["pull"]["head_repo"] = None
    standin.seed(world)
    pull = asking.ask("GET", f"{R}/pulls/1").json()
    assert (pull["user"], pull["head"]["repo"]) == (None, None)


def test_an_enterprise_server_answers_under_its_own_prefix(asking: Asking) -> None:
    answer = asking.ask("GET", "/api/v3/repos/acme/widgets/pulls/1")
    assert answer.json()["url"] == f"{asking.standin.url}/api/v3/repos/acme/widgets/pulls/1"
    query = asking.ask("POST", "/api/graphql", {"query": "{ viewer { login } }"})
    assert query.json() == {"data": {"viewer": {"login": "livefirst[bot]"}}}


def test_a_seed_with_an_unknown_key_is_refused_and_changes_nothing(standin: StandIn) -> None:
    answer = httpx.post(f"{standin.url}/_standin/seed", json={"repositorys": []})
    assert answer.status_code == 422
    assert "repositorys" in answer.text
    assert standin.state()["repositories"] == []


def test_a_world_survives_being_written_and_read(asking: Asking) -> None:
    world = asking.standin.state()
    asking.standin.seed(world)
    assert asking.standin.state() == world


def test_a_reset_goes_back_to_the_first_world() -> None:
    gate = create_app(World.from_json('{"people": [{"login": "ann"}]}'))
    gate.state.renew(World())
    assert gate.state.world.people == []
    gate.state.renew(None)
    assert [one.login for one in gate.state.world.people] == ["ann"]


def test_requests_are_logged_by_kind(standin: StandIn, asking: Asking) -> None:
    token = asking.installed()
    standin.forget_requests()
    asking.ask("GET", f"{R}/pulls/1", headers=token)
    asking.ask("GET", f"{R}/nothing", headers=token)
    kinds = [(one["method"], one["kind"], one["status"]) for one in standin.requests()]
    assert kinds == [("GET", "/repos/{owner}/{repo}/pulls/{number}", 200), ("GET", None, 404)]
    assert len(standin.requests("/repos/{owner}/{repo}/pulls/{number}")) == 1
