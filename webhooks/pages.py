"""The maintainers' pages: they show the read model and compute nothing. All of them are for signed-in people only."""

from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final, TypeVar

import jinja2
import structlog
from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse

from triage.views import PullPage, Queue
from triage.wiring import House
from webhooks import session

router: Final = APIRouter()
log = structlog.get_logger(__name__)

T = TypeVar("T")

UNITS: Final = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"))


class SignInNeeded(Exception):
    """Somebody without a session asks for a page."""


class OutOfReach(Exception):
    """What the page would show cannot be read now; the message names the part that fails."""


def _age(seconds: float) -> str:
    """Say how long something has lasted, in its largest whole unit."""
    for size, unit in UNITS:
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return "under a minute"


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _percent(share: float | None) -> str:
    return "unknown" if share is None else f"{share:.0%}"


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"age": _age, "moment": _moment, "percent": _percent}
    return environment


TEMPLATES: Final = _environment()


def _page(template: str, status: int = 200, **shown: object) -> HTMLResponse:
    return HTMLResponse(TEMPLATES.get_template(template).render(**shown), status)


def _is_api(request: Request) -> bool:
    return request.url.path.startswith("/api/")


# --- signing in -----------------------------------------------------------------


def signed_in(request: Request) -> None:
    """Let only those with a session pass.

    Raises
    ------
    SignInNeeded
        For everybody else.
    """
    sessions: session.Sessions = request.app.state.sessions
    if not sessions.holds(request.cookies.get(session.COOKIE)):
        raise SignInNeeded


async def ask_to_sign_in(request: Request, _: Exception) -> Response:
    """Answer 401 and say how to sign in."""
    if _is_api(request):
        return JSONResponse({"error": "sign in first: open the one-time link that the server printed"}, 401)
    return _page("sign_in.html", 401, link_works=request.app.state.sessions.link_works, refused=False)


@router.get("/login", include_in_schema=False)
def login(request: Request, token: Annotated[str, Query(max_length=200)] = "") -> Response:
    """Open a session by the one-time link, for a caller on this machine."""
    sessions: session.Sessions = request.app.state.sessions
    secret = sessions.open(token) if session.is_local(request) else None
    if secret is None:
        return _page("sign_in.html", 401, link_works=sessions.link_works, refused=True)
    house: House = request.app.state.house
    public = house.settings.public_url or ""
    response = RedirectResponse("/queue", 303)
    session.give(response, secret, https=request.url.scheme == "https" or public.startswith("https://"))
    return response


# --- the queue and its pull requests ----------------------------------------------


async def _ask(house: House, question: Callable[[], T]) -> T:
    """Ask the house in a worker thread; a failure is told apart from a part of the house that is down."""
    try:
        return await run_in_threadpool(question)
    except Exception as error:
        failing = [name for name, works in (await run_in_threadpool(house.ready)).items() if not works]
        if not failing:
            raise
        log.warning("page not shown", failing=failing)
        raise OutOfReach(", ".join(failing)) from error


async def say_out_of_reach(request: Request, error: Exception) -> Response:
    """Answer 503 and name the part that fails."""
    if _is_api(request):
        return JSONResponse({"error": f"out of reach: {error}"}, 503)
    return _page("out_of_reach.html", 503, failing=str(error))


async def admit_fault(request: Request, _: Exception) -> Response:
    """Answer 500 without details; the server logs them."""
    if request.method != "GET" or _is_api(request):
        return JSONResponse({"error": "a fault of ours: the server's log says more"}, 500)
    return _page("fault.html", 500)


async def _queue(request: Request) -> Queue:
    house: House = request.app.state.house
    return await _ask(house, house.queue)


async def _pull(request: Request, owner: str, repo: str, number: int) -> PullPage | None:
    house: House = request.app.state.house
    return await _ask(house, lambda: house.pull(owner, repo, number)) if 0 < number < 2**31 else None


@router.get("/", dependencies=[Depends(signed_in)], include_in_schema=False)
@router.get("/queue", dependencies=[Depends(signed_in)], include_in_schema=False)
async def queue(request: Request) -> Response:
    """Show every open pull request by lane, live people first."""
    return _page("queue.html", queue=await _queue(request))


@router.get("/pulls/{owner}/{repo}/{number}", dependencies=[Depends(signed_in)], include_in_schema=False)
async def pull(request: Request, owner: str, repo: str, number: int) -> Response:
    """Show a verdict with every sentence and weight."""
    found = await _pull(request, owner, repo, number)
    if found is None:
        return _page("not_found.html", 404, what=f"{owner}/{repo}#{number}")
    return _page("pull.html", page=found, row=found.row, verdict=found.verdict)


@router.get("/api/queue", dependencies=[Depends(signed_in)])
async def api_queue(request: Request) -> Response:
    """Return the queue as JSON."""
    return JSONResponse(asdict(await _queue(request)))


@router.get("/api/pulls/{owner}/{repo}/{number}", dependencies=[Depends(signed_in)])
async def api_pull(request: Request, owner: str, repo: str, number: int) -> Response:
    """Return a verdict as JSON."""
    found = await _pull(request, owner, repo, number)
    if found is None:
        return JSONResponse({"error": f"not known here: {owner}/{repo}#{number}"}, 404)
    return JSONResponse(asdict(found))
