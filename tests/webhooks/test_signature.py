"""Only what GitHub signed is from GitHub."""

import hmac

import pytest

from webhooks.signature import verifies

BODY = b'{"zen":"Keep it logically awesome."}'


def signed(secret: bytes, body: bytes = BODY) -> bytes:
    return b"sha256=" + hmac.new(secret, body, "sha256").hexdigest().encode()


def test_github_own_example_verifies() -> None:
    """The example of GitHub's documentation on validating webhook deliveries."""
    header = b"sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    assert verifies(b"Hello, World!", header, [b"It's a Secret to Everybody"])


def test_either_secret_verifies_while_rotating() -> None:
    assert verifies(BODY, signed(b"new"), [b"new", b"old"])
    assert verifies(BODY, signed(b"old"), [b"new", b"old"])


def test_no_secret_verifies_nothing() -> None:
    assert not verifies(BODY, signed(b""), [])
    assert not verifies(BODY, None, [])


@pytest.mark.parametrize(
    "header",
    [
        None,
        b"",
        b"sha256=",
        signed(b"other"),
        signed(b"new")[:-1],
        signed(b"new") + b"0",
        signed(b"new").upper(),
        signed(b"new").removeprefix(b"sha256="),
        b"sha1=" + hmac.new(b"new", BODY, "sha1").hexdigest().encode(),
        b"\xff" * 71,
    ],
)
def test_any_other_header_does_not(header: bytes | None) -> None:
    assert not verifies(BODY, header, [b"new", b"old"])


def test_one_changed_byte_does_not() -> None:
    assert not verifies(BODY + b" ", signed(b"new"), [b"new"])
