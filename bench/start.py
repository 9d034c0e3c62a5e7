"""What does it cost to be there: the command's start against Python's own, and the server's memory after use?"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Final

from bench import judged, load, servers

RUNS: Final = 7
DELIVERIES: Final = 10_000


def main() -> None:
    """Measure."""
    ours, bare = [], []
    for _ in range(RUNS):
        bare.append(_spent(["-c", "pass"]))
        ours.append(_spent(["-m", "triage", "--help"]))
    ratios = sorted(a / b for a, b in zip(ours, bare, strict=True))
    print(
        f"triage --help {median(ours) * 1000:.0f} ms, python -c pass {median(bare) * 1000:.0f} ms; "
        f"ratio {median(ratios):.1f} (min {ratios[0]:.1f}, max {ratios[-1]:.1f})"
    )
    with tempfile.TemporaryDirectory(prefix="livefirst-bench-") as folder:
        home = Path(folder)
        with servers.ours(home, f"sqlite:///{home / 'bench.db'}", LIVEFIRST_SETTLE_SECONDS="0.2") as port:
            pid = int((home / "pid").read_text())
            first = _resident(pid)
            load.run(port, load.requests(DELIVERIES, threads=1000), connections=32)
            judged.drained(port)
            after = _resident(pid)
        told = f"{first:.0f} MiB idle, {after:.0f} MiB after {DELIVERIES:,} deliveries"
        print(f"resident memory of serve: {told}; ratio {after / first:.2f}")


def _spent(arguments: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def _resident(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    kilobytes = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))
    return kilobytes / 1024
