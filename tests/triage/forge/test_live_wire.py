"""Answers that are no answers: whatever comes over the wire becomes one of the port's errors, and soon."""

import contextlib
import socketserver
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from triage.forge.live import LiveForge
from triage.forge.port import ForgeError, RepositoryRef, Unavailable

WIDGETS = RepositoryRef(70, 42, "acme/widgets")
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


@dataclass
class Wire:
    """A server that answers every request with the same bytes."""

    url: str = ""
    answer: bytes = b""
    asked: int = 0


@pytest.fixture
def wire() -> Iterator[Wire]:
    made = Wire()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            if self.request.recv(65_536):
                made.asked += 1
                self.request.sendall(made.answer)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        made.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield made
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\x00\xff no HTTP at all",
        b"HTTP/1.1 200",
        b"HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 304 Not Modified\r\n\r\n",
        b"HTTP/1.1 301 Moved\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 301 Moved\r\nLocation: http://[\r\nContent-Length: 0\r\n\r\n",
        OK + b"Content-Length: 100\r\n\r\n{",
        OK + b"Content-Length: many\r\n\r\n{}",
        OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        OK + b"Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
        OK + b"x-ratelimit-remaining: many\r\nx-ratelimit-limit: 1\r\nContent-Length: 2\r\n\r\n{}",
        OK + b"Content-Length: 1\r\n\r\n\xff",
        OK + b"Content-Length: 2\r\n\r\n[]",
        OK + b"Content-Length: 200000\r\n\r\n" + b"[" * 200_000,
        OK + b"X: " + b"x" * 200_000 + b"\r\n\r\n",
    ],
)
def test_no_answer_makes_the_work_wait(wire: Wire, answer: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triage.forge.asking.PAUSES", (0.0, 0.0))
    wire.answer = answer
    forge = LiveForge.for_token("a-token", wire.url, count=lambda _: None)
    try:
        with pytest.raises(Unavailable):
            forge.present(WIDGETS, 7)
        with contextlib.suppress(ForgeError):
            assert not forge.opening(WIDGETS, 7, "someone").changes.files
        with pytest.raises(ForgeError):
            forge.add_label(WIDGETS, 7, "a", "fff", "")
    finally:
        forge.close()
    assert wire.asked < 30
