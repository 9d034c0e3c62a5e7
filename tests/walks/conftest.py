"""A real server for the walks: ``triage serve`` as its own process, its database, and the stand-in as its GitHub."""

import hashlib
import hmac
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import httpx
import pytest
from plugins_github import APP, AppKey, Listener, StandIn, small_world
from walk_by_hand import Desk

from models.recorded.database import Database
from triage import server

SECRET = "walks-secret"
SIGN_IN = "walks-sign-in"
PATIENCE = 60.0  # seconds; a walk takes one or two


@dataclass(slots=True)
class Livefirst:
    """A server that can be started, stopped and killed; what it keeps stays in its database."""

    home: Path
    env: dict[str, str]
    port: int
    client: httpx.Client = field(default_factory=lambda: httpx.Client(follow_redirects=True, timeout=30))
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        return f"http://{server.LOOPBACK}:{self.port}"

    @property
    def log(self) -> str:
        return (self.home / "serve.log").read_text(encoding="utf-8", errors="replace")

    def start(self) -> Self:
        """Start the server and wait until it answers."""
        with (self.home / "serve.log").open("ab") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "triage", "serve"],
                stdout=out,
                stderr=subprocess.STDOUT,
                env={**os.environ, **self.env},
            )
        wait_until(lambda: server.answers(self.port) or self._died(), "the server to answer")
        return self

    def _died(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.log[-3000:]
        return False

    def kill(self) -> None:
        """End the server as a power cut does: SIGKILL, no goodbye."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def stop(self) -> None:
        """End the server by SIGTERM, and close what the test holds."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise
        self.client.close()

    def restart(self) -> None:
        """End the server by SIGTERM and start it again."""
        assert self.process is not None
        self.process.terminate()
        self.process.wait(30)
        self.start()

    def post(self, event: str, body: dict[str, Any] | bytes, guid: str | None = None) -> httpx.Response:
        """Post a signed delivery, as GitHub does."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {
            "Content-Type": "application/json",
            "X-GitHub-Event": event,
            "X-GitHub-Delivery": guid or str(uuid.uuid4()),
            "X-Hub-Signature-256": "sha256=" + hmac.new(SECRET.encode(), raw, hashlib.sha256).hexdigest(),
        }
        return self.client.post(f"{self.url}/webhooks/github", content=raw, headers=headers)

    def metric(self, name: str) -> float:
        """Return the sum of one figure over its labels."""
        text = self.client.get(f"{self.url}/metrics").text
        lines = (line for line in text.splitlines() if line.partition(" ")[0].partition("{")[0] == name)
        return sum(float(line.rpartition(" ")[2]) for line in lines)

    def quiet(self) -> None:
        """Wait until nothing waits to be judged."""
        wait_until(lambda: self.metric("livefirst_waiting_subjects") == 0, "everything to be judged", lambda: self.log)

    def until(self, holds: Callable[[], bool], what: str) -> None:
        """Wait until something holds."""
        wait_until(holds, what, lambda: self.log)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command of the product with this server's settings."""
        return subprocess.run(
            [sys.executable, "-m", "triage", *arguments],
            env={**os.environ, **self.env},
            capture_output=True,
            text=True,
            check=False,
        )

    def deliveries(self) -> list[dict[str, Any]]:
        """List what became of each delivery, as ``triage deliveries --json`` tells it."""
        done = self.run("deliveries", "--json", "--limit", "1000000")
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def page(self, path: str) -> httpx.Response:
        """Read a page as the signed-in maintainer."""
        answer = self.client.get(self.url + path)
        if answer.status_code == httpx.codes.UNAUTHORIZED:
            self.client.get(f"{self.url}/login", params={"token": SIGN_IN})
            answer = self.client.get(self.url + path)
        return answer

    def lane(self, number: int, repo: str = "acme/widgets") -> str:
        """Return the lane that a pull request stands in."""
        lane: str = self.page(f"/api/pulls/{repo}/{number}").json()["row"]["lane"]
        return lane


def wait_until(holds: Callable[[], bool], what: str, told: Callable[[], str] = str) -> None:
    """Wait until something holds; the tests assert on what then is, never on how long it took."""
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until, f"waited {PATIENCE:.0f} s for {what}\n{told()[-3000:]}"
        time.sleep(0.05)


@pytest.fixture
def livefirst(tmp_path: Path, database_url: str, standin: StandIn, app_key: AppKey) -> Iterator[Livefirst]:
    """Make a server, not started yet, whose GitHub is the stand-in; once on each database."""
    port = server.free_port()
    key = tmp_path / "app.pem"
    key.write_text(app_key.private)
    env = {
        "LIVEFIRST_DATABASE_URL": database_url,
        "LIVEFIRST_APP_ID": str(APP),
        "LIVEFIRST_PRIVATE_KEY_FILE": str(key),
        "LIVEFIRST_WEBHOOK_SECRET": SECRET,
        "LIVEFIRST_SIGN_IN_TOKEN": SIGN_IN,
        "LIVEFIRST_GITHUB_API_URL": standin.url,
        "LIVEFIRST_PORT": str(port),
        "LIVEFIRST_SETTLE_SECONDS": "0.2",
        "LIVEFIRST_SWEEP_SECONDS": "1",
        "LIVEFIRST_LEASE_SECONDS": "3",
    }
    made = Livefirst(tmp_path, env, port)
    yield made
    made.stop()


@pytest.fixture
def world(app_key: AppKey, livefirst: Livefirst) -> dict[str, Any]:
    """Return a seed whose App sends its webhooks to the server; a test adds to it and seeds the stand-in."""
    return small_world(app_key, webhook_url=f"{livefirst.url}/webhooks/github", webhook_secret=SECRET)


@pytest.fixture
def desk(database: Database, standin: StandIn, app_key: AppKey, listener: Listener) -> Iterator[Desk]:
    """Make a walk that is driven by hand, once on each database; the stand-in's world is still empty."""
    made = Desk(database, standin, app_key, listener)
    yield made
    made.forge.close()
