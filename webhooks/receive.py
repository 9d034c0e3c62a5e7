"""POST /webhooks/github: limit, verify, keep, answer.

202 is said only once the delivery is on disk. A refusal says how to mend it; the log gets one line a delivery, never
its body, its signature or a secret.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final, ParamSpec, TypeVar

import structlog
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from triage.events import Event, NotJson, read, understand
from triage.inbox import Arrival, Inbox, NotKept
from triage.metrics import DELIVERIES, DELIVERY_SECONDS
from webhooks.signature import verifies

PATH: Final = "/webhooks/github"
MAX_BODY: Final = 25 * 1024 * 1024  # bytes; GitHub sends no more
MAX_HELD: Final = 256 * 1024 * 1024  # bytes of all bodies being read at once: none of them is verified yet
LARGE: Final = 256 * 1024  # bytes of a body that is read aside, so that the other senders need not wait for it
MAX_NAME: Final = 100  # characters of a delivery's id or event
RETRY_AFTER: Final = "30"  # seconds

Headers = Mapping[bytes, bytes]
P = ParamSpec("P")
T = TypeVar("T")

log = structlog.get_logger(__name__)


class Refusal(Exception):
    """An answer other than 2xx, with what is wrong and how to mend it."""

    def __init__(self, status: int, outcome: str, error: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(error)
        self.outcome = outcome
        self.response = JSONResponse({"error": error}, status, headers)


ANSWERS: Final = {
    outcome: JSONResponse({"status": outcome}, status_code=202) for outcome in ("accepted", "duplicate", "ignored")
}


class Door:
    """The route as a plain ASGI application: a delivery is bytes until its signature is known to be right."""

    def __init__(self) -> None:
        self._held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one delivery."""
        began = time.perf_counter()
        headers: Headers = dict(scope["headers"])
        seen = _Seen(_name(headers, b"x-github-event"), _name(headers, b"x-github-delivery"))
        state = scope["app"].state
        response: Response | None = None
        try:
            body = await self._read(headers, receive, seen)
            aside = run_in_threadpool if len(body) > LARGE else _at_once
            event = await aside(_understand, body, headers, state.secrets, seen)
            seen.outcome = "ignored" if event is None else await _keep(state.house.inbox, event, body, seen)
            response = ANSWERS[seen.outcome]
        except Refusal as refusal:
            seen.outcome, response = refusal.outcome, refusal.response
            seen.reason = str(refusal)
        except NotKept as error:
            seen.outcome, seen.reason = "not_kept", str(error)
            response = JSONResponse({"error": "not stored: send it again later"}, 503, {"Retry-After": RETRY_AFTER})
        except ClientDisconnect:
            seen.outcome = "hung_up"
        finally:
            _note(seen, time.perf_counter() - began)
        if response is not None:
            await response(scope, receive, send)

    async def _read(self, headers: Headers, receive: Receive, seen: "_Seen") -> bytes:
        told = headers.get(b"content-length", b"")
        if told.isdigit() and (len(told) > len(str(MAX_BODY)) or int(told) > MAX_BODY):
            raise _too_large()
        chunks = []
        more = True
        try:
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                chunk, more = message.get("body", b""), message.get("more_body", False)
                chunks.append(chunk)
                seen.bytes += len(chunk)
                self._held += len(chunk)
                if seen.bytes > MAX_BODY:
                    raise _too_large()
                if self._held > MAX_HELD:
                    raise Refusal(503, "not_kept", "too much is being sent at once", {"Retry-After": RETRY_AFTER})
        finally:
            self._held -= seen.bytes
        return b"".join(chunks)


class _Seen:
    """What the log says of a delivery."""

    __slots__ = ("action", "bytes", "event", "guid", "outcome", "reason")

    def __init__(self, event: str | None, guid: str | None) -> None:
        self.event = event
        self.guid = guid
        self.action: str | None = None
        self.bytes = 0
        self.outcome = "failed"
        self.reason: str | None = None


async def _at_once(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    return call(*args, **kwargs)


def _understand(body: bytes, headers: Headers, secrets: Sequence[bytes], seen: _Seen) -> Event | None:
    if not verifies(body, headers.get(b"x-hub-signature-256"), secrets):
        raise Refusal(401, "unsigned", "X-Hub-Signature-256 is missing or does not fit: compare the webhook secrets")
    if seen.event is None:
        raise _malformed("X-GitHub-Event is missing or no event's name")
    if seen.guid is None:
        raise _malformed("X-GitHub-Delivery is missing or no delivery's id")
    kind = headers.get(b"content-type")
    if kind is not None and kind.partition(b";")[0].strip().lower() != b"application/json":
        raise _malformed("not JSON: set the webhook's content type to application/json")
    try:
        told = read(body)
    except NotJson as error:
        raise _malformed(str(error)) from None
    seen.action = None if told.action is None else told.action[:MAX_NAME]
    return understand(seen.event, told)


async def _keep(inbox: Inbox, event: Event, body: bytes, seen: _Seen) -> str:
    return await inbox.keep(
        Arrival(
            guid=seen.guid or "",
            event=event.event,
            action=event.action,
            installation_id=event.installation_id,
            repository_id=event.repository.id,
            subject=event.subject,
            body=body,
            received_at=time.time(),
        )
    )


def _name(headers: Headers, header: bytes) -> str | None:
    """Read a header that holds a name: it becomes a key and a word in the log, so that only printable ASCII is one."""
    value = headers.get(header, b"").decode("latin-1").strip()
    return value if 0 < len(value) <= MAX_NAME and value.isascii() and value.isprintable() else None


def _malformed(error: str) -> Refusal:
    return Refusal(400, "malformed", error)


def _too_large() -> Refusal:
    # The rest of the body is not read: the connection cannot be used again.
    return Refusal(413, "too_large", "a delivery has at most 25 MB", {"Connection": "close"})


def _note(seen: _Seen, seconds: float) -> None:
    DELIVERIES.labels(outcome=seen.outcome).inc()
    DELIVERY_SECONDS.observe(seconds)
    told = {"reason": seen.reason} if seen.reason is not None else {}
    say = log.warning if seen.outcome in {"not_kept", "failed"} else log.info
    say(
        "delivery",
        github_event=seen.event,
        action=seen.action,
        delivery=seen.guid,
        outcome=seen.outcome,
        bytes=seen.bytes,
        milliseconds=round(seconds * 1000, 2),
        **told,
    )
