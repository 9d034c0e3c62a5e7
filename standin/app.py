"""The stand-in as one ASGI application: ``uvicorn standin.app:create_app --factory``."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from standin import admin, apps, graphql, issues, pulls, repositories
from standin.call import Refused
from standin.gate import Gate, kind_of
from standin.hooks import Hooks
from standin.world import World

ROUTERS: Final = tuple(module.router for module in (admin, apps, repositories, pulls, issues, graphql))
SEED: Final = "STANDIN_SEED"  # names a file with the world to start with


def create_app(world: World | None = None) -> Gate:
    """Make a stand-in with this world, else with the seed in the file named by ``STANDIN_SEED``, else empty."""
    if world is None:
        named = os.environ.get(SEED)
        world = World.from_json(Path(named).read_bytes()) if named else World()
    app = FastAPI(title="A stand-in for GitHub", openapi_url=None, redirect_slashes=False, lifespan=_lifespan)
    gate = Gate(app, app.state)
    first = world.to_json()

    def renew(fresh: World | None) -> None:
        app.state.world = fresh or World.from_json(first)
        gate.log.clear()
        gate.faults.due.clear()
        gate.limits.forget()
        app.state.hooks.sent.clear()

    app.state.gate = gate
    app.state.limits = gate.limits
    app.state.hooks = Hooks()
    app.state.world = world
    app.state.renew = renew
    app.add_exception_handler(Refused, _refuse)
    app.add_exception_handler(404, _nowhere)
    for router in ROUTERS:
        app.include_router(router)
    return gate


def endpoints() -> set[tuple[str, str]]:
    """List what can be asked, as pairs of a method and a kind in the words of the request log."""
    found = set()
    for router in ROUTERS:
        for route in router.routes:
            if isinstance(route, Route | APIRoute):
                found |= {(method, kind_of(route.path)) for method in route.methods or ()}
    return found


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    hooks: Hooks = app.state.hooks
    hooks.start()
    yield
    await hooks.stop()


async def _refuse(_: Request, error: Exception) -> Response:
    return error.answer() if isinstance(error, Refused) else Response(status_code=500)


async def _nowhere(_: Request, __: Exception) -> Response:
    return Refused(404, "Not Found").answer()
