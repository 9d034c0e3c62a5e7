"""How many deliveries are stored durably a second, against a bare route and against a peer that store nothing?"""

import tempfile
from pathlib import Path
from statistics import median
from typing import Final

from bench import load, servers

COUNT: Final = 3000
CONNECTIONS: Final = 32
ROUNDS: Final = 3
LONG: Final = "300"  # seconds to settle: nothing is judged while the door is measured


def main() -> None:
    """Measure in turn, so that a machine that drifts drifts for all."""
    with tempfile.TemporaryDirectory(prefix="livefirst-bench-") as folder:
        home = Path(folder)
        for name, url in servers.databases(home):
            with (
                servers.bare(home) as bare,
                servers.probot(home) as probot,
                servers.ours(home, url, LIVEFIRST_SETTLE_SECONDS=LONG) as ours,
            ):
                ports = {"bare": bare, "ours": ours, **({} if probot is None else {"probot": probot})}
                measured = _rounds(ports)
            _print(name, measured)


def _rounds(ports: dict[str, int]) -> dict[str, list[load.Measured]]:
    measured: dict[str, list[load.Measured]] = {who: [] for who in ports}
    for port in ports.values():
        load.run(port, load.requests(300, threads=100), connections=CONNECTIONS)  # warm
    for _ in range(ROUNDS):
        for who, port in ports.items():
            measured[who].append(load.run(port, load.requests(COUNT, threads=500), connections=CONNECTIONS))
    return measured


def _print(name: str, measured: dict[str, list[load.Measured]]) -> None:
    for who, runs in measured.items():
        rates = sorted(run.rate for run in runs)
        worst = max(run.p99 for run in runs)
        statuses = sorted({status for run in runs for status in run.statuses})
        print(
            f"{name:10} {who:6} {median(rates):7.0f}/s (min {rates[0]:.0f}, max {rates[-1]:.0f}), "
            f"p99 {worst * 1000:.0f} ms at the worst, statuses {statuses}"
        )
    ours = [run.rate for run in measured["ours"]]
    for who in measured.keys() - {"ours"}:
        ratios = sorted(a / b.rate for a, b in zip(ours, measured[who], strict=True))
        print(f"{name:10} ours / {who}: {median(ratios):.2f} (min {ratios[0]:.2f}, max {ratios[-1]:.2f})")
    if "probot" not in measured:
        print(f"{name:10} the peer could not be installed: no ratio to it")
