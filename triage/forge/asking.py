"""Ask a forge one thing, honestly counted: redirects on the same host, short retries, renewed credentials, pages.

Nothing here sleeps for a limit: a limit is raised at once, and whoever keeps the clock waits. What would happen twice
if sent twice (a comment) is never sent again.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, Final, Protocol
from urllib.parse import quote, urljoin, urlsplit

from triage.forge.port import ForgeError, Gone, Refused, RepositoryRef, Unavailable
from triage.forge.refusals import Limited, Unaccepted, Unreachable, graphql_refusal, refusal

PAGE: Final = 100
# Waits before a second and a third try, in seconds: long enough for one bad backend, short enough for a worker.
PAUSES: Final = (0.2, 0.8)
# A page of a hundred big files is what GitHub gives up on (422 or 502); below a dozen it is not the size.
SMALLEST_PAGE: Final = 12
MOST_PAGES: Final = 40
MOST_LISTED: Final = 1000

_REDIRECTS: Final = frozenset(
    {HTTPStatus.MOVED_PERMANENTLY, HTTPStatus.TEMPORARY_REDIRECT, HTTPStatus.PERMANENT_REDIRECT}
)
_MOST_HOPS: Final = 3
_SAFE_TWICE: Final = frozenset({"GET", "PUT", "PATCH", "DELETE"})


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    text: str
    body: Any = None


@dataclass(frozen=True, slots=True)
class Question:
    """One HTTP request. ``url`` is a path below the API's address, or absolute."""

    verb: str
    url: str
    query: Mapping[str, str | int] | None = None
    body: object = None


class Credentials(Protocol):
    """Who asks."""

    def authorization(self) -> str:
        """Return the value of the ``Authorization`` header, fetching it when none is at hand."""

    def renew(self) -> bool:
        """Drop what was refused; false when there is nothing else to offer."""


Send = Callable[[Question, str], Answer]


class Asker:
    """Sends questions and turns every refusal into the port's errors."""

    def __init__(self, api_url: str, graphql_url: str, send: Send, count: Callable[[str], None]) -> None:
        self.api_url = api_url.rstrip("/")
        self.graphql_url = graphql_url
        self._send = send
        self._count = count

    def ask(
        self,
        kind: str,
        question: Question,
        credentials: Credentials,
        *,
        repository: RepositoryRef | None = None,
        again: bool | None = None,
    ) -> Answer:
        """Ask until there is an answer below 400.

        ``again`` says whether it may be sent a second time after a server error or a cut connection (default: by verb).
        ``repository`` is what a redirect must stay inside of.
        """
        pauses = list(PAUSES if (question.verb in _SAFE_TWICE if again is None else again) else ())
        renewed = False
        while True:
            try:
                return self._followed(kind, question, credentials, repository)
            except Unaccepted:
                if renewed or not credentials.renew():
                    raise
                renewed = True
            except Unavailable as error:
                if not pauses or error.retry_after is not None or isinstance(error, Limited | Unreachable):
                    raise
                time.sleep(pauses.pop(0))

    def _followed(
        self, kind: str, question: Question, credentials: Credentials, repository: RepositoryRef | None
    ) -> Answer:
        for _ in range(_MOST_HOPS):
            answer = self._once(kind, question, credentials)
            if answer.status not in _REDIRECTS:
                return answer
            question = self._redirected(question, answer.headers.get("location", ""))
            if repository is not None:
                self._same_repository(kind, question.url, credentials, repository)
        raise Unreachable("GitHub redirects in a circle")

    def _once(self, kind: str, question: Question, credentials: Credentials) -> Answer:
        authorization = credentials.authorization()
        self._count(kind)
        answer = self._send(question, authorization)
        try:
            body = json.loads(answer.text) if answer.text else None
        except (ValueError, RecursionError):
            if answer.status < HTTPStatus.MULTIPLE_CHOICES:
                raise Unavailable("GitHub's answer is not JSON") from None
            body = None
        if answer.status >= HTTPStatus.BAD_REQUEST:
            raise refusal(answer.status, answer.headers, body, datetime.now(UTC))
        if answer.status >= HTTPStatus.MULTIPLE_CHOICES and answer.status not in _REDIRECTS:
            raise Unavailable(f"GitHub's answer is not understood ({answer.status})")
        return Answer(answer.status, answer.headers, "", body)

    def _redirected(self, question: Question, location: str) -> Question:
        base = urlsplit(self.api_url)
        path = question.url if "://" in question.url else self.api_url + question.url
        target = urljoin(path, location)
        parts = urlsplit(target)
        if not location or (parts.scheme, parts.netloc) != (base.scheme, base.netloc):
            raise Unreachable("GitHub redirects to another host: check LIVEFIRST_GITHUB_API_URL")
        return Question(question.verb, target, None if parts.query else question.query, question.body)

    def _same_repository(self, kind: str, url: str, credentials: Credentials, repository: RepositoryRef) -> None:
        """Refuse a redirect that leaves the repository: a transferred issue, or a name that somebody else took."""
        path = urlsplit(url).path.removeprefix(urlsplit(self.api_url).path)
        match path.split("/"):
            case ["", "repositories", key, *_]:
                same = key == str(repository.id)
            case ["", "repos", owner, name, *_]:
                answer = self._once(kind, Question("GET", f"/repos/{owner}/{name}"), credentials)
                same = isinstance(answer.body, dict) and answer.body.get("id") == repository.id
            case _:
                same = False
        if not same:
            raise Gone("it was moved to another repository")


@dataclass(frozen=True, slots=True)
class Reach:
    """A repository in reach of somebody's credentials; paths are below the repository's own address."""

    asker: Asker
    credentials: Credentials
    repository: RepositoryRef | None
    root: str

    def get(self, kind: str, path: str, query: Mapping[str, str | int] | None = None) -> Answer:
        """Read one thing."""
        return self.send(kind, Question("GET", path, query))

    def send(self, kind: str, question: Question, *, again: bool | None = None) -> Answer:
        """Send one question about this repository."""
        whole = Question(question.verb, self.root + question.url, question.query, question.body)
        return self.asker.ask(kind, whole, self.credentials, repository=self.repository, again=again)

    def graphql(self, kind: str, document: str, variables: Mapping[str, str]) -> tuple[object, ForgeError | None]:
        """Send a GraphQL document that may be sent twice; return its data and what its errors mean."""
        question = Question("POST", self.asker.graphql_url, None, {"query": document, "variables": variables})
        answer = self.asker.ask(kind, question, self.credentials, again=True)
        if not isinstance(answer.body, dict):
            raise Unavailable("GitHub's answer is not an object")
        refused = graphql_refusal(answer.body, answer.headers, datetime.now(UTC))
        if isinstance(refused, Limited):
            raise refused
        return answer.body.get("data"), refused

    def listed(self, kind: str, path: str) -> list[Mapping[str, Any]]:
        """Read a whole list, a hundred items a page.

        Raises
        ------
        Refused
            When it is longer than a thousand items: a part of it would be taken for the whole.
        """
        found: list[Mapping[str, Any]] = []
        for page in range(1, MOST_LISTED // PAGE + 1):
            answer = self.get(kind, path, {"per_page": PAGE, "page": page})
            found += items(answer)
            if not has_next(answer):
                return found
        raise Refused(f"the list is longer than {MOST_LISTED:,}")

    def halved(self, kind: str, path: str, most: int) -> tuple[list[Mapping[str, Any]], bool]:
        """Read at most ``most`` items, with smaller pages where GitHub gives up on big ones; tell whether that is all.

        What was read before a failure is kept; only a failure on the very first page is raised.
        """
        found: list[Mapping[str, Any]] = []
        size = PAGE
        for _ in range(MOST_PAGES):
            page, skip = divmod(len(found), size)
            question = Question("GET", path, {"per_page": size, "page": page + 1})
            try:
                answer = self.send(kind, question, again=False)
            except (Refused, Unavailable) as error:
                if isinstance(error, Limited | Unreachable | Unaccepted):
                    raise
                if (size := size // 2) < SMALLEST_PAGE:
                    if found:
                        return found, False
                    raise
                continue
            read = items(answer)[skip:]
            found += read
            if len(found) >= most:
                return found[:most], False
            if not has_next(answer):
                return found, True
            if not read:  # a next page that never fills
                break
        return found, False


def has_next(answer: Answer) -> bool:
    """Tell whether a list goes on."""
    return 'rel="next"' in answer.headers.get("link", "")


def last_page(answer: Answer) -> int:
    """Read the number of the last page of a list."""
    for link in answer.headers.get("link", "").split(","):
        address, _, relation = link.partition(";")
        if 'rel="last"' in relation:
            for pair in urlsplit(address.strip(" <>")).query.split("&"):
                name, _, value = pair.partition("=")
                if name == "page" and value.isascii() and value.isdigit():
                    return int(value)
    return 1


def segment(name: str) -> str:
    """Quote a name for one segment of a path.

    A dot segment is refused: ``DELETE .../labels/.`` would take every label off.
    """
    if name in {"", ".", ".."}:
        raise Refused("this name is not possible on GitHub")
    return quote(name, safe="")


def items(answer: Answer) -> list[Mapping[str, Any]]:
    """Read a list of objects."""
    if not isinstance(answer.body, list):
        raise Unavailable("GitHub's answer is not a list")
    return [one for one in answer.body if isinstance(one, dict)]
