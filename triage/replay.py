"""Feeds saved deliveries through the same way in: signed, over HTTP, to a real server."""

import hashlib
import hmac
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from urllib.parse import urlsplit

TIMEOUT = 30.0  # seconds


class ReplayError(Exception):
    """Deliveries that cannot be read or sent; the message names the file and line, or the address."""


@dataclass(frozen=True, slots=True)
class Saved:
    """One saved delivery: GitHub's event name, its GUID, the raw body."""

    event: str
    guid: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """What the door said to one delivery: the HTTP status and its word."""

    guid: str
    status: int
    word: str


def read(path: Path) -> Iterator[Saved]:
    """Read ``{"event", "delivery", "body"}`` JSON lines; a body is an object, or a string that is sent as it stands.

    Raises
    ------
    ReplayError
        With file and line, when a line cannot be used.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ReplayError(f"{path}: {getattr(error, 'strerror', None) or 'not UTF-8'}") from None
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield _saved(json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                raise ReplayError(f"{path}:{number}: {_reason(error)}") from None


def _saved(told: dict[str, object]) -> Saved:
    body, event, guid = told["body"], told["event"], told["delivery"]
    if not isinstance(event, str) or not isinstance(guid, str):
        raise TypeError("event and delivery are strings")
    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return Saved(event, guid, text.encode())


def _reason(error: Exception) -> str:
    return f"no {error}" if isinstance(error, KeyError) else str(error)


def send(deliveries: Iterable[Saved], *, url: str, secret: bytes) -> Iterator[Answer]:
    """Sign deliveries with a secret and post them to a server, one after the other over one connection.

    Raises
    ------
    ReplayError
        When the server does not answer.
    """
    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=TIMEOUT)
    try:
        for one in deliveries:
            connection.request("POST", f"{parts.path}/webhooks/github", one.body, _headers(one, secret))
            response = connection.getresponse()
            told = json.loads(response.read() or b"{}")
            yield Answer(one.guid, response.status, str(told.get("status") or told.get("error") or ""))
    except (OSError, HTTPException, ValueError) as error:
        raise ReplayError(f"{url}: {error}; is a server running there?") from None
    finally:
        connection.close()


def _headers(one: Saved, secret: bytes) -> dict[str, str]:
    return {
        "Content-Type": "application/json",
        "User-Agent": "livefirst-replay",
        "X-GitHub-Event": one.event,
        "X-GitHub-Delivery": one.guid,
        "X-Hub-Signature-256": "sha256=" + hmac.new(secret, one.body, hashlib.sha256).hexdigest(),
    }
