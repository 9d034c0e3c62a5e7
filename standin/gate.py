"""What every request passes: the log, the caller, the limits, the failures asked for, and ETags."""

import asyncio
import hashlib
import json
import time
from collections import deque
from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from standin.call import Refused
from standin.faults import Failure, Fault, Faults, failure
from standin.tokens import NOBODY, BadToken, caller
from standin.world import World

HOUR: Final = 3600
LOGGED: Final = 100_000
ADMIN: Final = "/_standin"
ENTERPRISE: Final = "/api/v3"


@dataclass(slots=True)
class Asked:
    """One request as logged. ``kind`` is the route's pattern; ``at`` is in seconds since 1970."""

    at: float
    method: str
    path: str
    query: str
    caller: str
    kind: str | None = None
    status: int | None = None
    fault: str | None = None


class Limits:
    """How much each caller used of its hour."""

    def __init__(self) -> None:
        self._used: dict[str, tuple[int, int]] = {}

    def rate(self, key: str, limit: int) -> dict[str, int]:
        """Tell what is left without using any."""
        now = int(time.time())
        used, reset = self._used.get(key, (0, now + HOUR))
        if reset <= now:
            used, reset = 0, now + HOUR
        return {"limit": limit, "remaining": max(0, limit - used), "reset": reset, "used": used}

    def forget(self) -> None:
        """Give everybody a fresh hour."""
        self._used.clear()

    def use(self, key: str, limit: int, cost: int = 1) -> dict[str, int]:
        """Count one request."""
        rate = self.rate(key, limit)
        self._used[key] = (rate["used"] + cost, rate["reset"])
        return self.rate(key, limit)


class Gate:
    """The ASGI application around the routes."""

    def __init__(self, app: ASGIApp, state: Any) -> None:
        self.app = app
        self.state = state
        self.log: deque[Asked] = deque(maxlen=LOGGED)
        self.faults = Faults()
        self.limits = Limits()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request through."""
        if scope["type"] != "http" or scope["path"].startswith(ADMIN):
            scope.setdefault("state", {}).update(prefix="", caller=NOBODY)
            await self.app(scope, receive, send)
            return
        world: World = self.state.world
        _strip(scope, world)
        headers = dict(scope["headers"])
        who, refusal = NOBODY, None
        try:
            who = caller(world, headers.get(b"authorization", b"").decode("latin-1"))
        except BadToken as error:
            refusal = Refused(401, str(error))
        where = world.installation(who.installation)
        if who.kind == "installation" and (where is None or where.suspended_at is not None):
            refusal = Refused(403, "This installation has been suspended")
        scope["state"]["caller"] = who
        asked = Asked(time.time(), scope["method"], scope["path"], scope["query_string"].decode("latin-1"), who.key)
        self.log.append(asked)
        fault = self.faults.take(asked.method, asked.path)
        asked.fault = fault.shape if fault else None
        reply = _Reply(self, asked, send, headers)
        try:
            await self._answer(scope, receive, reply, fault, refusal)
        finally:
            route = scope.get("route")
            asked.kind = kind_of(route.path) if route else None

    async def _answer(
        self, scope: Scope, receive: Receive, reply: "_Reply", fault: Fault | None, refusal: Refused | None
    ) -> None:
        late = fault is not None and fault.shape == "slow" and fault.when == "after"
        if fault is not None and not late:
            await asyncio.sleep(fault.seconds)
        failed = failure(fault) if fault else None
        if fault and (failed or fault.shape.startswith("cut")) and fault.when == "after":
            await self.app(scope, receive, _drop)
        if fault and fault.shape.startswith("cut"):
            await reply.cut(receive, within=fault.shape == "cut_body")
        elif failed:
            await reply.fail(failed)
        elif refusal:
            await refusal.answer()(scope, receive, reply.send)
        elif reply.rate["used"] > reply.rate["limit"] and scope["path"] != "/rate_limit":
            limit = Refused(403, "API rate limit exceeded for installation ID 1.")
            await limit.answer()(scope, receive, reply.send)
        else:
            await self.app(scope, receive, _late(reply.send, fault.seconds) if fault and late else reply.send)


def _late(send: Send, seconds: float) -> Send:
    """Keep an answer back for a while; what it tells of is done."""

    async def later(message: Message) -> None:
        if message["type"] == "http.response.start":
            await asyncio.sleep(seconds)
        await send(message)

    return later


def _strip(scope: Scope, world: World) -> None:
    """Answer at an Enterprise Server's addresses, and at a repository's number, as at GitHub's own."""
    path: str = scope["path"]
    scope.setdefault("state", {})["prefix"] = ""
    if path == "/api/graphql":
        path = "/graphql"
    elif path.startswith(ENTERPRISE + "/"):
        path = path.removeprefix(ENTERPRISE)
        scope["state"]["prefix"] = ENTERPRISE
    if path.startswith("/repositories/"):
        number, slash, rest = path.removeprefix("/repositories/").partition("/")
        found = next((one for one in world.repositories if str(one.id) == number), None)
        path = f"/repos/{found.full_name}{slash}{rest}" if found else path
    scope["path"] = path
    scope["raw_path"] = path.encode()


def kind_of(pattern: str) -> str:
    """Write a route's pattern as the log does, without the types of its parts."""
    return pattern.replace(":int}", "}").replace(":path}", "}")


async def _drop(_: Message) -> None:
    """Lose an answer on its way."""


def _own(etag: str, token: bytes) -> str:
    return f'W/"{hashlib.sha256(etag.encode() + token).hexdigest()}"'


class _Reply:
    """One answer on its way out."""

    def __init__(self, gate: Gate, asked: Asked, send: Send, headers: dict[bytes, bytes]) -> None:
        self._asked = asked
        self._send = send
        self._etag = headers.get(b"if-none-match")
        self._token = headers.get(b"authorization", b"")
        self._unchanged = False
        limits, limit = gate.limits, gate.state.world.rate_limit
        free = asked.path == "/rate_limit"
        self.rate = limits.rate(asked.caller, limit) if free else limits.use(asked.caller, limit)
        self._limits, self._limit = limits, limit

    async def send(self, message: Message) -> None:
        """Send a part, with the headers that every answer has; an answer that the caller has already is a 304."""
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            if "etag" in headers:  # GitHub's differ from token to token
                headers["etag"] = _own(headers["etag"], self._token)
            same = self._etag is not None and headers.get("etag", "").encode() == self._etag
            self._unchanged = same and message["status"] == 200 and self._asked.method == "GET"  # noqa: PLR2004
            if self._unchanged:
                message["status"] = 304
                del headers["content-length"]
                self.rate = self._limits.use(self._asked.caller, self._limit, -1)
            self._stamp(headers)
            self._asked.status = message["status"]
        elif self._unchanged:
            message = {**message, "body": b""}
        await self._send(message)

    def _stamp(self, headers: MutableHeaders) -> None:
        resource = "graphql" if self._asked.path == "/graphql" else "core"
        for name, value in {**self.rate, "resource": resource}.items():
            headers.setdefault(f"x-ratelimit-{name}", str(value))
        headers.setdefault("x-github-media-type", "github.v3; format=json")
        headers.setdefault("x-github-api-version-selected", "2022-11-28")
        headers.setdefault("x-github-request-id", f"{id(self._asked):X}")

    async def fail(self, failed: Failure) -> None:
        """Send a failed answer instead of the true one."""
        body = b"" if failed.body is None else failed.body
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        kind = b"text/html" if body.startswith(b"<") else b"application/json; charset=utf-8"
        start: MutableMapping[str, Any] = {
            "type": "http.response.start",
            "status": failed.status,
            "headers": [
                (b"content-type", kind),
                *((name.encode(), value.encode()) for name, value in failed.headers.items()),
            ],
        }
        if failed.status != 304:  # noqa: PLR2004
            start["headers"].append((b"content-length", str(len(body)).encode()))
        await self.send(start)
        await self._send({"type": "http.response.body", "body": body})

    async def cut(self, receive: Receive, *, within: bool) -> None:
        """End the connection without an answer, or within one."""
        transport = getattr(getattr(self._send, "__self__", None), "transport", None)  # uvicorn's cycle holds it
        if within or transport is None:
            head = [(b"content-type", b"application/json"), (b"content-length", b"1000")]
            await self._send({"type": "http.response.start", "status": 200, "headers": head})
            await self._send({"type": "http.response.body", "body": b'{"id": ', "more_body": True})
            await asyncio.sleep(0.01)  # let the part go out
        if transport is not None:
            transport.abort()
            while (await receive())["type"] != "http.disconnect":  # the server must see it before this returns
                pass
