"""A walk against a GitHub that we did not write: `emulate`, with an App whose key is made here.

It signs its deliveries and enforces the permissions of a token. It has no GraphQL, knows no files of a pull request,
and shows no pull request as an issue: what it lacks must read unknown, and break nothing.
"""

import base64
import hashlib
import hmac
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from typing import Any, Final

import httpx
import pytest
from plugins_github import AppKey
from plugins_node import Node, Program, free_port, run

from triage.forge.live import LiveForge
from triage.forge.port import Forbidden, Gone, RepositoryRef, Suspended

pytestmark = pytest.mark.node

APP: Final = 4711
INSTALLATION: Final = 815
SECRET: Final = "a secret of the webhook"
PERMISSIONS: Final = {
    "metadata": "read",
    "contents": "read",
    "issues": "write",
    "pull_requests": "write",
    "checks": "write",
    "members": "read",
}
EVENTS: Final = ["pull_request", "issue_comment", "issues", "pull_request_review", "pull_request_review_comment"]
NAME: Final = "triage: author review not seen"
MARK: Final = "<!-- livefirst -->"
# No files are shown there: the answer to somebody else's prompt stands in the description itself.
UNREAD: Final = "\n".join(
    (
        "Certainly! Here is the updated pull request description:",
        "## Summary",
        *(f"- **Part {n}**: the value of `a` is handled in place number {n} of the code." for n in range(9)),
    )
)


@dataclass
class Emulator:
    """A running GitHub with `acme/widgets`, two persons, the maintainer `max` and the App installed on `acme`."""

    url: str
    key: AppKey
    program: Program
    client: httpx.Client

    def ask(self, verb: str, path: str, who: str, value: Any = None) -> Any:
        """Act as a person over the public API."""
        answer = self.client.request(verb, path, json=value, headers={"Authorization": f"Bearer token-of-{who}"})
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    @property
    def repository(self) -> RepositoryRef:
        return RepositoryRef(INSTALLATION, self.ask("GET", "/repos/acme/widgets", "max")["id"], "acme/widgets")

    def open_pull(self, title: str = "Fix a", body: str = "It was 1.", who: str = "ann") -> int:
        """Let somebody change a file in a fork and open a pull request; its delivery goes out before this returns."""
        fork = self.ask("POST", "/repos/acme/widgets/forks", who, {})["full_name"]
        change = {"message": "Fix a", "content": "YSA9IDIK", "branch": "fix"}
        head = self.ask("GET", f"/repos/{fork}/git/ref/heads/main", who)["object"]["sha"]
        self.ask("POST", f"/repos/{fork}/git/refs", who, {"ref": "refs/heads/fix", "sha": head})
        self.ask("PUT", f"/repos/{fork}/contents/a.py", who, change)
        wanted = {"title": title, "body": body, "head": f"{who}:fix", "base": "main"}
        number: int = self.ask("POST", "/repos/acme/widgets/pulls", who, wanted)["number"]
        return number

    def comment(self, number: int, body: str, who: str = "max") -> None:
        """Let somebody comment."""
        self.ask("POST", f"/repos/acme/widgets/issues/{number}/comments", who, {"body": body})

    def labels(self, number: int) -> list[str]:
        """List the labels as everybody sees them."""
        found = self.ask("GET", f"/repos/acme/widgets/issues/{number}/labels", "max")
        return [one["name"] for one in found]


StartEmulator = Callable[..., Emulator]


def _seed(key: AppKey, webhook_url: str | None, permissions: dict[str, str]) -> dict[str, Any]:
    app = {
        "app_id": APP,
        "slug": "livefirst",
        "name": "Livefirst",
        "private_key": key.private,
        "permissions": permissions,
        "events": EVENTS,
        "installations": [{"installation_id": INSTALLATION, "account": "acme", "repository_selection": "all"}],
    }
    if webhook_url is not None:
        app |= {"webhook_url": webhook_url, "webhook_secret": SECRET}
    people = ("ann", "ben", "max")
    return {
        "tokens": {f"token-of-{one}": {"login": one, "scopes": ["repo", "user"]} for one in people},
        "github": {
            "users": [{"login": one} for one in people],
            "orgs": [{"login": "acme", "members": [{"login": "max", "role": "admin"}]}],
            "repos": [{"owner": "acme", "name": "widgets", "auto_init": True}],
            "apps": [app],
        },
    }


@pytest.fixture
def start_emulator(node: Node, app_key: AppKey, tmp_path: Path) -> Iterator[StartEmulator]:
    """Start emulators that post signed deliveries to a given address; the secret is ``SECRET``."""
    running: list[Emulator] = []

    def start(webhook_url: str | None = None, permissions: dict[str, str] | None = None) -> Emulator:
        seed = tmp_path / f"seed{len(running)}.json"
        seed.write_text(json.dumps(_seed(app_key, webhook_url, permissions or PERMISSIONS)), encoding="utf-8")
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        options = ["--service", "github", "--port", str(port), "--base-url", url, "--seed", str(seed)]
        program = run(node, "Ready.", "emulate/dist/index.js", "start", *options)
        running.append(Emulator(url, app_key, program, httpx.Client(base_url=url, timeout=30)))
        return running[-1]

    yield start
    for one in running:
        one.client.close()
        one.program.stop()


@dataclass
class Receiver:
    """An address that takes deliveries: (event, body, signature)."""

    url: str
    deliveries: "Queue[tuple[str, bytes, str]]" = field(default_factory=Queue)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Listen for deliveries."""
    made = Receiver("")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            made.deliveries.put((self.headers["X-GitHub-Event"], body, self.headers["X-Hub-Signature-256"]))
            self.send_response(202)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        made.url = f"http://127.0.0.1:{server.server_port}/webhooks/github"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield made
        server.shutdown()
        thread.join()


@pytest.fixture
def counted() -> Counter[str]:
    return Counter()


def _forge(emulator: Emulator, counted: Counter[str]) -> LiveForge:
    def count(kind: str) -> None:
        counted[kind] += 1

    return LiveForge.for_app(APP, emulator.key.private, emulator.url, count=count, web_url=emulator.url)


def test_the_app_reads_labels_and_comments(
    start_emulator: StartEmulator, receiver: Receiver, counted: Counter[str]
) -> None:
    emulator = start_emulator(receiver.url)
    number = emulator.open_pull()
    event, body, signature = receiver.deliveries.get(timeout=10)
    assert event == "pull_request"
    assert signature == "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    assert json.loads(body)["installation"]["id"] == INSTALLATION
    forge, repository = _forge(emulator, counted), emulator.repository

    opening = forge.opening(repository, number, "ann")
    assert opening.author is None  # it has no GraphQL
    assert opening.changes.files is not None
    assert [one.message for one in opening.changes.commits or ()][-1] == "Fix a"
    assert opening.timeline is None  # nor a timeline of pull requests
    assert counted == Counter(token=1, files=1, commits=1, timeline=1, author=1)
    assert forge.text(repository, "README.md") == "# widgets\n"
    assert forge.text(repository, ".github/triage.yml") is None
    assert forge.guide(repository).templates == ()
    assert forge.role(repository, "max") == "admin"

    assert forge.add_label(repository, number, NAME, "bfdadc", "No sign yet that the author read this") == NAME
    assert emulator.labels(number) == [NAME]
    made = emulator.ask("GET", f"/repos/acme/widgets/labels/{NAME}", "max")
    assert (made["color"], made["description"]) == ("bfdadc", "No sign yet that the author read this")
    assert forge.present(repository, number).labels == {NAME}

    emulator.comment(number, f"{MARK} copied", "ann")
    assert forge.own_comment(repository, number, MARK) is None
    key = forge.post_comment(repository, number, f"{MARK}\nHello")
    assert forge.own_comment(repository, number, MARK) == key
    forge.edit_comment(repository, key, f"{MARK}\nHello again")
    said = emulator.ask("GET", f"/repos/acme/widgets/issues/comments/{key}", "max")
    assert (said["body"], said["user"]["login"]) == (f"{MARK}\nHello again", "livefirst[bot]")

    forge.remove_label(repository, number, NAME)
    forge.remove_label(repository, number, NAME)
    assert emulator.labels(number) == []
    forge.close()


def test_what_is_not_allowed_or_not_there_is_told_apart(start_emulator: StartEmulator, counted: Counter[str]) -> None:
    emulator = start_emulator(permissions=PERMISSIONS | {"issues": "read", "pull_requests": "read"})
    number = emulator.open_pull()
    forge, repository = _forge(emulator, counted), emulator.repository
    assert forge.present(repository, number).open is True
    with pytest.raises(Forbidden):
        forge.add_label(repository, number, NAME, "bfdadc", "")
    with pytest.raises(Gone):
        forge.present(repository, 999)
    with pytest.raises(Suspended):
        forge.present(RepositoryRef(1, repository.id, "acme/widgets"), number)
    forge.close()


# --- the whole walk -------------------------------------------------------------


def test_a_pull_request_opened_there_gets_its_label_from_the_app(start_emulator: StartEmulator, livefirst: Any) -> None:
    """Its signed delivery reaches a real server, the App puts the label on once, and its echoes end there."""
    emulator = start_emulator(f"{livefirst.url}/webhooks/github")
    policy = base64.b64encode(b"mode: label\nsensitivity: strict\n").decode()
    file = {"message": "Set the policy", "content": policy}
    emulator.ask("PUT", "/repos/acme/widgets/contents/.github/triage.yml", "max", file)
    livefirst.env |= {
        "LIVEFIRST_APP_ID": str(APP),
        "LIVEFIRST_GITHUB_API_URL": emulator.url,
        "LIVEFIRST_WEBHOOK_SECRET": SECRET,
    }
    livefirst.start()
    ordinary = emulator.open_pull()
    unread = emulator.open_pull("Improve core", UNREAD, who="ben")
    emulator.comment(ordinary, "Which input shows it?")
    livefirst.until(lambda: emulator.labels(unread) == [NAME], "the label")
    livefirst.quiet()
    assert emulator.labels(ordinary) == []
    before = livefirst.deliveries()
    assert {one["event"] for one in before} >= {"pull_request", "issue_comment"}
    assert {one["state"] for one in before} == {"done"}
    emulator.comment(unread, "Which input shows it?")
    livefirst.until(lambda: livefirst.metric("livefirst_deliveries_total") > len(before), "the last comment")
    livefirst.quiet()
    after = livefirst.deliveries()
    assert len(after) == len(before) + 1
    assert emulator.labels(unread) == [NAME]
    timeline = [one for one in after if one["action"] == "labeled"]
    assert len(timeline) <= 1  # it tells a label on a pull request as one on an issue
    assert livefirst.lane(unread) == "likely_unreviewed"
