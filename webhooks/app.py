"""Everything with a URL, put together: the only place that makes the web application."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from fastapi.telemetry import TelemetryConfig
from starlette.datastructures import MutableHeaders
from starlette.middleware.errors import ServerErrorMiddleware
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from triage import settings as told
from triage.metrics import BACKLOG, CONTENT_TYPE_LATEST, WAITING, exposition
from triage.settings import Settings
from triage.wiring import House, build
from webhooks import pages, receive
from webhooks.session import Sessions

HERE: Final = Path(__file__).parent
STATIC: Final = "/static"

# Nothing but our own style sheet is loaded, nothing runs, nobody frames the page, and no copy stays behind.
SEAL: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

UNKEPT: Final = {"Cache-Control": "no-store"}

log = structlog.get_logger(__name__)


class Web(FastAPI):
    """The application, with the door in front: a delivery does not pass through what is made for pages."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.door = Route(receive.PATH, receive.Door(), methods=["POST"])
        self._delivered = ServerErrorMiddleware(self.door.app, handler=_admit_fault)

    async def __call__(self, scope: Scope, receive_: Receive, send: Send) -> None:
        """Let a delivery in by the shortest way, and everything else by the usual one."""
        if scope["type"] == "http" and scope["path"] == receive.PATH and scope["method"] == "POST":
            scope["app"] = self
            await self._delivered(scope, receive_, send)
        else:
            await super().__call__(scope, receive_, send)


def create_app(settings: Settings | None = None, *, house: House | None = None) -> FastAPI:
    """Make the application; the house is built from the settings when it starts, unless one is given.

    Raises
    ------
    SettingsError
        When no settings are given and those of the environment cannot be used.
    """
    given = settings or (house.settings if house is not None else told.load())

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        built = house or build(given)
        app.state.house = built
        app.state.secrets = built.settings.webhook_secrets
        app.state.sessions = Sessions(built.sign_in_token)
        await run_in_threadpool(built.start)
        try:
            yield
        finally:
            await run_in_threadpool(built.stop)

    silent = TelemetryConfig(tracing=False, metrics=False, logs=False)  # else asked for anew at every request
    app = Web(title="Livefirst", docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan, telemetry=silent)
    app.router.routes.append(app.door)
    app.router.routes.append(Mount(STATIC, StaticFiles(directory=HERE / "static"), name="static"))
    app.add_api_route("/healthz", _healthz, methods=["GET"])
    app.add_api_route("/readyz", _readyz, methods=["GET"])
    app.add_api_route("/metrics", _metrics, methods=["GET"])
    app.include_router(pages.router)
    app.add_exception_handler(pages.SignInNeeded, pages.ask_to_sign_in)
    app.add_exception_handler(pages.OutOfReach, pages.say_out_of_reach)
    app.add_exception_handler(Exception, _admit_fault)
    app.add_middleware(Sealed)
    return app


async def _admit_fault(request: Request, error: Exception) -> Response:
    """Seal the answer here: it is made outside of the middleware."""
    response = await pages.admit_fault(request, error)
    response.headers.update({**SEAL, **UNKEPT})
    return response


async def _healthz() -> JSONResponse:
    return JSONResponse({"status": "alive"})


def _readyz(request: Request) -> JSONResponse:
    """Tell whether deliveries can be stored and worked on; 503 names the parts that fail."""
    parts = request.app.state.house.ready()
    failing = [name for name, works in parts.items() if not works]
    return JSONResponse({"status": "failing" if failing else "ready", "failing": failing}, 503 if failing else 200)


def _metrics(request: Request) -> Response:
    try:
        request.app.state.house.measure()
    except Exception:  # noqa: BLE001 - whatever keeps the backlog from being counted, the other figures are known
        log.warning("backlog not counted")
        for gauge in (BACKLOG, WAITING):
            gauge.set(float("nan"))
    return Response(exposition(), media_type=CONTENT_TYPE_LATEST)


class Sealed:
    """Puts the security headers on every page; the door's answers are for a machine and go without."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive_: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http" or scope["path"] == receive.PATH:
            await self._app(scope, receive_, send)
            return

        async def seal(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(SEAL)
                if not scope["path"].startswith(STATIC):
                    headers.update(UNKEPT)
            await send(message)

        await self._app(scope, receive_, seal)
