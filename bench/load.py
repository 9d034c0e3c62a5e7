"""A load of signed deliveries over kept-alive connections, cheap enough that the server is what is measured."""

import asyncio
import hashlib
import hmac
import json
import time
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

SECRET: Final = "bench-secret"
BODY_BYTES: Final = 25_000
EPOCH: Final = datetime(2026, 11, 1, 10, tzinfo=UTC)
PEOPLE: Final = 97
HOURS_APART: Final = 3.0  # between the comments of one person: a load of floods would measure floods


@dataclass(frozen=True, slots=True)
class Measured:
    """One run: answers a second, the 99th percentile of an answer's time in seconds, and answers by status."""

    rate: float
    p99: float
    statuses: dict[int, int]


def comment(number: int, *, comment_id: int, person: int = 9, hours: float = 0.0, filler: int = 0) -> dict[str, Any]:
    """Return an ``issue_comment.created`` body of the usual size; unknown fields fill it as GitHub's many do.

    ``hours`` after a fixed moment it was written: what one person writes hours apart is no flood.
    """
    at = (EPOCH + timedelta(hours=hours)).isoformat()
    user = {"login": f"person{person}", "id": 1000 + person, "type": "User"}
    body: dict[str, Any] = {
        "action": "created",
        "issue": {
            "number": number,
            "title": "Speed up the loader",
            "body": "It reads every shard twice.",
            "user": user,
            "state": "open",
            "locked": False,
            "labels": [],
            "author_association": "NONE",
            "created_at": at,
            "updated_at": at,
            "pull_request": {"url": "", "merged_at": None},
        },
        "comment": {
            "id": comment_id,
            "node_id": f"IC_{comment_id}",
            "user": user,
            "body": "Thanks, I have read the second loop again and it is needed there.",
            "author_association": "NONE",
            "created_at": at,
            "updated_at": at,
        },
        "repository": {"id": 700, "full_name": "acme/widgets", "private": False, "default_branch": "main"},
        "sender": user,
        "installation": {"id": 70},
    }
    if filler:
        row = {"url": "https://api.example.test/repos/acme/widgets/" + "x" * 60, "count": 1, "on": True, "none": None}
        body["filler"] = [row] * max((filler - len(json.dumps(body))) // (len(json.dumps(row)) + 2), 0)
    return body


def request(raw: bytes, event: str, guid: str) -> bytes:
    """Return the bytes of one signed request."""
    signature = hmac.new(SECRET.encode(), raw, hashlib.sha256).hexdigest()
    head = (
        "POST /webhooks/github HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"User-Agent: GitHub-Hookshot/bench\r\nX-GitHub-Event: {event}\r\nX-GitHub-Delivery: {guid}\r\n"
        f"X-Hub-Signature-256: sha256={signature}\r\nContent-Length: {len(raw)}\r\n\r\n"
    )
    return head.encode() + raw


def requests(count: int, *, threads: int) -> list[bytes]:
    """Return requests of 25 KB each, every one a comment of its own, spread over pull requests."""
    made = []
    for index in range(count):
        hours = index // PEOPLE * HOURS_APART
        body = comment(1 + index % threads, comment_id=index, person=index % PEOPLE, hours=hours, filler=BODY_BYTES)
        made.append(request(json.dumps(body).encode(), "issue_comment", str(uuid.UUID(int=uuid.uuid4().int))))
    return made


def run(port: int, made: list[bytes], *, connections: int) -> Measured:
    """Send every request once, over that many connections, each waiting for its answer before the next."""
    return asyncio.run(_run(port, made, connections))


def _length(head: bytes) -> int:
    lines = (line.partition(b":") for line in head.lower().split(b"\r\n"))
    return next((int(value) for name, _, value in lines if name == b"content-length"), 0)


async def _run(port: int, made: list[bytes], connections: int) -> Measured:
    left = iter(made)
    times: list[float] = []
    statuses: dict[int, int] = {}

    async def sender() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for raw in left:
            began = time.perf_counter()
            writer.write(raw)
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(_length(head))
            times.append(time.perf_counter() - began)
            status = int(head[9:12])
            statuses[status] = statuses.get(status, 0) + 1
        writer.close()
        await writer.wait_closed()

    began = time.perf_counter()
    await asyncio.gather(*(sender() for _ in range(connections)))
    spent = time.perf_counter() - began
    return Measured(len(times) / spent, sorted(times)[int(len(times) * 0.99)], statuses)
