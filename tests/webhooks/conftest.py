"""A real server on loopback for the door's tests: real HTTP, the real inbox, real databases, no judging."""

import hmac
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import httpx
import pytest
import uvicorn

from models.recorded.database import Database, DatabaseError
from models.recorded.deliveries import Deliveries
from triage.inbox import Inbox
from triage.metrics import BACKLOG
from triage.settings import Settings
from triage.views import Health, PullPage, Queue, QueueLane
from triage.wiring import House
from webhooks.app import create_app

SECRET = "the-new-secret"
OLD_SECRET = "the-old-secret"
TOKEN = "one-time-token"
AS_OF = 1_796_040_000.0


class Household:
    """A house with a door and nobody at work: what was kept stays to be looked at."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self.settings = settings
        self.database = database
        self.deliveries = Deliveries(database)
        self.woken: list[str] = []
        self.inbox = Inbox(self.deliveries, settle=3.0, on_woken=self.woken.extend)
        self.sign_in_token: str | None = TOKEN
        self.shown = Queue(AS_OF, (QueueLane("live_person", "Live people", ()),), Health(0, 0, None))
        self.pulls: dict[tuple[str, str, int], PullPage] = {}

    def start(self) -> None:
        self.inbox.start()

    def stop(self) -> None:
        self.inbox.stop()

    def ready(self) -> dict[str, bool]:
        try:
            self.database.check()
        except DatabaseError:
            return {"database": False}
        return {"database": True}

    def queue(self) -> Queue:
        return self.shown

    def pull(self, owner: str, repo: str, number: int) -> PullPage | None:
        return self.pulls.get((owner, repo, number))

    def measure(self) -> None:
        BACKLOG.set(self.deliveries.backlog().waiting)


class Server:
    """A running server: its address, its house, and a client that keeps cookies."""

    def __init__(self, house: Household, port: int, client: httpx.Client) -> None:
        self.house = house
        self.port = port
        self.client = client

    def deliver(
        self,
        event: str | None,
        shape: Any,
        *,
        guid: str | None = "guid-1",
        secret: str = SECRET,
        headers: dict[str, str | None] | None = None,
    ) -> httpx.Response:
        """Post a delivery as GitHub does; a header given as ``None`` is left out."""
        raw = shape if isinstance(shape, bytes) else json.dumps(shape).encode()
        wanted: dict[str, str | None] = {
            "Content-Type": "application/json",
            "User-Agent": "GitHub-Hookshot/test",
            "X-GitHub-Event": event,
            "X-GitHub-Delivery": guid,
            "X-Hub-Signature-256": signature(raw, secret),
            **(headers or {}),
        }
        sent = {name: value for name, value in wanted.items() if value is not None}
        return self.client.post("/webhooks/github", content=raw, headers=sent)

    def kept(self) -> list[tuple[str, str, str]]:
        """Return what is stored, as (guid, event, state)."""
        return [(row.guid, row.event, row.state) for row in self.house.deliveries.listed()]

    def connect(self) -> socket.socket:
        """Open a bare connection, for what no client would send."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)


def signature(raw: bytes, secret: str = SECRET, algorithm: str = "sha256") -> str:
    """Sign a body."""
    return f"{algorithm}={hmac.new(secret.encode(), raw, algorithm).hexdigest()}"


def configured(**fields: Any) -> Settings:
    """Make settings, with two secrets as while rotating."""
    return Settings(**{"webhook_secret": f"{SECRET},{OLD_SECRET}", **fields})


@contextmanager
def serving(house: Household) -> Iterator[Server]:
    """Serve a house on a free port of loopback."""
    app = create_app(house=cast("House", house))
    config = uvicorn.Config(
        app, log_config=None, access_log=False, ws="none", lifespan="on", timeout_graceful_shutdown=5
    )
    server = uvicorn.Server(config)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        thread = threading.Thread(target=server.run, args=([listener],), name="server")
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        assert server.started
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30, trust_env=False) as client:
                yield Server(house, port, client)
        finally:
            server.should_exit = True
            thread.join(30)
    assert not thread.is_alive()


@pytest.fixture
def server(database: Database) -> Iterator[Server]:
    """Serve a household with an empty database, on SQLite and then on PostgreSQL."""
    with serving(Household(database, configured())) as running:
        yield running


@pytest.fixture
def door(tmp_path: Any) -> Iterator[Server]:
    """Serve a household on SQLite alone, for what does not depend on the database."""
    settings = configured(database_url=f"sqlite:///{tmp_path / 'livefirst.db'}")
    database = Database.open(settings.database_url)
    database.migrate()
    with serving(Household(database, settings)) as running:
        yield running
    database.close()
