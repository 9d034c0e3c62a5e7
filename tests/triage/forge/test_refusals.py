"""Which of the port's errors an answer becomes."""

from datetime import UTC, datetime

import pytest

from triage.forge.port import Forbidden, ForgeError, Gone, ReadOnly, Refused, Suspended, Unavailable
from triage.forge.refusals import Limited, Unaccepted, graphql_refusal, refusal

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
SOON = str(int(NOW.timestamp()) + 100)


@pytest.mark.parametrize(
    ("status", "headers", "message", "kind"),
    [
        (401, {}, "Bad credentials", Unaccepted),
        (403, {}, "Resource not accessible by integration", Forbidden),
        (403, {"x-ratelimit-remaining": "0"}, "Resource not accessible by integration", Forbidden),
        (403, {"x-ratelimit-remaining": "0"}, "Must have admin rights to Repository.", Forbidden),
        (403, {"x-ratelimit-remaining": "0"}, "API rate limit exceeded for installation ID 1.", Limited),
        (403, {"x-ratelimit-remaining": "4000"}, "You have exceeded a secondary rate limit.", Limited),
        (403, {}, "You have triggered an abuse detection mechanism.", Limited),
        (403, {"retry-after": "5"}, "Slow down", Limited),
        (429, {}, "", Limited),
        (403, {}, "Unable to create comment because issue is locked.", ReadOnly),
        (403, {}, "Repository was archived so is read-only.", ReadOnly),
        (403, {}, "This installation has been suspended", Suspended),
        (403, {}, "User is blocked", Forbidden),
        (403, {}, "", Forbidden),
        (404, {}, "Not Found", Gone),
        (410, {}, "This issue was deleted", Gone),
        (410, {}, "Unable to create comment because issue is locked.", ReadOnly),
        (451, {}, "Repository access blocked", Gone),
        (409, {}, "Git Repository is empty.", Refused),
        (422, {}, "Validation Failed", Refused),
        (408, {}, "", Unavailable),
        (500, {}, "", Unavailable),
        (502, {}, "Server Error", Unavailable),
        (503, {"retry-after": "7"}, "", Unavailable),
    ],
)
def test_body_headers_and_status_decide_together(
    status: int, headers: dict[str, str], message: str, kind: type[ForgeError]
) -> None:
    error = refusal(status, headers, {"message": message}, NOW)
    assert type(error) is kind
    assert not message or message not in str(error)


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "90"}, 90),
        ({"retry-after": "Tue, 01 Dec 2026 12:02:00 GMT"}, 120),
        ({"retry-after": "Tue, 01 Dec 2026 11:00:00 GMT"}, 1),
        ({"retry-after": "soon"}, 60),
        ({"retry-after": "-5"}, 60),
        ({"retry-after": "999999999"}, 3700),
        ({}, 60),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": SOON}, 101),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": SOON, "retry-after": "5"}, 5),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": SOON + "000"}, 3700),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "²"}, 60),
        ({"x-ratelimit-remaining": "0"}, 60),
    ],
)
def test_a_limit_says_when_to_come_back(headers: dict[str, str], wait: float) -> None:
    error = refusal(429, headers, None, NOW)
    assert isinstance(error, Unavailable)
    assert error.retry_after == wait


@pytest.mark.parametrize("body", [None, [], "text", 3, {"message": None}, {"message": {"a": 1}, "errors": "no"}])
def test_any_body_is_a_refusal(body: object) -> None:
    for status in (400, 401, 403, 404, 410, 418, 422, 429, 500):
        assert isinstance(refusal(status, {}, body, NOW), ForgeError)


def test_a_refusal_names_codes_only() -> None:
    errors = [{"code": "already_exists", "message": "secret words"}, {"code": "two words"}, "text", {"code": 3}]
    error = refusal(422, {}, {"message": "Validation Failed", "errors": errors}, NOW)
    assert str(error) == "GitHub does not accept this (422: already_exists)"


@pytest.mark.parametrize(
    ("errors", "kind"),
    [
        ([{"type": "RATE_LIMITED", "message": "x"}], Limited),
        ([{"message": "You have exceeded a secondary rate limit"}], Limited),
        ([{"type": "FORBIDDEN"}], Forbidden),
        ([{"type": "NOT_FOUND"}], Gone),
        ([{"message": "Something went wrong"}], Refused),
        (["text"], Refused),
    ],
)
def test_graphql_refuses_with_status_200(errors: list[object], kind: type[ForgeError]) -> None:
    assert type(graphql_refusal({"errors": errors}, {}, NOW)) is kind


@pytest.mark.parametrize("body", [{}, {"errors": None}, {"errors": []}, {"data": {}}])
def test_graphql_without_errors_is_no_refusal(body: dict[str, object]) -> None:
    assert graphql_refusal(body, {}, NOW) is None
