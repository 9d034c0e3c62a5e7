"""Runs the server in this process, or as a child on a free port of loopback."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Final

from triage.settings import PREFIX, Settings

LOOPBACK: Final = "127.0.0.1"
START_SECONDS: Final = 60.0
STOP_SECONDS: Final = 25.0
BACKLOG: Final = 2048  # connections that wait to be accepted


class ServerError(Exception):
    """A server that did not start; the message holds the end of what it printed."""


def serve(settings: Settings) -> None:
    """Serve until a signal comes. The door is named by its address, since imports go down.

    Raises
    ------
    ServerError
        When the address cannot be listened at, or the parts of the house do not start (the log says why).
    """
    import uvicorn  # noqa: PLC0415 - only the server needs it, and every command would pay for it

    config = uvicorn.Config(
        "webhooks.app:create_app",
        factory=True,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=10,
    )
    with closing(_listening(settings.host, settings.port)) as listening:
        running = uvicorn.Server(config)
        running.run(sockets=[listening])
    if not running.started:
        raise ServerError("the server did not start")


def _listening(host: str, port: int) -> socket.socket:
    """Listen at an address; uvicorn itself would name neither the setting nor the mend."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise ServerError(
            f"cannot listen at {host} port {port} ({error.strerror}): see {PREFIX}HOST and {PREFIX}PORT"
        ) from None


def free_port() -> int:
    """Return a port of loopback that nobody listens on now."""
    with closing(socket.socket()) as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


@contextmanager
def child(
    arguments: Sequence[str], *, port: int, log: Path, env: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a Python program that serves HTTP on a port while the context lasts; it is stopped by SIGTERM.

    Raises
    ------
    ServerError
        When it does not answer ``/healthz`` in time.
    """
    with log.open("wb") as out:
        process = subprocess.Popen(  # noqa: S603 - our own programs, no shell
            [sys.executable, *arguments], stdout=out, stderr=subprocess.STDOUT, env={**os.environ, **env}
        )
        try:
            _wait_for(process, port, log)
            yield process
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_for(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        if answers(port):
            return
        time.sleep(0.05)
    tail = log.read_text(encoding="utf-8", errors="replace")[-2000:]
    raise ServerError(f"the server on port {port} did not start:\n{tail}")


def answers(port: int) -> bool:
    """Tell whether a server on loopback is alive."""
    with closing(HTTPConnection(LOOPBACK, port, timeout=2)) as connection:
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status < 500  # noqa: PLR2004 - any answer is a life sign, an error is not
        except (OSError, HTTPException):
            return False
