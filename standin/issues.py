"""Issues, and pull requests as issues: comments, labels, timeline, locks; and the labels of a repository."""

from datetime import UTC, datetime
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from standin.acts import Stage, make_label, put_label, reword, say, set_lock, take_label
from standin.call import Answer, Call, Called, Refused
from standin.shapes import label, labels
from standin.thread_shapes import comment, issue
from standin.threads import Comment, Thread
from standin.timeline_shapes import timeline
from standin.world import Repository

router: Final = APIRouter(prefix="/repos/{owner}/{repo}")
READ: Final = ("issues=read", "pull_requests=read")
WRITE: Final = ("issues=write", "pull_requests=write")
BODY_MOST: Final = 65_536  # bytes
NAME_MOST: Final = 50
DESCRIPTION_MOST: Final = 100
LABELS_MOST: Final = 100


def stage(call: Call, repository: Repository) -> Stage:
    """Set the stage for what the caller does now."""
    return Stage(call.world, call.hooks, call.url, repository, call.actor, datetime.now(UTC), by_app=call.by_app)


def invalid(resource: str, field: str, code: str) -> Refused:
    """Refuse what was sent, as GitHub's validation does."""
    return Refused(422, "Validation Failed", [{"resource": resource, "code": code, "field": field}])


@router.get("/issues/{number:int}")
async def one_issue(call: Called, owner: str, repo: str, number: int) -> Answer:
    """Tell an issue or pull request."""
    found = call.repository(owner, repo, *READ)
    return Answer(issue(call.url, call.world, found, call.thread(found, number)))


@router.get("/issues/{number:int}/timeline")
async def happenings(call: Called, owner: str, repo: str, number: int) -> Answer:
    """List everything that happened on a thread, oldest first."""
    found = call.repository(owner, repo, *READ)
    page, headers = call.paged(timeline(call.url, call.world, found, call.thread(found, number)))
    return Answer(page, headers=headers)


@router.get("/issues/{number:int}/comments")
async def comments(call: Called, owner: str, repo: str, number: int) -> Answer:
    """List the comments, oldest first."""
    found = call.repository(owner, repo, *READ)
    thread = call.thread(found, number)
    page, headers = call.paged(thread.comments)
    return Answer([comment(call.url, call.world, found, thread, one) for one in page], headers=headers)


async def _body(call: Call) -> str:
    body = (await call.body()).get("body")
    if not isinstance(body, str) or not body.strip():
        raise invalid("IssueComment", "body", "missing_field")
    if len(body.encode()) > BODY_MOST:
        problem = {"resource": "IssueComment", "code": "unprocessable", "field": "data"}
        raise Refused(
            422, "Validation Failed", [{**problem, "message": "Body is too long (maximum is 65536 characters)"}]
        )
    return body


def _open(call: Call, repository: Repository, number: int) -> Thread:
    thread = call.thread(repository, number)
    if thread.locked and call.by_app:
        raise Refused(403, "Unable to create comment because issue is locked.")
    return thread


@router.post("/issues/{number:int}/comments")
async def post_comment(call: Called, owner: str, repo: str, number: int) -> Answer:
    """Comment on a thread; a locked one refuses."""
    found = call.repository(owner, repo, *WRITE)
    thread = _open(call, found, number)
    said = say(stage(call, found), thread, await _body(call))
    return Answer(comment(call.url, call.world, found, thread, said), 201)


def _comment(repository: Repository, number: int) -> tuple[Thread, Comment]:
    for thread in repository.threads:
        for one in thread.comments:
            if one.id == number:
                return thread, one
    raise Refused(404, "Not Found")


@router.get("/issues/comments/{number:int}")
async def one_comment(call: Called, owner: str, repo: str, number: int) -> Answer:
    """Tell a comment."""
    found = call.repository(owner, repo, *READ)
    thread, said = _comment(found, number)
    return Answer(comment(call.url, call.world, found, thread, said))


@router.patch("/issues/comments/{number:int}")
async def edit_comment(call: Called, owner: str, repo: str, number: int) -> Answer:
    """Edit a comment."""
    found = call.repository(owner, repo, *WRITE)
    thread, said = _comment(found, number)
    reword(stage(call, found), thread, said, await _body(call))
    return Answer(comment(call.url, call.world, found, thread, said))


@router.get("/issues/{number:int}/labels")
async def labels_of(call: Called, owner: str, repo: str, number: int) -> Answer:
    """List the labels of a thread."""
    found = call.repository(owner, repo, *READ)
    page, headers = call.paged(call.thread(found, number).labels)
    return Answer(labels(call.url, found, page), headers=headers)


@router.post("/issues/{number:int}/labels")
async def add_labels(call: Called, owner: str, repo: str, number: int) -> Answer:
    """Put labels on a thread, creating those that the repository lacks."""
    found = call.repository(owner, repo, *WRITE)
    thread = call.thread(found, number)
    names = await _names(call)
    if any(len(name) > NAME_MOST or not name.strip() for name in names):
        raise invalid("Label", "name", "invalid")
    if len(thread.labels) + len(names) > LABELS_MOST:  # GitHub adds up what is asked and what is there
        raise invalid("Issue", "labels", "invalid")
    for name in names:
        put_label(stage(call, found), thread, name)
    return Answer(labels(call.url, found, thread.labels))


async def _names(call: Call) -> list[str]:
    try:
        sent = await call.request.json()
    except ValueError:
        raise Refused(400, "Problems parsing JSON") from None
    names = sent.get("labels") if isinstance(sent, dict) else sent
    if not isinstance(names, list):
        raise Refused(422, 'Invalid request.\n\nNo subschema in "anyOf" matched.')
    return [str(one.get("name", "")) if isinstance(one, dict) else str(one) for one in names]


@router.delete("/issues/{number:int}/labels")
@router.delete("/issues/{number:int}/labels/")
async def remove_labels(call: Called, owner: str, repo: str, number: int) -> Response:
    """Take every label off: what a name that vanishes from the address would do."""
    found = call.repository(owner, repo, *WRITE)
    thread = call.thread(found, number)
    for name in list(thread.labels):
        take_label(stage(call, found), thread, name)
    return Response(status_code=204)


@router.delete("/issues/{number:int}/labels/{name:path}")
async def remove_label(call: Called, owner: str, repo: str, number: int, name: str) -> Answer:
    """Take a label off; an absent one is not found."""
    found = call.repository(owner, repo, *WRITE)
    thread = call.thread(found, number)
    if not take_label(stage(call, found), thread, name):
        raise Refused(404, "Label does not exist")
    return Answer(labels(call.url, found, thread.labels))


@router.put("/issues/{number:int}/lock")
async def lock(call: Called, owner: str, repo: str, number: int) -> Response:
    """Lock a thread."""
    found = call.repository(owner, repo, *WRITE)
    set_lock(stage(call, found), call.thread(found, number), locked=True)
    return Response(status_code=204)


@router.delete("/issues/{number:int}/lock")
async def unlock(call: Called, owner: str, repo: str, number: int) -> Response:
    """Unlock a thread."""
    found = call.repository(owner, repo, *WRITE)
    set_lock(stage(call, found), call.thread(found, number), locked=False)
    return Response(status_code=204)


@router.get("/labels")
async def all_labels(call: Called, owner: str, repo: str) -> Answer:
    """List the labels of a repository."""
    found = call.repository(owner, repo, *READ)
    page, headers = call.paged(found.labels)
    return Answer([label(call.url, found, one) for one in page], headers=headers)


@router.get("/labels/{name:path}")
async def one_label(call: Called, owner: str, repo: str, name: str) -> Answer:
    """Tell a label, asked for in any case of letters."""
    found = call.repository(owner, repo, *READ)
    known = found.label(name)
    if known is None:
        raise Refused(404, "Not Found")
    return Answer(label(call.url, found, known))


@router.post("/labels")
async def create_label(call: Called, owner: str, repo: str) -> Answer:
    """Create a label; a name that is there in any case of letters is refused."""
    found = call.repository(owner, repo, *WRITE)
    sent = await call.body()
    name, color, description = sent.get("name") or "", sent.get("color"), sent.get("description")
    if not name or len(name) > NAME_MOST:
        raise invalid("Label", "name", "invalid" if name else "missing_field")
    _check_looks(color, description)
    if found.label(name):
        raise invalid("Label", "name", "already_exists")
    return Answer(label(call.url, found, make_label(stage(call, found), name, color, description)), 201)


def _check_looks(color: str | None, description: str | None) -> None:
    if color is not None and (len(color) != 6 or not set(color.lower()) <= set("0123456789abcdef")):  # noqa: PLR2004
        raise invalid("Label", "color", "invalid")
    if description is not None and len(description) > DESCRIPTION_MOST:
        raise invalid("Label", "description", "invalid")


@router.patch("/labels/{name:path}")
async def change_label(call: Called, owner: str, repo: str, name: str) -> Answer:
    """Change a label; a new name goes with it to every thread that carries it."""
    found = call.repository(owner, repo, *WRITE)
    known = found.label(name)
    if known is None:
        raise Refused(404, "Not Found")
    sent = await call.body()
    _check_looks(sent.get("color"), sent.get("description"))
    new = sent.get("new_name") or known.name
    for thread in found.threads:
        thread.labels = [new if one == known.name else one for one in thread.labels]
    known.name = new
    known.color = sent.get("color") or known.color
    known.description = sent.get("description", known.description)
    return Answer(label(call.url, found, known))
