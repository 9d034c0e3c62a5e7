"""``POST /graphql``: the author's past, counts by search, and the collapsing of a comment."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from fastapi import APIRouter

from standin.call import Answer, Call, Called, Refused
from standin.graphql_text import Field, NotGraphQL, asked
from standin.shapes import node, time
from standin.threads import sha
from standin.world import Person, World

router: Final = APIRouter()
NODES_MOST: Final = 100


class Unresolved(Exception):
    """A field that has no answer; ``kind`` is GitHub's word for why."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Sent:
    """A pull request of a person, here or elsewhere, as the author query shows it."""

    repo: str
    repo_id: int
    number: int
    created_at: datetime
    state: str
    merged: bool
    base: str

    def shape(self) -> dict[str, Any]:
        """Write every field that may be selected."""
        owner, _, name = self.repo.partition("/")
        return {
            "__typename": "PullRequest",
            "createdAt": time(self.created_at),
            "state": self.state,
            "number": self.number,
            "merged": self.merged,
            "closed": self.state != "OPEN",
            "baseRefName": self.base,
            "url": f"https://github.com/{self.repo}/pull/{self.number}",
            "repository": {
                "nameWithOwner": self.repo,
                "databaseId": self.repo_id,
                "name": name,
                "owner": {"login": owner, "__typename": "User"},
                "isPrivate": False,
            },
        }


def sent_by(world: World, person: Person) -> list[Sent]:
    """List every pull request that a person sent, oldest first."""
    found = [
        Sent(
            one.repo,
            _id_of(world, one.repo),
            one.number,
            one.created_at,
            _state(one.state, merged=one.merged),
            one.merged,
            one.base,
        )
        for one in person.pulls
    ]
    for repository in world.repositories:
        for thread in repository.threads:
            pull = thread.pull
            if pull is not None and (thread.author or "").casefold() == person.login.casefold():
                merged = pull.merged_at is not None
                state = _state(thread.state, merged=merged)
                found.append(
                    Sent(
                        repository.full_name,
                        repository.id,
                        thread.number,
                        thread.created_at,
                        state,
                        merged,
                        pull.base_ref,
                    )
                )
    return sorted(found, key=lambda one: one.created_at)


def _id_of(world: World, full_name: str) -> int:
    known = world.repository(full_name)
    return known.id if known else int(sha(full_name)[:8], 16)


def _state(state: str, *, merged: bool) -> str:
    return "MERGED" if merged else state.upper()


@router.post("/graphql")
async def graphql(call: Called) -> Answer:
    """Answer one operation; what cannot be resolved is null with an error, and the status is still 200."""
    if call.caller.kind not in {"installation", "person"}:
        raise Refused(401, "This endpoint requires you to be authenticated.")
    sent = await call.body()
    try:
        kind, fields = asked(str(sent.get("query") or ""), sent.get("variables") or {})
    except NotGraphQL as error:
        return Answer({"errors": [{"message": str(error), "locations": [{"line": 1, "column": 1}]}]})
    roots = MUTATIONS if kind == "mutation" else QUERIES
    data: dict[str, Any] = {}
    errors = []
    for one in fields:
        data[one.key] = None
        try:
            data[one.key] = _select(roots.get(one.name, _undefined)(call, one), one.fields)
        except Unresolved as error:
            place = {"path": [one.key], "locations": [{"line": 1, "column": 1}]}
            errors.append({"type": error.kind, **place, "message": str(error)})
    return Answer({"data": data, "errors": errors} if errors else {"data": data})


def _undefined(_: Call, one: Field) -> dict[str, Any]:
    raise Unresolved("undefinedField", f"Field '{one.name}' doesn't exist here")


def _select(value: Any, fields: list[Field]) -> Any:
    if isinstance(value, list):
        return [_select(one, fields) for one in value]
    if not isinstance(value, dict):
        return value
    chosen = {}
    for one in fields:
        if one.on is not None and one.on != value.get("__typename", one.on):
            continue
        if one.name not in value:
            raise Unresolved("undefinedField", f"Field '{one.name}' doesn't exist here")
        part = value[one.name]
        chosen[one.key] = _select(part(one) if callable(part) else part, one.fields)
    return chosen


def _connection(found: list[Sent]) -> Callable[[Field], dict[str, Any]]:
    def cut(one: Field) -> dict[str, Any]:
        given = one.arguments
        states = given.get("states")
        wanted = [states] if isinstance(states, str) else states
        some = [item for item in found if not wanted or item.state in wanted]
        if (given.get("orderBy") or {}).get("direction") == "DESC":
            some.reverse()
        many = given.get("first", given.get("last"))
        if many is None or not 0 <= many <= NODES_MOST:
            raise Unresolved("EXCESSIVE_PAGINATION", "Requesting more than 100 records exceeds the `first` limit.")
        nodes = some[:many] if "first" in given else some[len(some) - min(many, len(some)) :]
        shapes = [item.shape() for item in nodes]
        more = len(nodes) < len(some)
        page = {"hasNextPage": more and "first" in given, "hasPreviousPage": more and "last" in given}
        return {
            "totalCount": len(some),
            "nodes": shapes,
            "edges": [{"node": shape, "cursor": str(at)} for at, shape in enumerate(shapes)],
            "pageInfo": {**page, "startCursor": "0", "endCursor": str(len(nodes))},
        }

    return cut


def _person(world: World, person: Person) -> dict[str, Any]:
    return {
        "__typename": person.type,
        "login": person.login,
        "name": person.name,
        "email": person.email or "",
        "id": node("U", person.id),
        "databaseId": person.id,
        "createdAt": time(person.created_at),
        "pullRequests": _connection(sent_by(world, person)),
    }


def _user(call: Call, one: Field) -> dict[str, Any]:
    login = str(one.arguments.get("login"))
    found = call.world.person(login)
    if found is None or found.type != "User":
        raise Unresolved("NOT_FOUND", f"Could not resolve to a User with the login of '{login}'.")
    return _person(call.world, found)


def _search(call: Call, one: Field) -> dict[str, Any]:
    words = str(one.arguments.get("query", "")).split()
    given: dict[str, set[str]] = {}
    for word in words:
        name, _, value = word.partition(":")
        given.setdefault(name, set()).add(value.strip('"'))
    found = [item for author in given.get("author", ()) for item in _of_author(call.world, author)]
    repos = {name.casefold() for name in given.get("repo", ())}
    kept = [item for item in found if (not repos or item.repo.casefold() in repos) and _is(item, given)]
    shapes = [item.shape() for item in kept[: one.arguments.get("first") or NODES_MOST]]
    return {"issueCount": len(kept), "nodes": shapes, "edges": [{"node": shape} for shape in shapes]}


def _of_author(world: World, login: str) -> list[Sent]:
    person = world.person(login.removeprefix("@"))
    return [] if person is None else sent_by(world, person)


def _is(item: Sent, given: dict[str, set[str]]) -> bool:
    asked_for = given.get("is", set()) | given.get("state", set())
    true = {
        "pr",
        "merged" if item.merged else "unmerged",
        "open" if item.state == "OPEN" else "closed",
    }
    return "issue" not in asked_for and asked_for & {"open", "closed", "merged", "unmerged"} <= true


def _repository(call: Call, one: Field) -> dict[str, Any]:
    full_name = f"{one.arguments.get('owner')}/{one.arguments.get('name')}"
    found = call.world.repository(full_name) or call.world.renamed(full_name)
    if found is None:
        raise Unresolved("NOT_FOUND", f"Could not resolve to a Repository with the name '{full_name}'.")
    return {
        "__typename": "Repository",
        "nameWithOwner": found.full_name,
        "name": found.name,
        "id": node("R", found.id),
        "databaseId": found.id,
        "isArchived": found.archived,
        "isPrivate": found.private,
        "owner": {"login": found.owner},
    }


def _rate(call: Call, _: Field) -> dict[str, Any]:
    rate = call.request.app.state.limits.rate(call.caller.key, call.world.rate_limit)
    return {"limit": rate["limit"], "cost": 1, "remaining": rate["remaining"], "used": rate["used"], "resetAt": None}


def _viewer(call: Call, _: Field) -> dict[str, Any]:
    return _person(call.world, call.world.known(call.actor))


def _comments(world: World) -> Iterator[tuple[Any, Any]]:
    for repository in world.repositories:
        for thread in repository.threads:
            for one in thread.comments:
                yield repository, one


def _minimize(call: Call, one: Field) -> dict[str, Any]:
    given = one.arguments.get("input") or {}
    wanted = str(given.get("subjectId"))
    for repository, comment in _comments(call.world):
        if node("IC", comment.id) == wanted:
            try:
                call.repository(repository.owner, repository.name, "issues=write", "pull_requests=write")
            except Refused as error:
                raise Unresolved("FORBIDDEN", error.message) from None
            comment.minimized = str(given.get("classifier"))
            reason = comment.minimized.lower().replace("_", "-")
            minimized = {"__typename": "IssueComment", "isMinimized": True, "minimizedReason": reason, "id": wanted}
            return {"minimizedComment": minimized, "clientMutationId": given.get("clientMutationId")}
    raise Unresolved("NOT_FOUND", f"Could not resolve to a node with the global id of '{wanted}'")


QUERIES: Final[dict[str, Callable[[Call, Field], dict[str, Any]]]] = {
    "user": _user,
    "search": _search,
    "repository": _repository,
    "rateLimit": _rate,
    "viewer": _viewer,
}
MUTATIONS: Final[dict[str, Callable[[Call, Field], dict[str, Any]]]] = {"minimizeComment": _minimize}
