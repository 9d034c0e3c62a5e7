"""Webhooks out: signs what happened and posts it to the App, in order, and keeps what became of each."""

import asyncio
import hashlib
import hmac
import http.client
import json
import time
import uuid
from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlsplit

from standin.world import World

PATIENCE: Final = 10.0  # seconds that GitHub waits for an answer
KEPT: Final = 5000


@dataclass(slots=True)
class Sent:
    """One attempt of one delivery."""

    id: int
    guid: str
    event: str
    payload: dict[str, Any]
    redelivery: bool = False
    delivered_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    duration: float = 0.0
    status_code: int = 0
    status: str = "waiting"

    @property
    def action(self) -> str | None:
        """Return the payload's action."""
        return self.payload.get("action")


class Hooks:
    """The sender. ``start`` and ``stop`` belong to the event loop that the stand-in runs in."""

    def __init__(self) -> None:
        self.sent: deque[Sent] = deque(maxlen=KEPT)
        self._waiting: asyncio.Queue[tuple[Sent, str, bytes]] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self._next = 1

    def start(self) -> None:
        """Begin to send; a queue belongs to the event loop that it was first waited in."""
        self._waiting = asyncio.Queue()
        self._task = asyncio.create_task(self._send_all())

    async def stop(self) -> None:
        """Stop sending; what waits is dropped."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def send(self, world: World, event: str, payload: dict[str, Any], guid: str | None = None) -> Sent | None:
        """Queue a delivery; ``None`` when the App has no address or does not listen to this event."""
        app = world.app
        if app.webhook_url is None or (app.events and event not in app.events):
            return None
        one = Sent(self._next, guid or str(uuid.uuid4()), event, payload, redelivery=guid is not None)
        self._next += 1
        self.sent.append(one)
        self._waiting.put_nowait((one, app.webhook_url, (app.webhook_secret or "").encode()))
        return one

    async def idle(self) -> None:
        """Wait until everything queued was sent."""
        await self._waiting.join()

    async def _send_all(self) -> None:
        while True:
            one, url, secret = await self._waiting.get()
            try:
                await asyncio.to_thread(post, one, url, secret)
            finally:
                self._waiting.task_done()


def signed(body: bytes, secret: bytes) -> str:
    """Make the ``X-Hub-Signature-256`` header of a body."""
    return "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()


def headers_of(one: Sent, body: bytes, secret: bytes) -> dict[str, str]:
    """Make the headers that GitHub sends with a delivery."""
    headers = {
        "accept": "*/*",
        "content-type": "application/json",
        "user-agent": "GitHub-Hookshot/standin",
        "x-github-delivery": one.guid,
        "x-github-event": one.event,
        "x-github-hook-id": "1",
        "x-github-hook-installation-target-type": "integration",
    }
    return headers | ({"x-hub-signature-256": signed(body, secret)} if secret else {})


def post(one: Sent, url: str, secret: bytes) -> None:
    """Post one delivery and note the answer; an address that cannot be reached is noted, never raised."""
    body = json.dumps(one.payload, ensure_ascii=False, separators=(",", ":")).encode()
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.netloc, timeout=PATIENCE)
    began = time.monotonic()
    try:
        connection.request("POST", parts.path or "/", body, headers_of(one, body, secret))
        answer = connection.getresponse()
        answer.read()
        one.status_code = answer.status
        one.status = "OK" if answer.status < 400 else f"Invalid HTTP Response: {answer.status}"  # noqa: PLR2004
    except TimeoutError:
        one.status = "timed out"
    except OSError:
        one.status = "failed to connect to host"
    except http.client.HTTPException:
        one.status = "invalid answer"
    finally:
        connection.close()
        one.duration = round(time.monotonic() - began, 3)
