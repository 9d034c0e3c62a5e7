"""Where is the memory kept, and is it there now?

One object a process, used by many threads, on SQLite (embedded) or PostgreSQL. What is committed is on disk. Whatever
the driver raises leaves as ``DatabaseError``; when the database is back, the next call works: nothing is restarted.
"""

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import quote

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Dialect, Engine, Table, create_engine, event, inspect, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, DisconnectionError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlmodel import Session

BUSY_SECONDS: Final = 5.0
CONNECT_SECONDS: Final = 5
POOL_SIZE: Final = 20
POOL_OVERFLOW: Final = 10
# Of a new file. A delivery has 25 KB: with SQLite's own 4 KB a fifth more processor time goes into storing it.
PAGE_BYTES: Final = 8192
# A checkpoint stops the door's writer: at 32 MB for 0.1 s, at 16 MB for half of that. Fewer would mean longer.
WAL_CHECKPOINT_PAGES: Final = 2048
WAL_KEPT_BYTES: Final = 64 * 1024 * 1024
# Any number will do, as long as no other program on the same database locks by it ("live" in ASCII).
MIGRATION_LOCK: Final = 0x6C697665
MIGRATIONS: Final = Path(__file__).parent / "migrations"
BEGIN: Final = "livefirst_begin"
READ: Final = ("BEGIN",)
# PRAGMA synchronous only takes effect outside a transaction, and stays with the connection.
WRITE: Final = ("PRAGMA synchronous = FULL", "BEGIN IMMEDIATE")
WRITE_SOON: Final = ("PRAGMA synchronous = NORMAL", "BEGIN IMMEDIATE")

_ALEMBIC: Final = threading.Lock()  # Alembic keeps the running migration in globals

# https://www.sqlite.org/rescode.html: what may pass without anybody changing this program or its data.
_SQLITE_PASSING: Final = frozenset(
    {"BUSY", "LOCKED", "FULL", "IOERR", "CANTOPEN", "READONLY", "NOMEM", "PROTOCOL", "PERM", "INTERRUPT"}
)
# https://www.postgresql.org/docs/current/errcodes-appendix.html: connection, collision, resources, operator, system.
_POSTGRES_PASSING: Final = ("08", "40", "53", "57", "58", "55P03", "25006", "25P03")
_POSTGRES_COLLISION: Final = ("40001", "40P01")


class DatabaseError(Exception):
    """The database did not do what was asked; the message holds no value that was sent to it."""


class DatabaseUnavailable(DatabaseError):
    """Locked, full or gone: ask again later."""


class Collision(DatabaseUnavailable):
    """Two transactions stood in each other's way and this one was undone: ask again at once."""


class Database:
    """An open database. Safe to use from many threads; ``close`` when done."""

    def __init__(self, engine: Engine, file: Path | None) -> None:
        self._engine = engine
        self._writer = engine.execution_options(**{BEGIN: WRITE})
        self._soon = engine.execution_options(**{BEGIN: WRITE_SOON})
        self._file = file
        self._here = threading.local()

    @classmethod
    def open(cls, url: str) -> Self:
        """Prepare to use the database at ``url``; nothing is connected or created yet.

        Raises
        ------
        DatabaseError
            When the address cannot be one of ours.
        """
        try:
            address = make_url(url)
        except ArgumentError:
            raise DatabaseError("the database URL cannot be read; see LIVEFIRST_DATABASE_URL") from None
        if address.drivername in {"postgresql", "postgresql+psycopg"}:
            return cls(_postgres_engine(address.set(drivername="postgresql+psycopg")), None)
        if address.drivername not in {"sqlite", "sqlite+pysqlite"}:
            raise DatabaseError(f"{address.drivername}: use sqlite:///FILE or postgresql+psycopg://...")
        if address.database in {None, "", ":memory:"}:
            raise DatabaseError("sqlite: name a file (sqlite:///livefirst.db); memory does not outlive the process")
        file = Path(str(address.database)).absolute()
        return cls(_sqlite_engine(address, file), file)

    @property
    def postgres(self) -> bool:
        """Tell whether this is PostgreSQL (else SQLite)."""
        return self._file is None

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Give a session on one snapshot; inside ``read`` or ``write`` of the same thread, that one's session."""
        with _translated():
            outer: Session | None = getattr(self._here, "session", None) or getattr(self._here, "reader", None)
            if outer is not None:
                yield outer
                return
            with Session(self._engine, expire_on_commit=False, autoflush=False) as session:
                self._here.reader = session
                try:
                    yield session
                finally:
                    self._here.reader = None

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[Session]:
        """Give a session whose work is committed at the end of the block, or undone when an error leaves it.

        Nested in the same thread it joins the outer block: several calls of the store are then one transaction. An
        error must then leave the outer block too. Without ``durable`` the commit does not wait for the disk: a crash
        of this process loses nothing, a power failure may lose it, but never without what was committed later. It is
        for what would be done again anyway: a lease, what is seen before the delivery is finished.
        """
        with _translated():
            outer: Session | None = getattr(self._here, "session", None)
            if outer is not None:
                yield outer
                return
            with Session(self._writer if durable else self._soon, expire_on_commit=False) as session, session.begin():
                if self.postgres and not durable:
                    session.connection().exec_driver_sql("SET LOCAL synchronous_commit = off")
                self._here.session = session
                try:
                    yield session
                finally:
                    self._here.session = None

    def positional(self) -> Dialect:
        """Return this database's dialect, for a statement whose values are told by their order."""
        if self.postgres:
            return PGDialect_psycopg(paramstyle="format")  # type: ignore[no-untyped-call]
        return SQLiteDialect_pysqlite(paramstyle="qmark")

    def insert(self, table: Table) -> postgresql.Insert | sqlite.Insert:
        """Start an INSERT that knows ``ON CONFLICT``, in the words of this database."""
        return postgresql.insert(table) if self.postgres else sqlite.insert(table)

    def migrate(self) -> None:
        """Bring the tables to this program's revision, creating the file of a new SQLite database.

        Any number of processes may do so at once.

        Raises
        ------
        DatabaseError
            When the database was made by a newer program.
        """
        if self._file is not None:
            _create(self._file)
        script = ScriptDirectory(str(MIGRATIONS))
        with self.read() as session:
            if _behind(session.connection(), script) is None:
                return
        with self.write() as session:
            connection = session.connection()
            if self.postgres:
                connection.execute(text("SET LOCAL lock_timeout = 0"))  # the other one's migration may take its time
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
            if _behind(connection, script) is None:
                return
            upgrade(connection, "head")

    def check(self) -> None:
        """Make sure that the database can be written and holds this program's tables.

        Raises
        ------
        DatabaseError
            When it cannot, or when ``migrate`` was not called.
        """
        with self.write() as session:
            revision = _behind(session.connection(), ScriptDirectory(str(MIGRATIONS)))
        if revision is not None:
            raise DatabaseError(f"the database is at revision {revision or 'none'}: start `triage serve` to migrate it")

    def close(self) -> None:
        """Close every connection. The object may be used again."""
        self._engine.dispose()


def upgrade(connection: Connection, revision: str) -> None:
    """Run the steps up to a revision on a connection that has begun."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    with _ALEMBIC:
        command.upgrade(config, revision)


def _behind(connection: Connection, script: ScriptDirectory) -> str | None:
    """Tell the revision that the database is at ("" for an empty one), ``None`` when it is this program's."""
    if not inspect(connection).has_table("alembic_version"):
        return ""
    found = [str(row[0]) for row in connection.execute(text("SELECT version_num FROM alembic_version"))]
    known = {revision.revision for revision in script.walk_revisions()}
    for revision in found:
        if revision not in known:
            raise DatabaseError(
                f"the database was made by a newer Livefirst (revision {revision}): install that version or newer"
            )
    if set(found) == set(script.get_heads()):
        return None
    return ",".join(found)


# --- engines ----------------------------------------------------------------


def _postgres_engine(address: URL) -> Engine:
    given = str(address.query.get("options", ""))
    ours = f"-c synchronous_commit=on -c lock_timeout={int(BUSY_SECONDS * 1000)}"
    return create_engine(
        address.difference_update_query(["options"]),
        pool_size=POOL_SIZE,
        max_overflow=POOL_OVERFLOW,
        pool_timeout=BUSY_SECONDS,
        pool_pre_ping=True,
        hide_parameters=True,
        connect_args={
            "connect_timeout": CONNECT_SECONDS,
            "application_name": "livefirst",
            "options": f"{given} {ours}".strip(),
            # A server that vanished without a word is given up after seconds, not after two hours.
            "keepalives_idle": 30,
            "tcp_user_timeout": 15_000,
        },
    )


def _sqlite_engine(address: URL, file: Path) -> Engine:
    # mode=rw: a database that is gone must be an error, not a new empty file that takes deliveries to nowhere.
    name = f"file:{quote(str(file))}?mode=rw"

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(
            name, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            _prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    engine = create_engine(
        address,
        creator=connect,
        pool_size=POOL_SIZE,
        max_overflow=POOL_OVERFLOW,
        pool_timeout=BUSY_SECONDS,
        hide_parameters=True,
    )

    @event.listens_for(engine, "connect")
    def _note_file(_connection: object, record: Any) -> None:
        record.info["file"] = _identity(file)

    @event.listens_for(engine, "checkout")
    def _same_file(_connection: object, record: Any, _proxy: object) -> None:
        # SQLite in WAL mode goes on writing to a file that was deleted or moved away.
        if record.info.get("file") != _identity(file):
            raise DisconnectionError("the database file was replaced")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        for statement in connection.get_execution_options().get(BEGIN, READ):
            connection.exec_driver_sql(statement)

    return engine


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")
    connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
    deadline = time.monotonic() + BUSY_SECONDS
    while True:  # two processes that turn a new file to WAL at once collide without waiting for each other
        try:
            connection.execute("PRAGMA journal_mode = WAL").close()
            break
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA wal_autocheckpoint = {WAL_CHECKPOINT_PAGES}").close()
    connection.execute(f"PRAGMA journal_size_limit = {WAL_KEPT_BYTES}").close()


def _create(file: Path) -> None:
    try:
        file.touch(mode=0o600, exist_ok=True)  # deliveries hold private repositories' text
    except OSError as error:
        raise DatabaseUnavailable(f"the database file cannot be made: {error.strerror}") from None


def _identity(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


# --- errors -----------------------------------------------------------------


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except DBAPIError as error:
        raise _translate(error.orig) from None
    except PoolTimeout:
        raise DatabaseUnavailable("every database connection is in use") from None
    except DisconnectionError:
        raise DatabaseUnavailable("the database file is gone or was replaced") from None
    except SQLAlchemyError as error:  # its text repeats the statement and may repeat values
        raise DatabaseError(f"the statement could not be run: {type(error).__name__}") from None


def _translate(error: BaseException | None) -> DatabaseError:
    if isinstance(error, sqlite3.Error):
        name = str(getattr(error, "sqlite_errorname", "") or "SQLITE_ERROR")
        passing = name.split("_")[1] in _SQLITE_PASSING
        return DatabaseUnavailable(f"{error} ({name})") if passing else DatabaseError(f"{error} ({name})")
    state: str | None = getattr(error, "sqlstate", None)
    kind = type(error).__name__
    if state is None:  # no answer from a server: refused, cut off, timed out
        first = str(error).strip().partition("\n")[0][:200]
        return DatabaseUnavailable(f"{kind}: {first}") if kind == "OperationalError" else DatabaseError(kind)
    message = f"{kind} ({state})"  # the server's own text may repeat values
    if state in _POSTGRES_COLLISION:
        return Collision(message)
    return DatabaseUnavailable(message) if state.startswith(_POSTGRES_PASSING) else DatabaseError(message)
