"""The stand-in as one ASGI application: ``uvicorn standin.app:create_app --factory``."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from standin import admin, apps, graphql, issues, pulls, repositories
from standin.call import Refused
from standin.gate import Gate
from standin.hooks import Hooks
from standin.world import World

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
    for module in (admin, apps, repositories, pulls, issues, graphql):
        app.include_router(module.router)
    return gate


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
