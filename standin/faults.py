"""The ways in which GitHub fails, on demand: which requests, how often, before or after the work is done."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from fnmatch import fnmatchcase
from typing import Any, Final, Literal

Shape = Literal[
    "moved_301",  # renamed or transferred; ``location`` says where to
    "moved_307",
    "not_modified",
    "unauthorized",
    "forbidden",  # a permission that the installation lacks
    "suspended",
    "primary_limit",  # the hourly limit; ``retry_after`` is the time to the reset
    "secondary_limit",  # too fast: 403, or 429 by ``status``; Retry-After as ``retry_form`` says
    "not_found",
    "gone",
    "too_large",  # 422, as for files with a hundred a page
    "server_error",  # 502, or ``status``
    "cut",  # the connection ends without an answer
    "cut_body",  # the connection ends within the answer
    "slow",  # answers after ``seconds``
    "graphql_errors",  # HTTP 200
    "graphql_limit",  # HTTP 200
    "not_json",
]


@dataclass(slots=True)
class Fault:
    """One failure. ``path`` and ``method`` are glob patterns; ``count`` is how often, ``None`` always.

    ``skip`` lets so many matching requests through first. ``when`` is ``after`` to do the work and lose (or, with
    ``slow``, keep back) the answer.
    """

    shape: Shape
    path: str = "*"
    method: str = "*"
    count: int | None = 1
    skip: int = 0
    when: Literal["before", "after"] = "before"
    status: int | None = None
    seconds: float = 0.0
    retry_after: int = 60
    retry_form: Literal["seconds", "date", "absent"] = "seconds"
    location: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed answer: what is sent instead of the true one."""

    status: int
    headers: dict[str, str]
    body: Any


class Faults:
    """The failures that are due, in the order in which they were asked for."""

    def __init__(self) -> None:
        self.due: list[Fault] = []

    def take(self, method: str, path: str) -> Fault | None:
        """Find the fault that strikes this request, and count it."""
        for fault in self.due:
            if not (fnmatchcase(path, fault.path) and fnmatchcase(method, fault.method)):
                continue
            if fault.skip > 0:
                fault.skip -= 1
                continue
            if fault.count is not None:
                fault.count -= 1
                if fault.count <= 0:
                    self.due.remove(fault)
            return fault
        return None


def _message(text: str) -> dict[str, str]:
    return {"message": text, "documentation_url": "https://docs.github.com/rest"}


def _moved(status: int, fault: Fault) -> Failure:
    return Failure(status, {"location": fault.location}, {**_message("Moved Permanently"), "url": fault.location})


def _primary(fault: Fault) -> Failure:
    reset = str(int(time.time()) + fault.retry_after)
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": reset, "x-ratelimit-used": "5000"}
    return Failure(fault.status or 403, headers, _message("API rate limit exceeded for installation ID 1."))


def _secondary(fault: Fault) -> Failure:
    headers: dict[str, str] = {}
    if fault.retry_form == "seconds":
        headers["retry-after"] = str(fault.retry_after)
    elif fault.retry_form == "date":
        at = datetime.now(UTC) + timedelta(seconds=fault.retry_after)
        headers["retry-after"] = format_datetime(at, usegmt=True)
    text = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
    return Failure(fault.status or 403, headers, _message(text))


def _graphql(kind: str, text: str) -> Failure:
    return Failure(200, {}, {"data": None, "errors": [{"type": kind, "message": text}]})


def _too_large() -> Failure:
    text = "Sorry, this diff is taking too long to generate."
    error = {"resource": "PullRequest", "field": "diff", "code": "not_available"}
    return Failure(422, {}, {**_message(text), "errors": [error]})


_FORBIDDEN: Final = {"x-accepted-github-permissions": "issues=write; pull_requests=write"}
_MADE: Final[dict[str, Callable[[Fault], Failure]]] = {
    "moved_301": lambda fault: _moved(301, fault),
    "moved_307": lambda fault: _moved(307, fault),
    "not_modified": lambda _: Failure(304, {}, None),
    "unauthorized": lambda _: Failure(401, {}, _message("Bad credentials")),
    "forbidden": lambda _: Failure(403, dict(_FORBIDDEN), _message("Resource not accessible by integration")),
    "suspended": lambda _: Failure(403, {}, _message("This installation has been suspended")),
    "primary_limit": _primary,
    "secondary_limit": _secondary,
    "not_found": lambda _: Failure(404, {}, _message("Not Found")),
    "gone": lambda _: Failure(410, {}, _message("This issue was deleted")),
    "too_large": lambda _: _too_large(),
    "server_error": lambda fault: Failure(fault.status or 502, {}, _message("Server Error")),
    "graphql_errors": lambda _: _graphql("INTERNAL", "Something went wrong while executing your query."),
    "graphql_limit": lambda _: _graphql("RATE_LIMITED", "API rate limit exceeded for installation ID 1."),
    "not_json": lambda fault: Failure(fault.status or 200, {}, b"<html><body>Unicorn!</body></html>"),
}


def failure(fault: Fault) -> Failure | None:
    """Write the failed answer; ``None`` for a fault that is in how it is sent (cut, slow)."""
    made = _MADE.get(fault.shape)
    return None if made is None else made(fault)
