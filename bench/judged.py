"""How many deliveries are judged a second, and how long is it from 202 to a verdict on an idle server?"""

import json
import tempfile
import time
import uuid
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from typing import Final

from bench import load, servers

COUNT: Final = 2000
IDLE: Final = 10
THREADS: Final = (2000, 100)  # comments on as many pull requests: none coalesced, and twenty to one


def main() -> None:
    """Measure on each database."""
    with tempfile.TemporaryDirectory(prefix="livefirst-bench-") as folder:
        home = Path(folder)
        for name, url in servers.databases(home):
            for threads in THREADS:
                with servers.ours(home, url, LIVEFIRST_SETTLE_SECONDS="0.2", LIVEFIRST_SWEEP_SECONDS="5") as port:
                    made = load.requests(COUNT, threads=threads)
                    began = time.perf_counter()
                    load.run(port, made, connections=32)
                    kept = time.perf_counter() - began
                    drained(port)
                    spent = time.perf_counter() - began
                print(
                    f"{name:10} {COUNT / spent:6.0f} deliveries judged/s on {threads} pull requests "
                    f"(all kept after {kept:.1f} s; ratio to the door's own rate {kept / spent:.2f})"
                )
            for settle in ("0", "3"):
                with servers.ours(home, url, LIVEFIRST_SETTLE_SECONDS=settle) as port:
                    waits = sorted(_wait(port, number) for number in range(IDLE))
                spent = f"median {median(waits):.2f} s, max {waits[-1]:.2f} s"
                print(f"{name:10} 202 to verdict on an idle server, settle {settle} s: {spent}")


def _wait(port: int, number: int) -> float:
    body = json.dumps(
        load.comment(90_000 + number, comment_id=time.time_ns(), hours=number, filler=load.BODY_BYTES)
    ).encode()
    load.run(port, [load.request(body, "issue_comment", str(uuid.uuid4()))], connections=1)
    began = time.perf_counter()
    drained(port)
    return time.perf_counter() - began


def drained(port: int) -> None:
    """Wait until every delivery is judged."""
    until = time.monotonic() + 300
    while _figure(port, "livefirst_backlog"):
        if time.monotonic() > until:
            raise TimeoutError("the backlog was not judged in 300 s")
        time.sleep(0.02)


def _figure(port: int, name: str) -> float:
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    return next(float(line.split()[1]) for line in text.splitlines() if line.startswith(f"{name} "))
