"""Who is calling: the App by its JSON web token, an installation or a person by a token, or nobody."""

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal

import jwt

from standin.world import World

LIFE: Final = timedelta(hours=1)
LONGEST_JWT: Final = 600  # seconds that GitHub lets a JSON web token look ahead
_SEAL: Final = secrets.token_hex(32)


class BadToken(Exception):
    """A token that is not good (any more); the message is GitHub's own."""


@dataclass(frozen=True, slots=True)
class Caller:
    """One caller. ``key`` tells callers apart where limits and ETags are counted."""

    kind: Literal["nobody", "app", "installation", "person"]
    key: str
    installation: int | None = None
    login: str | None = None
    permissions: dict[str, str] | None = None
    repositories: tuple[int, ...] | None = None


NOBODY: Final = Caller("nobody", "nobody")


def issue(
    world: World, installation: int, permissions: dict[str, str], repositories: list[int] | None
) -> tuple[str, datetime]:
    """Make an installation token, shaped ``ghs_APPID_JWT``, and tell when it expires."""
    expires = datetime.now(UTC) + LIFE
    claims = {"exp": expires, "ins": installation, "per": permissions, "rep": repositories, "jti": secrets.token_hex(8)}
    return f"ghs_{world.app.id}_{jwt.encode(claims, _SEAL, algorithm='HS256')}", expires


def caller(world: World, header: str | None) -> Caller:
    """Read an ``Authorization`` header.

    Raises
    ------
    BadToken
        When a token was sent and is unknown, expired or wrongly signed.
    """
    if not header:
        return NOBODY
    token = header.partition(" ")[2].strip()
    if token.startswith("ghs_"):
        return _installation(token)
    if token in world.tokens:
        return Caller("person", f"person {world.tokens[token]}", login=world.tokens[token])
    if token.count(".") == 2:  # noqa: PLR2004  # header.claims.signature
        return _app(world, token)
    raise BadToken("Bad credentials")


def _installation(token: str) -> Caller:
    try:
        claims: dict[str, Any] = jwt.decode(token.split("_", 2)[2], _SEAL, algorithms=["HS256"])
    except (jwt.InvalidTokenError, IndexError):
        raise BadToken("Bad credentials") from None
    repositories = claims["rep"]
    return Caller(
        "installation",
        f"installation {claims['ins']}",
        installation=claims["ins"],
        permissions=claims["per"],
        repositories=None if repositories is None else tuple(repositories),
    )


def _app(world: World, token: str) -> Caller:
    try:
        if world.app.public_key is None:
            claims = jwt.decode(token, options={"verify_signature": False})
        else:
            claims = jwt.decode(token, world.app.public_key, algorithms=["RS256"], options={"verify_iss": False})
    except jwt.InvalidTokenError:
        raise BadToken("A JSON web token could not be decoded") from None
    if str(claims.get("iss")) not in {str(world.app.id), world.app.client_id}:
        raise BadToken("Integration not found")
    now = datetime.now(UTC).timestamp()
    if float(claims.get("exp", 0)) <= now:
        raise BadToken("'Expiration time' claim ('exp') must be a numeric value representing the future time")
    if float(claims["exp"]) > now + LONGEST_JWT:
        raise BadToken("'Expiration time' claim ('exp') is too far in the future")
    return Caller("app", "app")
