"""Sessions end, and only this machine is this machine."""

import pytest
from starlette.requests import Request

from webhooks.session import LASTS, Sessions, is_local


def test_a_session_ends_after_twelve_hours() -> None:
    now = [1000.0]
    sessions = Sessions("token", clock=lambda: now[0])
    secret = sessions.open("token")
    assert secret is not None
    now[0] += LASTS - 1
    assert sessions.holds(secret)
    now[0] += 1
    assert not sessions.holds(secret)
    assert LASTS == 12 * 3600


def test_a_token_opens_one_session() -> None:
    sessions = Sessions("token")
    assert sessions.link_works
    assert sessions.open("token") is not None
    assert not sessions.link_works
    assert sessions.open("token") is None


def test_no_token_opens_nothing() -> None:
    sessions = Sessions(None)
    assert sessions.open("") is None
    assert not sessions.holds("")
    assert not sessions.holds(None)


@pytest.mark.parametrize(
    ("client", "local"),
    [
        (("127.0.0.1", 1), True),
        (("127.8.9.10", 1), True),
        (("::1", 1), True),
        (("::ffff:127.0.0.1", 1), True),
        (("10.0.0.1", 1), False),
        (("::ffff:10.0.0.1", 1), False),
        (("203.0.113.9", 1), False),
        (("localhost", 1), False),
        (None, False),
    ],
)
def test_only_loopback_is_local(client: tuple[str, int] | None, local: bool) -> None:
    assert is_local(Request({"type": "http", "client": client, "headers": []})) is local
