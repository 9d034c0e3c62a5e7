"""A GitHub on loopback for every test of the forge: the stand-in behind a real server, in a thread of its own."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import uvicorn
from plugins_github import AppKey

from standin.app import create_app
from standin.faults import Fault
from standin.gate import Gate
from standin.threads import Comment, Commit, Event, File, Pull, Review, Thread
from standin.world import App, Installation, Label, PastPull, Person, Repository, World
from triage.forge.live import LiveForge
from triage.forge.port import RepositoryRef

APP = 9
INSTALLATION = 70
OPENED = datetime(2026, 11, 30, 10, tzinfo=UTC)
WIDGETS = RepositoryRef(INSTALLATION, 42, "acme/widgets")


@dataclass
class GitHub:
    """The running stand-in, and what was asked of it in this test."""

    url: str
    gate: Gate
    public_key: str
    counted: Counter[str] = field(default_factory=Counter)

    @property
    def world(self) -> World:
        world: World = self.gate.state.world
        return world

    @property
    def repository(self) -> Repository:
        found = self.world.repository(WIDGETS.full_name)
        assert found is not None
        return found

    @property
    def thread(self) -> Thread:
        found = self.repository.thread(7)
        assert found is not None
        return found

    def fail(self, shape: Any, path: str = "*", **more: Any) -> None:
        self.gate.faults.due.append(Fault(shape, path, **more))

    def asked(self) -> list[tuple[str, str]]:
        """List the requests as (method, path), those for a token aside."""
        return [(one.method, one.path) for one in self.gate.log if not one.path.endswith("/access_tokens")]

    def count(self, kind: str) -> None:
        self.counted[kind] += 1


@pytest.fixture(scope="session")
def served(app_key: AppKey) -> Iterator[GitHub]:
    gate = create_app(World())
    server = uvicorn.Server(
        uvicorn.Config(gate, host="127.0.0.1", port=0, log_level="error", ws="none", timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield GitHub(f"http://127.0.0.1:{port}", gate, app_key.public)
    server.should_exit = True
    thread.join(10)


@pytest.fixture(scope="session")
def pem(app_key: AppKey) -> str:
    return app_key.private


@pytest.fixture
def github(served: GitHub) -> GitHub:
    served.gate.state.renew(a_world(served.public_key))
    served.counted.clear()
    return served


@pytest.fixture
def forge(github: GitHub, pem: str) -> Iterator[LiveForge]:
    made = LiveForge.for_app(APP, pem, github.url, count=github.count, web_url="https://github.com")
    yield made
    made.close()


def a_world(public_key: str) -> World:
    """Make one repository with one pull request by a newcomer who has a past."""
    pull = Pull(
        head_ref="fix-widget",
        files=[
            File("src/widget.py", "modified", 2, 1, "@@ -1 +1,2 @@\n-old\n+new\n+newer"),
            File("logo.png", "added"),
            File("old.py", "removed", 0, 9),
        ],
        commits=[
            Commit(
                "Fix the widget\n\nIt broke.\n\nSigned-off-by: Some One <s@example.edu>\nCo-authored-by: A <a@x.org>\n"
                "Co-authored-by: B <b@x.org>",
                OPENED - timedelta(hours=1),
                author="someone",
                email="s@Example.edu",
            ),
            Commit("Unknown hand", OPENED - timedelta(minutes=5), author=None),
        ],
        reviews=[Review("maria", OPENED + timedelta(hours=2), "Why?", "CHANGES_REQUESTED")],
    )
    thread = Thread(
        7,
        "someone",
        OPENED,
        "Fix the widget",
        "Fixes it.",
        comments=[
            Comment("maria", "Thank you", OPENED + timedelta(hours=1)),
            Comment(None, "I left", OPENED + timedelta(hours=3)),
        ],
        events=[Event("labeled", "maria", OPENED + timedelta(minutes=9), label="bug")],
        labels=["bug"],
        pull=pull,
    )
    widgets = Repository(
        WIDGETS.full_name,
        WIDGETS.id,
        old_names=["acme/gadgets"],
        roles={"maria": "maintain", "tim": "triage"},
        labels=[Label("bug", "d73a4a")],
        threads=[thread, *(_merged(number) for number in (3, 4))],
    )
    past = [PastPull("elsewhere/thing", OPENED - timedelta(days=day), day, merged=True) for day in range(1, 6)]
    past.append(PastPull("someone/own", OPENED - timedelta(days=9), 1, state="open"))
    return World(
        app=App(APP, public_key=public_key),
        installations=[Installation(INSTALLATION, "acme")],
        people=[
            Person("acme", type="Organization"),
            Person("someone", created_at=datetime(2020, 5, 1, tzinfo=UTC), pulls=past),
            Person("maria"),
            Person("tim"),
        ],
        repositories=[widgets],
        tokens={"personal-token-of-maria": "maria"},
    )


def _merged(number: int) -> Thread:
    at = OPENED - timedelta(days=30 - number)
    return Thread(number, "someone", at, state="closed", pull=Pull(head_ref=f"b{number}", merged_at=at))
