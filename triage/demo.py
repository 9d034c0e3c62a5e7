"""The main job without any account: a stand-in for GitHub, the real server, and the story's signed deliveries."""

import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from triage import replay, server
from triage.settings import PREFIX

JUDGED_WITHIN: Final = 120.0  # seconds
SETTLE_SECONDS: Final = 0.3  # a demo need not wait for a maintainer's second click


class DemoError(Exception):
    """The demo could not run to its end; the message says where it stopped."""


@dataclass(frozen=True, slots=True)
class Running:
    """A demo that has been told its story: where its page is, where its GitHub is, and what the door answered."""

    url: str
    github: str
    sign_in: str
    answers: tuple[replay.Answer, ...]
    database_url: str


@contextmanager
def running(folder: Path | None = None) -> Iterator[Running]:
    """Start everything, tell the story, and wait until every delivery is judged; stops it all at the end.

    ``folder`` keeps the database and the logs; without one they are thrown away.

    Raises
    ------
    DemoError, ServerError, ReplayError
        When a part does not start or the story is not judged in time.
    """
    with ExitStack() as stack:
        home = folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="livefirst-demo-")))
        _tell(home)
        port, github_port = server.free_port(), server.free_port()
        github = f"http://{server.LOOPBACK}:{github_port}"
        url = f"http://{server.LOOPBACK}:{port}"
        env = _environment(home, url=url, github=github, port=port)
        stack.enter_context(_github(home, github_port))
        stack.enter_context(server.child(["-m", "triage", "serve"], port=port, log=home / "serve.log", env=env))
        secret = env[f"{PREFIX}WEBHOOK_SECRET"].encode()
        answers = tuple(replay.send(replay.read(home / "deliveries.jsonl"), url=url, secret=secret))
        _wait_until_judged(port, home / "serve.log")
        token = env[f"{PREFIX}SIGN_IN_TOKEN"]
        yield Running(url, github, f"{url}/login?token={token}", answers, env[f"{PREFIX}DATABASE_URL"])


def _tell(home: Path) -> None:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    told = subprocess.run(  # noqa: S603 - our own program, no shell
        [sys.executable, "-m", "standin.story", "--now", now, "--out", str(home)],
        capture_output=True,
        text=True,
        check=False,
    )
    if told.returncode:
        raise DemoError(f"the story could not be told:\n{told.stderr[-2000:]}")


@contextmanager
def _github(home: Path, port: int) -> Iterator[None]:
    arguments = ["-m", "standin", "--port", str(port), "--seed", str(home / "world.json")]
    with server.child(arguments, port=port, log=home / "github.log", env={}):
        yield


def _environment(home: Path, *, url: str, github: str, port: int) -> dict[str, str]:
    key = home / "app.pem"
    private = generate_private_key(public_exponent=65537, key_size=2048)
    key.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()))
    key.chmod(0o600)
    world: dict[str, Any] = json.loads((home / "world.json").read_text(encoding="utf-8"))
    settings = {
        "DATABASE_URL": f"sqlite:///{home / 'livefirst.db'}",
        "APP_ID": str(world["app"]["id"]),
        "PRIVATE_KEY_FILE": str(key),
        "WEBHOOK_SECRET": secrets.token_hex(32),
        "SIGN_IN_TOKEN": secrets.token_urlsafe(32),
        "GITHUB_API_URL": github,
        "PUBLIC_URL": url,
        "HOST": server.LOOPBACK,
        "PORT": str(port),
        "SETTLE_SECONDS": str(SETTLE_SECONDS),
        "ENV_FILE": "",
    }
    # A setting of the operator's own installation must never leak into the demo.
    cleared = {name: "" for name in os.environ if name.startswith(PREFIX)}
    return {**cleared, **{PREFIX + name: value for name, value in settings.items()}}


def _wait_until_judged(port: int, log: Path) -> None:
    until = time.monotonic() + JUDGED_WITHIN
    quiet = 0
    while quiet < 3:  # noqa: PLR2004 - a judged thread may ring for its commenters, and they for their threads
        if time.monotonic() > until:
            raise DemoError(f"the story was not judged in {JUDGED_WITHIN:.0f} s; the server's log is {log}")
        quiet = quiet + 1 if _waiting(port) == 0 else 0
        time.sleep(0.25)


def _waiting(port: int) -> float:
    with closing(HTTPConnection(server.LOOPBACK, port, timeout=10)) as connection:
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
    lines = (line.split() for line in text.splitlines() if line.startswith("livefirst_waiting_subjects "))
    return sum(float(parts[1]) for parts in lines)
