"""One request against the world: what it may reach, what it was asked, and how it is answered."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, TypeVar
from urllib.parse import quote, urlencode

from fastapi import Depends, Request
from starlette.responses import JSONResponse

from standin.hooks import Hooks
from standin.threads import Thread
from standin.tokens import Caller
from standin.world import Installation, Person, Repository, World

T = TypeVar("T")

DOCS: Final = "https://docs.github.com/rest"
LEVELS: Final = ("none", "read", "write", "admin")
PER_PAGE: Final = 30
PER_PAGE_MOST: Final = 100


class Refused(Exception):
    """An answer that is an error, in GitHub's shape."""

    def __init__(
        self,
        status: int,
        message: str,
        errors: Sequence[Mapping[str, str]] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.errors = errors
        self.headers = headers

    def answer(self) -> "Answer":
        """Write it as GitHub does."""
        body: dict[str, Any] = {"message": self.message, "documentation_url": DOCS, "status": str(self.status)}
        if self.errors is not None:
            body["errors"] = list(self.errors)
        return Answer(body, self.status, self.headers)


class Moved(Refused):
    """A repository asked for by a name that it no longer has."""

    def __init__(self, method: str, url: str) -> None:
        status, message = (301, "Moved Permanently") if method == "GET" else (307, "Temporary Redirect")
        super().__init__(status, message, headers={"location": url})
        self.url = url

    def answer(self) -> "Answer":
        """Write it as GitHub does."""
        return Answer({"message": self.message, "url": self.url, "documentation_url": DOCS}, self.status, self.headers)


class Answer(JSONResponse):
    """A JSON answer with the ETag of its bytes."""

    media_type = "application/json; charset=utf-8"

    def __init__(self, value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(value, status, dict(headers or {}))
        self.headers["etag"] = f'W/"{hashlib.sha256(bytes(self.body)).hexdigest()}"'


class Call:
    """The request, its caller and the world. The gate has read the caller before."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.world: World = request.app.state.world
        self.hooks: Hooks = request.app.state.hooks
        self.caller: Caller = request.scope["state"]["caller"]

    @property
    def url(self) -> str:
        """Return the address that this answer's links start with, without a slash at the end."""
        prefix: str = self.request.scope["state"]["prefix"]
        return (self.world.url or str(self.request.base_url)).rstrip("/") + prefix

    @property
    def actor(self) -> str:
        """Return the login that a write is done under."""
        return self.caller.login or self.world.app.bot

    @property
    def by_app(self) -> bool:
        """Tell whether the App itself is calling."""
        return self.caller.kind == "installation"

    async def body(self) -> dict[str, Any]:
        """Read the JSON object that was sent."""
        try:
            value = json.loads(await self.request.body() or b"{}")
        except ValueError:
            raise Refused(400, "Problems parsing JSON") from None
        if not isinstance(value, dict):
            raise Refused(422, "Invalid request.\n\nFor 'links/0/schema', it is not an object.")
        return value

    def as_app(self) -> None:
        """Let only the App's own JSON web token through."""
        if self.caller.kind != "app":
            raise Refused(401, "A JSON web token could not be decoded")

    def repository(self, owner: str, repo: str, *needs: str) -> Repository:
        """Find a repository that the caller may use. ``needs`` are alternatives such as ``issues=write``."""
        found = self.world.repository(f"{owner}/{repo}")
        if found is None:
            moved = self.world.renamed(f"{owner}/{repo}")
            if moved is None:
                raise Refused(404, "Not Found")
            rest = self.request.scope["path"].split("/", 4)[4:]
            query = f"?{self.request.url.query}" if self.request.url.query else ""
            path = "/".join([f"/repositories/{moved.id}", *(quote(part) for part in rest)])
            raise Moved(self.request.method, f"{self.url}{path}{query}")
        self._allow(found, needs or ("metadata=read",))
        if found.archived and self.request.method not in {"GET", "HEAD"}:
            raise Refused(403, "Repository was archived so is read-only.")
        return found

    def _allow(self, repository: Repository, needs: Sequence[str]) -> None:
        writes = any(need.endswith("=write") for need in needs)
        if self.caller.kind == "person":
            self._allow_person(repository, writes)
            return
        mine = self._is_mine(repository)
        if repository.private and not mine:
            raise Refused(404, "Not Found")
        if self.caller.kind == "nobody" and writes:
            raise Refused(401, "Requires authentication")
        public_read = not repository.private and not writes
        if public_read or (mine and any(self._has(need) for need in needs)):
            return
        raise Refused(
            403,
            "Resource not accessible by integration",
            headers={"x-accepted-github-permissions": "; ".join(needs)},
        )

    def _allow_person(self, repository: Repository, writes: bool) -> None:
        role = role_of(repository, self.caller.login or "")
        if repository.private and role in {"none", "read"} and self.caller.login not in repository.roles:
            raise Refused(404, "Not Found")
        if writes and role in {"none", "read"}:
            raise Refused(403, "Must have admin rights to Repository.")

    def _is_mine(self, repository: Repository) -> bool:
        if self.caller.kind != "installation" or self.caller.installation != repository.installation:
            return False
        return self.caller.repositories is None or repository.id in self.caller.repositories

    def _has(self, need: str) -> bool:
        name, _, level = need.partition("=")
        granted = (self.caller.permissions or {}).get(name, "none")
        return LEVELS.index(granted) >= LEVELS.index(level)

    def own_installation(self) -> Installation:
        """Return the installation that is calling."""
        found = self.world.installation(self.caller.installation)
        if found is None:
            raise Refused(403, "Resource not accessible by integration")
        return found

    def thread(self, repository: Repository, number: int, *, pull: bool = False) -> Thread:
        """Find an issue or pull request, a pull request only with ``pull``."""
        found = repository.thread(number)
        if found is None or (pull and found.pull is None):
            raise Refused(404, "Not Found")
        return found

    def person(self, login: str) -> Person:
        """Find an account."""
        found = self.world.person(login)
        if found is None:
            raise Refused(404, "Not Found")
        return found

    def page(self) -> tuple[int, int]:
        """Read ``page`` and ``per_page`` as GitHub does: wrong ones are the defaults, at most a hundred a page."""
        asked = self.request.query_params
        page, size = asked.get("page", ""), asked.get("per_page", "")
        each = int(size) if size.isdecimal() and int(size) else PER_PAGE
        return max(1, int(page) if page.isdecimal() else 1), min(PER_PAGE_MOST, each)

    def paged(self, items: Sequence[T]) -> tuple[Sequence[T], dict[str, str]]:
        """Cut out the page that was asked for; returns it with its ``Link`` header."""
        page, size = self.page()
        last = max(1, -(-len(items) // size))
        links: dict[str, int] = {}
        if page > 1:
            links |= {"prev": min(page - 1, last), "first": 1}
        if page < last:
            links |= {"next": page + 1, "last": last}
        header = ", ".join(f'<{self._page_url(number, size)}>; rel="{rel}"' for rel, number in links.items())
        return items[(page - 1) * size : page * size], {"link": header} if header else {}

    def _page_url(self, page: int, size: int) -> str:
        kept = {name: value for name, value in self.request.query_params.items() if name not in {"page", "per_page"}}
        query = urlencode({**kept, "per_page": size, "page": page})
        return f"{self.url}{quote(self.request.scope['path'])}?{query}"


Called = Annotated[Call, Depends(Call)]


def role_of(repository: Repository, login: str) -> str:
    """Tell a person's role name: the owner's is ``admin``, everybody else reads what is public."""
    if login.casefold() == repository.owner.casefold():
        return "admin"
    wanted = login.casefold()
    given = next((role for name, role in repository.roles.items() if name.casefold() == wanted), None)
    return given or ("none" if repository.private else "read")
