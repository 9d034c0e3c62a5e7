"""Who may see the pages? Whoever came in by the one-time link of this machine, for twelve hours.

The server remembers only a digest of each session's secret; the cookie cannot be read by a script, is not sent along by
other sites' forms, and travels by HTTPS alone where the page does.
"""

import hashlib
import hmac
import ipaddress
import secrets
import threading
import time
from collections.abc import Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

COOKIE: Final = "livefirst_session"
LASTS: Final = 12 * 3600  # seconds
# A proxy on this machine would make every caller look local.
FORWARDED: Final = ("forwarded", "x-forwarded-for", "x-real-ip")


class Sessions:
    """The sessions of one process. ``token`` opens the first one, once; ``None`` opens none."""

    def __init__(self, token: str | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._token = token
        self._clock = clock
        self._until: dict[bytes, float] = {}
        self._lock = threading.Lock()

    @property
    def link_works(self) -> bool:
        """Tell whether the one-time link can still be used."""
        return self._token is not None

    def open(self, token: str) -> str | None:
        """Use up the one-time token; returns the secret of a new session, ``None`` when the token does not fit."""
        with self._lock:
            if self._token is None or not hmac.compare_digest(token.encode(), self._token.encode()):
                return None
            self._token = None
            secret = secrets.token_urlsafe(32)
            self._until[_digest(secret)] = self._clock() + LASTS
            return secret

    def holds(self, secret: str | None) -> bool:
        """Tell whether a session is open."""
        if secret is None:
            return False
        with self._lock:
            until = self._until.get(_digest(secret))
            if until is not None and until <= self._clock():
                del self._until[_digest(secret)]
                return False
            return until is not None


def is_local(request: Request) -> bool:
    """Tell whether a request comes from this very machine, and not through a proxy."""
    if request.client is None or any(name in request.headers for name in FORWARDED):
        return False
    try:
        address = ipaddress.ip_address(request.client.host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def give(response: Response, secret: str, *, https: bool) -> None:
    """Set the cookie of a session."""
    response.set_cookie(COOKIE, secret, max_age=LASTS, path="/", secure=https, httponly=True, samesite="lax")


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode(errors="replace")).digest()
