"""Fixtures: the stand-in for GitHub on a free loopback port, an App's key, and somebody who asks and who listens."""

import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import httpx
import jwt
import pytest
import uvicorn
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from standin.app import create_app

APP = 7
INSTALLATION = 70
REPOSITORY = 700
SECRET = "a secret of the tests"


@dataclass(frozen=True, slots=True)
class AppKey:
    """An App's key pair, both in PEM form."""

    private: str = field(repr=False)
    public: str

    @classmethod
    def make(cls) -> Self:
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        return cls(private.decode(), public.decode())


@dataclass(slots=True)
class StandIn:
    """A running stand-in. Everything goes through its own address, as from another process."""

    url: str = ""
    client: httpx.Client = field(default_factory=httpx.Client)
    _port: int = 0
    _server: uvicorn.Server | None = None
    _thread: threading.Thread | None = None
    _app: Any = None

    def start(self) -> Self:
        """Listen, at the same address as before after a stop; the world is as it was."""
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", self._port))
        self._port = listening.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"
        self._app = self._app or create_app()
        config = uvicorn.Config(self._app, log_config=None, access_log=False, ws="none", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listening]}, name="stand-in")
        self._thread.start()
        while not self._server.started:
            assert self._thread.is_alive(), "the stand-in did not start"
            time.sleep(0.005)
        return self

    def stop(self) -> None:
        """Be away, as a GitHub that is down: connections are refused."""
        self.client.close()
        self.client = httpx.Client()
        if self._server is not None and self._thread is not None:
            self._server.should_exit = True
            self._thread.join(timeout=10)
            assert not self._thread.is_alive(), "the stand-in did not stop"

    def close(self) -> None:
        """Stop for good."""
        self.stop()
        self.client.close()

    def _ask(self, verb: str, path: str, value: Any = None) -> Any:
        answer = self.client.request(verb, f"{self.url}/_standin/{path}", json=value, timeout=30)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    def seed(self, world: dict[str, Any]) -> None:
        """Replace the world; the format is that of ``standin.world.World``."""
        self._ask("POST", "seed", world)

    def state(self) -> dict[str, Any]:
        """Return the whole world."""
        return self._ask("GET", "state")

    def thread(self, repo: str, number: int) -> dict[str, Any]:
        """Return one issue or pull request of the world."""
        repository = next(one for one in self.state()["repositories"] if one["full_name"] == repo)
        return next(one for one in repository["threads"] if one["number"] == number)

    def requests(self, kind: str | None = None, method: str | None = None) -> list[dict[str, Any]]:
        """List the requests that came in; ``kind`` is a route such as ``/repos/{owner}/{repo}/pulls/{number}``."""
        found = self._ask("GET", "requests")
        return [one for one in found if kind in {None, one["kind"]} and method in {None, one["method"]}]

    def forget_requests(self) -> None:
        """Begin the list of requests anew."""
        self._ask("DELETE", "requests")

    def fail(self, shape: str, **how: Any) -> None:
        """Ask for a failure; see ``standin.faults.Fault``."""
        self._ask("POST", "faults", {"shape": shape, **how})

    def heal(self) -> None:
        """Let nothing fail any more."""
        self._ask("DELETE", "faults")

    def act(self, do: str, actor: str, repo: str = "acme/widgets", **what: Any) -> dict[str, Any]:
        """Let a person do something; see ``standin.admin.Act``."""
        return self._ask("POST", "acts", {"do": do, "actor": actor, "repo": repo, **what})

    def settled(self) -> list[dict[str, Any]]:
        """Wait until every delivery was sent, and list them with what they were answered."""
        self._ask("GET", "idle")
        return self._ask("GET", "hooks")


def app_claims() -> dict[str, Any]:
    """Return what an App's JSON web token says: made a minute ago, good for nine more."""
    now = int(time.time())
    return {"iat": now - 60, "exp": now + 540, "iss": str(APP)}


def small_world(key: AppKey | None = None, **app: Any) -> dict[str, Any]:
    """Return a seed: an organisation with one repository, one maintainer, one person and one pull request."""
    opened = "2026-11-30T10:00:00Z"
    pull = {
        "head_ref": "fix",
        "head_repo": "ann/widgets",
        "files": [
            {"path": "widgets/core.py", "additions": 1, "deletions": 1, "patch": "@@ -1 +1 @@\n-a = 1\n+a = 2"},
            {"path": "docs/logo.png", "status": "added"},
        ],
        "commits": [{"message": "Fix a", "authored_at": opened, "author": "ann", "name": "Ann", "email": "ann@x.org"}],
    }
    thread = {"number": 1, "author": "ann", "created_at": opened, "title": "Fix a", "body": "It was 1.", "pull": pull}
    return {
        "app": {"id": APP, "public_key": key.public if key else None, **app},
        "installations": [{"id": INSTALLATION, "account": "acme"}],
        "people": [
            {"login": "acme", "id": 1, "type": "Organization"},
            {"login": "max", "id": 2},
            {"login": "ann", "id": 3, "created_at": "2020-02-02T00:00:00Z"},
        ],
        "repositories": [
            {
                "full_name": "acme/widgets",
                "id": REPOSITORY,
                "roles": {"max": "maintain"},
                "files": {"README.md": "# Widgets\n", ".github/CONTRIBUTING.md": "Be kind.\n"},
                "threads": [thread],
            }
        ],
    }


@pytest.fixture(scope="session")
def app_key() -> AppKey:
    """Make an App's key: none is kept in the repository."""
    return AppKey.make()


@pytest.fixture
def standin() -> Iterator[StandIn]:
    """Run a stand-in for GitHub with an empty world."""
    running = StandIn().start()
    yield running
    running.close()


@dataclass
class Listener:
    """An App's address: keeps what it hears, and answers as it is told."""

    url: str = ""
    heard: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    status: int = 202


@pytest.fixture
def listener() -> Iterator[Listener]:
    listening = Listener()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the library's name
            body = self.rfile.read(int(self.headers["content-length"]))
            listening.heard.append(({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(listening.status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the library's name
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        listening.url = f"http://127.0.0.1:{server.server_port}/hook"
        yield listening
        server.shutdown()
        thread.join()


@dataclass
class Asking:
    """Who asks the stand-in: the App and its installation."""

    standin: StandIn
    key: AppKey

    def app(self, **claims: Any) -> dict[str, str]:
        token = jwt.encode({**app_claims(), **claims}, self.key.private, algorithm="RS256")
        return {"authorization": f"Bearer {token}"}

    def installed(self, **body: Any) -> dict[str, str]:
        path = f"{self.standin.url}/app/installations/{INSTALLATION}/access_tokens"
        answer = httpx.post(path, headers=self.app(), json=body)
        assert answer.status_code == 201, answer.text
        return {"authorization": f"token {answer.json()['token']}"}

    def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> httpx.Response:
        """Ask as the installation, unless other headers are given."""
        sent = self.installed() if headers is None else headers
        return self.standin.client.request(method, self.standin.url + path, json=body, headers=sent)


@pytest.fixture
def asking(standin: StandIn, app_key: AppKey, listener: Listener) -> Asking:
    """Seed the small world, with an App that listens."""
    standin.seed(small_world(app_key, id=APP, webhook_url=listener.url, webhook_secret=SECRET))
    return Asking(standin, app_key)
