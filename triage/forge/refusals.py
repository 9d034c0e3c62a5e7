"""What a forge's refusal means: status, headers and body of an answer become one of the port's errors.

The body decides before the headers, and the headers before the status: a missing permission on the last request of
the hour looks like a limit, and a limit comes as 403, as 429 or as 200. Nothing of a body is repeated in a message.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, Final

from triage.forge.port import Forbidden, ForgeError, Gone, ReadOnly, Refused, Suspended, Unavailable

# GitHub asks for a minute where it names no time (docs: rate limits, "exceeding the rate limit").
UNTOLD_WAIT: Final = 60.0
# A limit is over within the hour; a clock that is wrong must not park the work for days.
LONGEST_WAIT: Final = 3700.0

LONGEST_CODE: Final = 40

_GONE: Final = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.GONE, HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS})
_SUSPENDED: Final = ("has been suspended", "installation is suspended")
_READ_ONLY: Final = re.compile(r"\b(?:locked|archived|read-only)\b")
_PERMISSION: Final = ("not accessible by", "must have", "not permitted", "permission", "not allowed", "blocked", "saml")
_LIMIT: Final = ("rate limit", "abuse detection")


class Limited(Unavailable):
    """Over a limit: every other request of this installation would be refused as well."""


class Unreachable(Unavailable):
    """Nobody answers there: refused, too slow, or sent on to nowhere. Asking again at once is no use."""


class Unaccepted(Unavailable):
    """The token or the key is not accepted (401)."""


def refusal(status: int, headers: Mapping[str, str], body: object, now: datetime) -> ForgeError:
    """Name what an answer of 400 or above means.

    ``headers`` have lower-case names, ``body`` is the parsed JSON or ``None``.
    """
    message = _message(body)
    if status == HTTPStatus.UNAUTHORIZED:
        return Unaccepted(
            "GitHub does not accept the credentials (401): check the App's id, key and clock, or the token"
        )
    if status in {HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS}:
        return _forbidden(status, headers, message, now)
    if status in _GONE:
        if _READ_ONLY.search(message):
            return ReadOnly("the thread is locked or the repository is archived")
        return Gone(f"GitHub has no such thing, or it is out of the App's reach ({status})")
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.REQUEST_TIMEOUT:
        return Unavailable(f"GitHub is not well ({status})", _retry_after(headers, now))
    codes = ", ".join(sorted(error_codes(body)))
    return Refused(f"GitHub does not accept this ({status}{': ' + codes if codes else ''})")


def graphql_refusal(body: Mapping[str, Any], headers: Mapping[str, str], now: datetime) -> ForgeError | None:
    """Name what the ``errors`` of a GraphQL answer (status 200) mean; ``None`` when it has none."""
    errors = body.get("errors")
    if not isinstance(errors, list) or not errors:
        return None
    kinds = {str(error.get("type", "")).upper() for error in errors if isinstance(error, dict)}
    if "RATE_LIMITED" in kinds or "RATE_LIMIT" in kinds or any(_names(_message(one), _LIMIT) for one in errors):
        return Limited("over GitHub's GraphQL limit", _until_reset(headers, now) or UNTOLD_WAIT)
    if kinds & {"FORBIDDEN", "INSUFFICIENT_SCOPES"}:
        return Forbidden("the App may not do this: a permission is missing")
    if "NOT_FOUND" in kinds:
        return Gone("GitHub has no such thing, or it is out of the App's reach")
    return Refused("GitHub's GraphQL does not accept this")


def error_codes(body: object) -> frozenset[str]:
    """Collect the machine-readable codes of a 422 (``already_exists``, ``invalid`` ...), never its free text."""
    errors = body.get("errors") if isinstance(body, dict) else None
    if not isinstance(errors, list):
        return frozenset()
    codes = [error.get("code") for error in errors if isinstance(error, dict)]
    return frozenset(
        code for code in codes if isinstance(code, str) and code.isidentifier() and len(code) < LONGEST_CODE
    )


def _forbidden(status: int, headers: Mapping[str, str], message: str, now: datetime) -> ForgeError:
    if _names(message, _SUSPENDED):
        return Suspended("the installation is suspended")
    if not _names(message, _LIMIT):
        if status == HTTPStatus.FORBIDDEN and _READ_ONLY.search(message):
            return ReadOnly("the thread is locked or the repository is archived")
        if status == HTTPStatus.FORBIDDEN and _names(message, _PERMISSION):
            return Forbidden("the App may not do this: a permission is missing (403)")
    told = _retry_after(headers, now)
    if headers.get("x-ratelimit-remaining") == "0":
        return Limited("over GitHub's hourly limit", told or _until_reset(headers, now) or UNTOLD_WAIT)
    if status == HTTPStatus.TOO_MANY_REQUESTS or told is not None or _names(message, _LIMIT):
        return Limited("over one of GitHub's secondary limits", told or UNTOLD_WAIT)
    return Forbidden(f"the App may not do this ({status})")


def _message(body: object) -> str:
    message = body.get("message") if isinstance(body, dict) else None
    return message.casefold() if isinstance(message, str) else ""


def _names(message: str, words: tuple[str, ...]) -> bool:
    return any(word in message for word in words)


def _retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Read ``Retry-After``, which is seconds or a date."""
    value = headers.get("retry-after", "").strip()
    if not value:
        return None
    if value.isascii() and value.isdigit():
        return _bounded(float(value))
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return None
    return _bounded(((at if at.tzinfo else at.replace(tzinfo=UTC)) - now).total_seconds())


def _until_reset(headers: Mapping[str, str], now: datetime) -> float | None:
    value = headers.get("x-ratelimit-reset", "").strip()
    if not (value.isascii() and value.isdigit()):
        return None
    return _bounded(float(value) - now.timestamp() + 1)  # which part of that second is not told


def _bounded(seconds: float) -> float:
    return min(max(seconds, 1.0), LONGEST_WAIT)
