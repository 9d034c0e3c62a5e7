"""Repositories: themselves, their files, who may do what there, check runs; and accounts and limits."""

from datetime import UTC, datetime
from typing import Final

from fastapi import APIRouter
from starlette.responses import PlainTextResponse, Response

from standin.call import Answer, Called, Refused, role_of
from standin.shapes import file, full_repository, profile, user
from standin.timeline_shapes import check_run
from standin.world import CheckRun, Repository

router: Final = APIRouter()
PERMISSION: Final = {"admin": "admin", "maintain": "write", "write": "write", "triage": "read", "read": "read"}
RIGHTS: Final = ("pull", "triage", "push", "maintain", "admin")
HELD: Final = {"read": 1, "triage": 2, "write": 3, "maintain": 4, "admin": 5}


@router.get("/repos/{owner}/{repo}")
async def repository(call: Called, owner: str, repo: str) -> Answer:
    """Tell a repository."""
    return Answer(full_repository(call.url, call.world, call.repository(owner, repo, "metadata=read")))


@router.get("/repos/{owner}/{repo}/contents")
@router.get("/repos/{owner}/{repo}/contents/{path:path}")
async def contents(call: Called, owner: str, repo: str, path: str = "") -> Response:
    """Read a file or list a folder of the default branch, or as of the head of a pull request."""
    found = call.repository(owner, repo, "contents=read")
    files = _files(found, call.request.query_params.get("ref") or "HEAD")
    path = path.strip("/")
    if path in files:
        text = files[path]
        if "raw" in call.request.headers.get("accept", ""):
            return PlainTextResponse(text, media_type="application/vnd.github.raw+json; charset=utf-8")
        return Answer(file(call.url, found, path, text))
    entries = _entries(files, path)
    if not entries:
        raise Refused(404, "Not Found")
    return Answer([file(call.url, found, entry, None, kind) for entry, kind in sorted(entries.items())])


def _files(repo: Repository, ref: str) -> dict[str, str]:
    if ref.removeprefix("refs/heads/") in {repo.default_branch, "HEAD"}:
        return repo.files
    for thread in repo.threads:
        if thread.pull is not None and ref == thread.pull.head_sha:
            return {**repo.files, **thread.pull.tree}
    raise Refused(404, f"No commit found for the ref {ref}")


def _entries(files: dict[str, str], folder: str) -> dict[str, str]:
    prefix = f"{folder}/" if folder else ""
    entries: dict[str, str] = {}
    for path in files:
        if path.startswith(prefix):
            first, deeper, _ = path.removeprefix(prefix).partition("/")
            entries[prefix + first] = "dir" if deeper else "file"
    return entries


@router.get("/repos/{owner}/{repo}/collaborators/{login}/permission")
async def permission(call: Called, owner: str, repo: str, login: str) -> Answer:
    """Tell what a person may do: folded to four words, with the true role name beside it."""
    found = call.repository(owner, repo, "metadata=read")
    person = call.person(login)
    role = role_of(found, person.login)
    rights = {right: at < HELD.get(role, 0) for at, right in enumerate(RIGHTS)}
    who = {**user(call.url, person), "permissions": rights, "role_name": role}
    return Answer({"permission": PERMISSION.get(role, "none"), "user": who, "role_name": role})


@router.post("/repos/{owner}/{repo}/check-runs")
async def report(call: Called, owner: str, repo: str) -> Answer:
    """Report on a commit; only an App may."""
    found = call.repository(owner, repo, "checks=write")
    if not call.by_app:
        raise Refused(403, "You must authenticate via a GitHub App.")
    sent = await call.body()
    if not sent.get("name") or not sent.get("head_sha"):
        raise Refused(422, 'Invalid request.\n\n"name", "head_sha" weren\'t supplied.')
    output = sent.get("output") or {}
    if len(str(output.get("summary") or "").encode()) > 65_535:  # noqa: PLR2004  # GitHub's limit
        raise Refused(422, "Invalid request.\n\nsummary exceeds a maximum bytesize of 65535.")
    conclusion = sent.get("conclusion")
    run = CheckRun(
        sent["name"],
        sent["head_sha"],
        "completed" if conclusion else sent.get("status", "queued"),
        conclusion,
        output.get("title"),
        output.get("summary"),
        datetime.now(UTC),
        call.world.give_id(),
    )
    found.check_runs.append(run)
    return Answer(check_run(call.url, call.world, found, run), 201)


@router.get("/users/{login}")
async def person(call: Called, login: str) -> Answer:
    """Tell an account."""
    return Answer(profile(call.url, call.person(login)))


@router.get("/user")
async def myself(call: Called) -> Answer:
    """Tell whose token this is."""
    if call.caller.login is None:
        if call.by_app:
            raise Refused(403, "Resource not accessible by integration")
        raise Refused(401, "Requires authentication")
    return Answer(profile(call.url, call.world.known(call.caller.login)))


@router.get("/rate_limit")
async def limits(call: Called) -> Answer:
    """Tell the limits; asking costs nothing."""
    core = call.request.app.state.limits.rate(call.caller.key, call.world.rate_limit)
    idle = {**core, "used": 0, "remaining": core["limit"]}
    return Answer({"resources": {"core": core, "search": idle, "graphql": idle}, "rate": core})
