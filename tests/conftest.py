"""Fresh databases for the tests: SQLite always, PostgreSQL and Redis where they are found.

PostgreSQL is the server of ``LIVEFIRST_TEST_POSTGRES`` (a URL whose user may create databases), else one that runs on
this machine, else one started in a temporary folder from an installed ``postgres``; else (or when the setting is
``none``) its tests skip and the last line of the run says so.
"""

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import psycopg
import pytest
import redis
from sqlalchemy.engine import URL, make_url

from models.recorded.database import Database

pytest_plugins = ["plugins_github", "plugins_node"]

POSTGRES_ABSENT: Final = "PostgreSQL was not found"
POSTGRES_MEND: Final = "install postgresql or set LIVEFIRST_TEST_POSTGRES"
REDIS_ABSENT: Final = "Redis was not found; start redis-server or set LIVEFIRST_TEST_REDIS"
START_SECONDS: Final = 30
REDIS_LOCK_SECONDS: Final = 600

SKIPPED: Final = pytest.StashKey[int]()
SERVER: Final = pytest.StashKey["PostgresServer | None"]()


# --- PostgreSQL: find or start ------------------------------------------------


class PostgresServer:
    """A server and the address of its maintenance database; ``stop`` ends it when it was started here."""

    def __init__(
        self, address: URL, process: "subprocess.Popen[bytes] | None" = None, home: Path | None = None
    ) -> None:
        self.address = address
        self._process = process
        self._home = home

    def execute(self, statement: str) -> None:
        """Run one statement outside a transaction."""
        with psycopg.connect(_conninfo(self.address), autocommit=True) as connection:
            connection.execute(statement)

    def url(self, name: str) -> str:
        """Return the product's URL of one database."""
        return self.address.set(database=name).render_as_string(hide_password=False)

    def stop(self) -> None:
        """End the server and remove its folder."""
        if self._process is not None:
            self._process.terminate()  # smart shutdown: every test has closed its connections
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._home is not None:
            shutil.rmtree(self._home, ignore_errors=True)


def _conninfo(address: URL) -> str:
    return address.set(drivername="postgresql").render_as_string(hide_password=False)


def _may_create(address: URL) -> bool:
    question = "SELECT rolsuper OR rolcreatedb FROM pg_roles WHERE rolname = current_user"
    try:
        with psycopg.connect(_conninfo(address), connect_timeout=2) as connection:
            row = connection.execute(question).fetchone()
    except psycopg.Error:
        return False
    return row is not None and bool(row[0])


def _running() -> PostgresServer | None:
    users = dict.fromkeys(("postgres", "root", pwd.getpwuid(os.getuid()).pw_name))
    for user in users:
        for place in (
            {"host": "127.0.0.1", "port": 5432},
            {"query": {"host": "/var/run/postgresql"}},
            {"query": {"host": "/tmp"}},  # noqa: S108  (where servers built from source put their socket)
        ):
            address = URL.create("postgresql+psycopg", username=user, database="postgres", **place)
            if _may_create(address):
                return PostgresServer(address)
    return None


def _started() -> PostgresServer | None:
    """Start a server in a temporary folder, as another user when we are root: PostgreSQL refuses root."""
    found = [shutil.which("initdb"), *sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin/initdb")), reverse=True)]
    initdb = next((Path(one) for one in found if one), None)
    if initdb is None:
        return None
    account: dict[str, str | int] = {}
    home = Path(tempfile.mkdtemp(prefix="livefirst-postgres-"))
    if os.getuid() == 0:
        names = {entry.pw_name for entry in pwd.getpwall()}
        name = "postgres" if "postgres" in names else "nobody"
        account = {"user": name, "group": pwd.getpwnam(name).pw_gid}
        shutil.chown(home, name)
    data = home / "data"
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": home}
    make = [str(initdb), "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"]
    if subprocess.run(make, check=False, **quiet, **account).returncode != 0:
        shutil.rmtree(home, ignore_errors=True)
        return None
    serve = [str(initdb.with_name("postgres")), "-D", str(data), "-k", str(home), "-c", "listen_addresses="]
    process = subprocess.Popen([*serve, "-c", "max_connections=200"], **quiet, **account)
    server = PostgresServer(
        URL.create("postgresql+psycopg", username="postgres", database="postgres", query={"host": str(home)}),
        process,
        home,
    )
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if _may_create(server.address):
            return server
        time.sleep(0.1)
    server.stop()
    return None


def _find() -> PostgresServer | None:
    named = os.environ.get("LIVEFIRST_TEST_POSTGRES")
    if named == "none":
        return None
    if named:  # a wrong address must fail loudly, not skip
        address = make_url(named).set(drivername="postgresql+psycopg")
        return PostgresServer(address if address.database else address.set(database="postgres"))
    return _running() or _started()


def _server(config: pytest.Config) -> PostgresServer | None:
    """Find the server once a run: the process that controls the others does it and tells them the address."""
    if SERVER not in config.stash:
        told = getattr(config, "workerinput", None)
        if told is None:
            config.stash[SERVER] = _find()
        else:
            config.stash[SERVER] = PostgresServer(make_url(told["postgres"])) if told["postgres"] else None
    return config.stash[SERVER]


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: object) -> None:
    """Tell a worker of pytest-xdist where PostgreSQL is."""
    server = _server(node.config)  # type: ignore[attr-defined]
    node.workerinput["postgres"] = server.url("postgres") if server else ""  # type: ignore[attr-defined]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Count the tests that needed a PostgreSQL."""
    skipped = terminalreporter.stats.get("skipped", [])
    config.stash[SKIPPED] = sum(POSTGRES_ABSENT in str(report.longrepr) for report in skipped)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop what was started here, and say as the last line of a run what it could not test."""
    server = config.stash.get(SERVER, None)
    if server is not None and not hasattr(config, "workerinput"):
        server.stop()
    count = config.stash.get(SKIPPED, 0)
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if count and reporter is not None:
        reporter.write_line(f"{POSTGRES_ABSENT}: {count} tests skipped; {POSTGRES_MEND}", yellow=True)


# --- databases ----------------------------------------------------------------


@pytest.fixture(scope="session")
def postgres_server(request: pytest.FixtureRequest) -> PostgresServer:
    """Return the PostgreSQL of this run."""
    server = _server(request.config)
    if server is None:
        pytest.skip(f"{POSTGRES_ABSENT}; {POSTGRES_MEND}")
    return server


@pytest.fixture(scope="session")
def postgres_template(postgres_server: PostgresServer) -> Iterator[str]:
    """Make a migrated database to copy, one for each process that tests."""
    name = f"livefirst_test_{uuid.uuid4().hex[:12]}"
    postgres_server.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
    try:
        database = Database.open(postgres_server.url(name))
        database.migrate()
        database.close()
        yield name
    finally:
        postgres_server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextlib.contextmanager
def _postgres_database(server: PostgresServer, template: str) -> Iterator[str]:
    name = f"livefirst_test_{uuid.uuid4().hex[:12]}"
    server.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    try:
        yield server.url(name)
    finally:
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")


BOTH: Final = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]


@pytest.fixture(params=BOTH)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Make a database of this test's own and give its URL, on SQLite and then on PostgreSQL."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'livefirst.db'}"
        return
    server = request.getfixturevalue("postgres_server")
    with _postgres_database(server, request.getfixturevalue("postgres_template")) as url:
        yield url


@pytest.fixture(params=BOTH)
def empty_database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Do the same, without any table."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'livefirst.db'}"
        return
    with _postgres_database(request.getfixturevalue("postgres_server"), "template0") as url:
        yield url


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """Open and migrate a database of this test's own, on SQLite and then on PostgreSQL."""
    opened = Database.open(database_url)
    opened.migrate()
    yield opened
    opened.close()


# --- Redis ----------------------------------------------------------------------


@pytest.fixture(scope="session")
def redis_number() -> Iterator[tuple[str, int]]:
    """Reserve a numbered database that no other process tests with at the moment."""
    server = os.environ.get("LIVEFIRST_TEST_REDIS", "redis://127.0.0.1:6379").rstrip("/")
    with redis.Redis.from_url(f"{server}/0", socket_connect_timeout=2) as client:
        try:
            client.ping()
        except redis.RedisError:
            pytest.skip(REDIS_ABSENT)
        for number in range(1, 16):  # a stock server has sixteen
            lock = f"livefirst:test:{number}"
            if client.set(lock, os.getpid(), nx=True, ex=REDIS_LOCK_SECONDS):
                yield server, number
                client.delete(lock)
                return
    pytest.skip("every numbered database of this Redis is in use by other tests; wait ten minutes")


@pytest.fixture
def redis_url(redis_number: tuple[str, int]) -> Iterator[str]:
    """Give the URL of an empty Redis database."""
    server, number = redis_number
    url = f"{server}/{number}"
    with redis.Redis.from_url(f"{server}/0") as locks, redis.Redis.from_url(url) as client:
        locks.expire(f"livefirst:test:{number}", REDIS_LOCK_SECONDS)
        client.flushdb()
        yield url
        client.flushdb()
