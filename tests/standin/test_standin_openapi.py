"""Every answer of the stand-in has the shape that GitHub's own OpenAPI gives it: Prism stands between and compares."""

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import github
import httpx
import jwt
import pytest
from github.Requester import (
    HTTPRequestsConnectionClass,
    HTTPSRequestsConnectionClass,
    Requester,
    RequestsResponse,
)
from plugins_github import APP, INSTALLATION, REPOSITORY, AppKey, small_world
from plugins_node import Prism

from standin.app import endpoints
from triage.forge.asking import Answer, Question
from triage.forge.live import LiveForge
from triage.forge.port import ReadOnly, RepositoryRef

pytestmark = pytest.mark.node

R = "/repos/acme/widgets"
LATER = "2026-11-30T11:00:00Z"

CALLS = [
    ("app", "GET", "/app", None, 200),
    ("app", "GET", "/app/installations", None, 200),
    ("app", "GET", f"/app/installations/{INSTALLATION}", None, 200),
    ("app", "POST", f"/app/installations/{INSTALLATION}/access_tokens", {"permissions": {"issues": "read"}}, 201),
    ("app", "POST", "/app/installations/9/access_tokens", None, 404),
    ("app", "POST", f"/app/installations/{INSTALLATION}/access_tokens", {"permissions": {"pages": "write"}}, 422),
    ("app", "GET", f"{R}/installation", None, 200),
    ("app", "GET", "/app/hook/deliveries?per_page=1", None, 200),
    ("app", "GET", "/app/hook/deliveries/1", None, 200),
    ("app", "POST", "/app/hook/deliveries/1/attempts", None, 202),
    (None, "POST", "/app-manifests/once/conversions", None, 201),
    (None, "POST", "/app-manifests/once/conversions", None, 404),
    ("token", "GET", "/installation/repositories", None, 200),
    ("token", "GET", R, None, 200),
    ("token", "GET", "/repos/acme/nothing", None, 404),
    ("token", "GET", f"{R}/pulls?state=all&per_page=1", None, 200),
    ("token", "GET", f"{R}/pulls/1", None, 200),
    ("token", "GET", f"{R}/pulls/2", None, 200),
    ("token", "GET", f"{R}/pulls/99", None, 404),
    ("token", "GET", f"{R}/pulls/1/files?per_page=1&page=2", None, 200),
    ("token", "GET", f"{R}/pulls/1/commits", None, 200),
    ("token", "GET", f"{R}/pulls/1/reviews", None, 200),
    ("token", "GET", f"{R}/pulls/1/comments", None, 200),
    ("token", "GET", f"{R}/pulls/comments/6001", None, 200),
    ("token", "GET", f"{R}/pulls/comments/6002", None, 404),
    ("token", "GET", f"{R}/issues/1", None, 200),
    ("token", "GET", f"{R}/issues/3", None, 200),
    ("token", "POST", f"{R}/issues/1/comments", {"body": "One."}, 201),
    ("token", "POST", f"{R}/issues/3/comments", {"body": "Locked."}, 403),
    ("token", "POST", f"{R}/issues/1/comments", {"body": ""}, 422),
    ("token", "GET", f"{R}/issues/1/comments", None, 200),
    ("token", "GET", f"{R}/issues/comments/5000", None, 200),
    ("token", "PATCH", f"{R}/issues/comments/5000", {"body": "Two."}, 200),
    ("token", "GET", f"{R}/labels", None, 200),
    ("token", "GET", f"{R}/labels/BUG", None, 200),
    ("token", "GET", f"{R}/labels/none", None, 404),
    ("token", "POST", f"{R}/labels", {"name": "new", "color": "112233", "description": "New."}, 201),
    ("token", "POST", f"{R}/labels", {"name": "New"}, 422),
    ("token", "PATCH", f"{R}/labels/new", {"new_name": "newer", "color": "445566"}, 200),
    ("token", "POST", f"{R}/issues/1/labels", {"labels": ["bug", "made now"]}, 200),
    ("token", "GET", f"{R}/issues/1/labels", None, 200),
    ("token", "DELETE", f"{R}/issues/1/labels/Bug", None, 200),
    ("token", "DELETE", f"{R}/issues/1/labels/Bug", None, 404),
    ("token", "DELETE", f"{R}/issues/1/labels", None, 204),
    ("token", "PUT", f"{R}/issues/2/lock", None, 204),
    ("token", "DELETE", f"{R}/issues/2/lock", None, 204),
    ("token", "GET", f"{R}/issues/1/timeline?per_page=100", None, 200),
    ("token", "GET", f"{R}/contents/README.md", None, 200),
    ("token", "GET", f"{R}/contents/.github", None, 200),
    ("token", "GET", f"{R}/contents/nothing.txt", None, 404),
    ("token", "POST", f"{R}/check-runs", {"name": "policy", "head_sha": "a" * 40, "status": "queued"}, 201),
    ("token", "GET", f"{R}/collaborators/max/permission", None, 200),
    ("token", "GET", f"{R}/collaborators/nobody/permission", None, 404),
    ("token", "GET", "/users/ann", None, 200),
    ("token", "GET", "/users/nobody", None, 404),
    ("person", "GET", "/user", None, 200),
    ("token", "GET", "/rate_limit", None, 200),
]
# The description demands of the account of a listed installation to be a user and an enterprise at once.
LISTED_ACCOUNT = "response.body.0.account: Response body property 0.account must have required property"
IMPOSSIBLE = {f"{LISTED_ACCOUNT} '{name}'" for name in ("created_at", "name", "slug", "updated_at")}
# OpenAPI has no words for a path of several parts, or of none, which GitHub's reference shows for contents.
UNROUTED = {"request: Selected route not found", "request.path: Request path must have required property 'path'"}
# What GitHub answers although its description leaves it out.
UNDESCRIBED = {"/graphql", "/repos/{owner}/{repo}/contents", "/repos/{owner}/{repo}/issues/{number}/labels/"}


def busy_world(key: AppKey, url: str) -> dict[str, object]:
    """Fill the small world with one of everything that an answer may hold."""
    world = small_world(key, webhook_url="http://127.0.0.1:9/", webhook_secret="s", events=["label", "issue_comment"])
    repository = world["repositories"][0]
    repository |= {"old_names": ["acme/gadgets"], "labels": [{"name": "bug", "description": "A bug."}]}
    first = repository["threads"][0]
    first["labels"] = ["bug"]
    first["comments"] = [{"id": 5000, "author": "max", "body": "Why?", "created_at": LATER}]
    kinds = [
        "labeled",
        "unlabeled",
        "closed",
        "reopened",
        "locked",
        "unlocked",
        "ready_for_review",
        "renamed",
        "merged",
    ]
    first["events"] = [{"event": kind, "actor": "max", "at": LATER, "label": "bug"} for kind in kinds]
    first["pull"] |= {
        "reviews": [{"id": 6000, "author": "max", "submitted_at": LATER, "state": "APPROVED", "body": "Good."}],
        "review_comments": [
            {"id": 6001, "author": "max", "body": "Why?", "created_at": LATER, "path": "a.py", "review": 6000},
            {"author": "ann", "body": "So.", "created_at": LATER, "path": "a.py", "in_reply_to": 6001, "review": 6000},
        ],
    }
    merged = {"merged_at": LATER, "merged_by": "max", "draft": True}
    closed = {"state": "closed", "closed_at": LATER}
    repository["threads"] += [
        {"number": 2, "author": "ann", "created_at": LATER, "pull": merged, **closed},
        {"number": 3, "author": None, "created_at": LATER, "locked": True, **closed},
    ]
    return {**world, "manifest_codes": ["once"], "tokens": {"ghp_max": "max"}, "url": url}


def app_token(key: AppKey) -> str:
    now = int(time.time())
    return jwt.encode({"iat": now - 60, "exp": now + 500, "iss": str(APP)}, key.private, algorithm="RS256")


@pytest.fixture
def headers(prism: Prism, app_key: AppKey) -> dict[str | None, dict[str, str]]:
    """Seed the stand-in behind Prism, and give what each caller sends."""
    prism.standin.seed(busy_world(app_key, prism.url))
    app = {"authorization": f"Bearer {app_token(app_key)}"}
    asked = httpx.post(f"{prism.standin.url}/app/installations/{INSTALLATION}/access_tokens", headers=app)
    prism.standin.act("label", "max", number=2, label="bug")
    prism.standin.act("comment", "max", number=2, body="A delivery.")
    prism.standin.settled()
    token = {"authorization": f"token {asked.json()['token']}"}
    return {"app": app, "token": token, "person": {"authorization": "token ghp_max"}, None: {}}


def violations(header: str | None) -> list[str]:
    """Read what Prism says of one answer."""
    found = [f"{'.'.join(map(str, one['location']))}: {one['message']}" for one in json.loads(header or "[]")]
    return [one for one in found if one not in IMPOSSIBLE]


def test_every_answer_keeps_to_githubs_description(
    prism: Prism, headers: dict[str | None, dict[str, str]], app_key: AppKey
) -> None:
    prism.standin.forget_requests()
    wrong = []
    with httpx.Client(base_url=prism.url, timeout=60) as client:
        for caller, method, path, body, status in CALLS:
            sent = headers[caller]
            answer = client.request(method, path, json=body, headers=sent)
            if answer.status_code != status:
                wrong.append(f"{method} {path}: {answer.status_code}, not {status}: {answer.text[:300]}")
            wrong += [f"{method} {path}: {one}" for one in violations(answer.headers.get("sl-violations"))]
            if path.endswith("conversions") and status == 201:  # the App has a new key now
                headers["app"] = {"authorization": f"Bearer {jwt_of(answer.json())}"}
    assert not wrong, "\n".join(wrong)
    asked = {(one["method"], one["kind"]) for one in prism.standin.requests()}
    assert described_routes() - asked == set(), "an endpoint was not compared"


def jwt_of(made: dict[str, str]) -> str:
    now = int(time.time())
    return jwt.encode({"iat": now - 60, "exp": now + 500, "iss": made["client_id"]}, made["pem"], algorithm="RS256")


def described_routes() -> set[tuple[str, str]]:
    """List the stand-in's endpoints that GitHub's description has too."""
    return {(verb, kind) for verb, kind in endpoints() if not kind.startswith("/_standin") and kind not in UNDESCRIBED}


class Overheard:
    """What Prism says of the answers that PyGithub gets, read on PyGithub's own connections."""

    def __init__(self) -> None:
        self.wrong: list[str] = []
        self.answers = 0
        overheard = self

        class Plain(HTTPRequestsConnectionClass):
            def getresponse(self) -> RequestsResponse:
                answer = super().getresponse()
                told = {name.lower(): value for name, value in answer.getheaders()}
                overheard.answers += 1
                found = violations(told.get("sl-violations"))
                found = [one for one in found if one.startswith("response")]  # it sends labels as a bare list
                overheard.wrong += [f"{self.verb} {self.url}: {one}" for one in found]
                return answer

        self.plain = Plain


@pytest.fixture
def overheard() -> Iterator[Overheard]:
    heard = Overheard()
    Requester.injectConnectionClasses(heard.plain, HTTPSRequestsConnectionClass)
    yield heard
    Requester.resetConnectionClasses()


def test_pygithub_reads_and_writes_what_it_expects(
    prism: Prism, headers: dict[str | None, dict[str, str]], app_key: AppKey, overheard: Overheard
) -> None:
    integration = github.GithubIntegration(
        auth=github.Auth.AppAuth(APP, app_key.private),
        base_url=prism.url,
        seconds_between_requests=None,
        seconds_between_writes=None,
    )
    assert integration.get_app().slug == "livefirst"
    assert [one.id for one in integration.get_installations()] == [INSTALLATION]
    assert integration.get_repo_installation("acme", "widgets").id == INSTALLATION
    client = integration.get_github_for_installation(INSTALLATION)
    repository = client.get_repo("acme/widgets")
    pull = repository.get_pull(1)
    assert [one.filename for one in pull.get_files()] == ["widgets/core.py", "docs/logo.png"]
    assert [one.commit.author.email for one in pull.get_commits()] == ["ann@x.org"]
    assert [one.state for one in pull.get_reviews()] == ["APPROVED"]
    assert [one.in_reply_to_id for one in pull.get_review_comments()] == [None, 6001]
    assert len(list(repository.get_pulls(state="all"))) == 2
    issue = pull.as_issue()
    assert {"committed", "commented", "reviewed", "line-commented", "labeled"} <= {
        one.event for one in issue.get_timeline()
    }
    comment = pull.create_issue_comment("Here.")
    comment.edit("There.")
    assert [one.body for one in pull.get_issue_comments()] == ["Why?", "There."]
    assert comment.user.login == "livefirst[bot]"
    label = repository.create_label("triage: hold", "aabbcc", "Held.")
    label.edit("triage: held", "ddeeff")
    pull.add_to_labels("TRIAGE: HELD")
    assert [one.name for one in pull.get_labels()] == ["bug", "triage: held"]
    pull.remove_from_labels("triage: held")
    with pytest.raises(github.GithubException, match="Label does not exist"):
        pull.remove_from_labels("triage: held")
    issue.lock("off-topic")
    issue.unlock()
    contents = repository.get_contents("README.md")
    assert not isinstance(contents, list)
    assert contents.decoded_content == b"# Widgets\n"
    assert repository.get_collaborator_role_name("max") == "maintain"
    repository.create_check_run("policy", pull.head.sha, conclusion="success", output={"title": "T", "summary": "S"})
    assert client.get_user("ann").created_at.year == 2020
    assert client.get_rate_limit().rate.limit == 5000
    assert overheard.answers > 25
    assert not overheard.wrong, "\n".join(overheard.wrong)
    integration.close()
    client.close()


def test_the_product_sends_and_gets_what_github_describes(
    prism: Prism, headers: dict[str | None, dict[str, str]], app_key: AppKey
) -> None:
    wrong: list[str] = []
    kinds: list[str] = []
    forge = LiveForge.for_app(APP, app_key.private, prism.url, count=kinds.append, web_url="https://github.com")
    send = forge._asker._send

    def overhear(question: Question, authorization: str) -> Answer:
        answer = send(question, authorization)
        found = violations(answer.headers.get("sl-violations"))
        if question.url.endswith("/graphql"):  # not of this description
            return answer
        if "/contents/" in question.url:
            found = [one for one in found if one not in UNROUTED]
        wrong.extend(f"{question.verb} {question.url}: {one}" for one in found)
        return answer

    forge._asker._send = overhear
    try:
        drive(forge, RepositoryRef(INSTALLATION, REPOSITORY, "acme/widgets"))
    finally:
        forge.close()
    assert not wrong, "\n".join(wrong)
    assert len(kinds) > 20


def drive(forge: LiveForge, repository: RepositoryRef) -> None:
    """Ask for everything that the port offers."""
    opening = forge.opening(repository, 1, "ann")
    assert opening.author is not None
    assert opening.author.created_at == datetime(2020, 2, 2, tzinfo=UTC)
    assert opening.author.closed_here == 0
    assert opening.author.merged_here == 1
    assert [one.path for one in opening.changes.files or ()] == ["widgets/core.py", "docs/logo.png"]
    assert {one.kind for one in opening.timeline or ()} >= {"comment", "review", "review_comment", "commit", "labeled"}
    assert forge.text(repository, "README.md") == "# Widgets\n"
    assert forge.organisation_text(repository, "README.md") is None
    assert forge.guide(repository).templates == ()
    assert forge.role(repository, "max") == "maintain"
    assert forge.add_label(repository, 1, "Bug", "#aabbcc", "A bug.") == "bug"
    assert forge.add_label(repository, 1, "held", "#aabbcc", "Held.") == "held"
    assert forge.present(repository, 1).labels == {"bug", "held"}
    forge.remove_label(repository, 1, "HELD")
    forge.remove_label(repository, 1, "held")
    comment = forge.post_comment(repository, 1, "<!-- ours --> One.")
    forge.edit_comment(repository, comment, "<!-- ours --> Two.")
    assert forge.own_comment(repository, 1, "<!-- ours -->") == comment
    forge.minimize_comment(repository, f"IC_{comment}")
    forge.check_run(repository, "a" * 40, name="policy", ok=False, title="T", summary="S")
    forge.lock(repository, 1)
    with pytest.raises(ReadOnly):
        forge.post_comment(repository, 1, "Too late.")
