"""``/_standin/``: what no GitHub has. Seeds, shows and resets the world, asks for failures, and lets people act."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Body
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from standin import acts
from standin.call import Called
from standin.faults import Fault
from standin.gate import Gate
from standin.threads import Commit, File, Pull, ReviewComment, Thread, Time
from standin.world import World

router: Final = APIRouter(prefix="/_standin")
Doing = Literal[
    "open_pull",
    "open_issue",
    "comment",
    "edit_comment",
    "review",
    "review_comment",
    "push",
    "edit",
    "close",
    "merge",
    "reopen",
    "draft",
    "ready",
    "label",
    "unlabel",
    "lock",
    "unlock",
    "checks",
    "write_files",
]


class Act(BaseModel):
    """Something that a person does. Fields that the deed does not use are ignored."""

    model_config = ConfigDict(extra="forbid")

    do: Doing
    actor: str
    repo: str
    number: int | None = None
    at: Time | None = None
    title: str | None = None
    body: str | None = None
    label: str = ""
    state: str = "COMMENTED"
    conclusion: str = "success"
    comment: int | None = None
    path: str = "README.md"
    line: int | None = 1
    in_reply_to: int | None = None
    pull: Pull | None = None
    commits: list[Commit] = []
    changed: list[File] | None = None
    files: dict[str, str | None] = {}


def _gate(request: Request) -> Gate:
    gate: Gate = request.app.state.gate
    return gate


def _wrong(message: str) -> JSONResponse:
    return JSONResponse({"message": message}, 422)


@router.get("/state")
async def state(request: Request) -> Response:
    """Show the whole world, as a seed."""
    world: World = request.app.state.world
    return Response(world.to_json(), media_type="application/json")


@router.post("/seed")
async def seed(request: Request) -> Response:
    """Replace the world; the log, the faults and the deliveries begin anew."""
    try:
        world = World.from_json(await request.body())
    except ValidationError as error:
        return _wrong(str(error))
    request.app.state.renew(world)
    return Response(status_code=204)


@router.post("/reset")
async def reset(request: Request) -> Response:
    """Go back to the world that the stand-in started with."""
    request.app.state.renew(None)
    return Response(status_code=204)


@router.get("/requests")
async def requests(request: Request) -> JSONResponse:
    """List the requests that came in, oldest first."""
    return JSONResponse([asdict(one) for one in _gate(request).log])


@router.delete("/requests")
async def forget_requests(request: Request) -> Response:
    """Begin the list of requests anew."""
    _gate(request).log.clear()
    return Response(status_code=204)


@router.get("/faults")
async def faults(request: Request) -> JSONResponse:
    """List the failures that are still due."""
    return JSONResponse([asdict(one) for one in _gate(request).faults.due])


@router.post("/faults")
async def ask_fault(request: Request, fault: Annotated[Fault, Body()]) -> Response:
    """Ask for a failure."""
    _gate(request).faults.due.append(fault)
    return Response(status_code=204)


@router.delete("/faults")
async def drop_faults(request: Request) -> Response:
    """Let nothing fail any more."""
    _gate(request).faults.due.clear()
    return Response(status_code=204)


@router.get("/hooks")
async def hooks(request: Request) -> JSONResponse:
    """List the deliveries that were sent, oldest first, with what they were answered."""
    sent = request.app.state.hooks.sent
    return JSONResponse([{**asdict(one), "action": one.action, "delivered_at": None} for one in sent])


@router.get("/idle")
async def idle(request: Request) -> Response:
    """Answer when every delivery was sent."""
    await request.app.state.hooks.idle()
    return Response(status_code=204)


@router.post("/deliver/{event}")
async def deliver(request: Request, event: str, payload: Annotated[dict[str, Any], Body()]) -> JSONResponse:
    """Send any delivery, signed."""
    sent = request.app.state.hooks.send(request.app.state.world, event, payload)
    return JSONResponse({"guid": sent.guid if sent else None})


@router.post("/acts")
async def act(call: Called, asked: Act) -> JSONResponse:
    """Let a person do something: the world changes and the delivery goes out."""
    repository = call.world.repository(asked.repo)
    if repository is None:
        return _wrong(f"{asked.repo}: no such repository")
    by_app = asked.actor == call.world.app.bot
    at = asked.at or datetime.now(UTC)
    stage = acts.Stage(call.world, call.hooks, call.url, repository, asked.actor, at, by_app=by_app)
    if asked.do == "write_files":
        acts.write_files(stage, asked.files)
        return JSONResponse({})
    if asked.do in {"open_pull", "open_issue"}:
        pull = (asked.pull or Pull()) if asked.do == "open_pull" else None
        return JSONResponse({"number": acts.open_thread(stage, asked.title or "A change", asked.body, pull).number})
    thread = repository.thread(asked.number or 0)
    if thread is None:
        return _wrong(f"{asked.repo}#{asked.number}: no such thread")
    made = _on_thread(stage, thread, asked) or (thread.pull and _on_pull(stage, thread, thread.pull, asked))
    return JSONResponse(made) if made else _wrong(f"{asked.do}: not on this thread")


def _on_thread(stage: acts.Stage, thread: Thread, asked: Act) -> dict[str, Any] | None:
    match asked.do:
        case "comment":
            return {"id": acts.say(stage, thread, asked.body or "").id}
        case "edit_comment":
            found = next((one for one in thread.comments if one.id == asked.comment), None)
            if found is None:
                return None
            acts.reword(stage, thread, found, asked.body or "")
        case "edit":
            acts.edit(stage, thread, asked.title, asked.body)
        case "close":
            acts.close(stage, thread)
        case "reopen":
            acts.reopen(stage, thread)
        case "label":
            acts.put_label(stage, thread, asked.label)
        case "unlabel":
            acts.take_label(stage, thread, asked.label)
        case "lock" | "unlock":
            acts.set_lock(stage, thread, locked=asked.do == "lock")
        case _:
            return None
    return {"number": thread.number}


def _on_pull(stage: acts.Stage, thread: Thread, pull: Pull, asked: Act) -> dict[str, Any] | None:
    match asked.do:
        case "review":
            return {"id": acts.judge(stage, thread, pull, asked.state, asked.body or "").id}
        case "review_comment":
            said = ReviewComment(stage.actor, asked.body or "", stage.at, asked.path, asked.line)
            said.in_reply_to = asked.in_reply_to
            return {"id": acts.remark(stage, thread, pull, said).id}
        case "push":
            acts.push(stage, thread, pull, asked.commits, asked.changed)
        case "merge":
            acts.close(stage, thread, merged=True)
        case "draft" | "ready":
            acts.set_draft(stage, thread, pull, draft=asked.do == "draft")
        case "checks":
            acts.finish_checks(stage, thread, pull, asked.conclusion)
        case _:
            return None
    return {"number": thread.number}
