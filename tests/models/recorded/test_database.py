"""The database comes back by itself, is migrated once, and never tells a value in an error."""

import multiprocessing
import threading
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text
from sqlmodel import SQLModel

from models.recorded.database import Database, DatabaseError, DatabaseUnavailable


def _migrate(url: str, ready: object, results: object) -> None:
    ready.wait()
    database = Database.open(url)
    try:
        database.migrate()
        database.check()
        results.put("migrated")
    except DatabaseError as error:
        results.put(str(error))
    finally:
        database.close()


def test_migrated_tables_are_the_declared_tables(empty_database_url: str) -> None:
    database = Database.open(empty_database_url)
    database.migrate()
    with database.read() as session:
        context = MigrationContext.configure(session.connection(), opts={"compare_server_default": True})
        assert compare_metadata(context, SQLModel.metadata) == []
    database.close()


def test_several_processes_may_migrate_at_once(empty_database_url: str) -> None:
    spawn = multiprocessing.get_context("spawn")
    ready, results = spawn.Barrier(3), spawn.SimpleQueue()
    processes = [spawn.Process(target=_migrate, args=(empty_database_url, ready, results)) for _ in range(3)]
    for process in processes:
        process.start()
    said = [results.get() for _ in processes]
    for process in processes:
        process.join()
        process.close()
    results.close()
    assert said == ["migrated"] * 3


def test_a_newer_database_is_refused(database: Database) -> None:
    with database.write() as session:
        session.connection().execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(DatabaseError, match=r"newer Livefirst \(revision 9999\): install"):
        database.migrate()
    with pytest.raises(DatabaseError, match="newer"):
        database.check()


def test_check_asks_for_the_tables(empty_database_url: str) -> None:
    database = Database.open(empty_database_url)
    if not database.postgres:
        with pytest.raises(DatabaseUnavailable, match="unable to open"):
            database.check()
        Path(empty_database_url.removeprefix("sqlite:///")).touch()
    with pytest.raises(DatabaseError, match="revision none"):
        database.check()
    database.migrate()
    database.check()
    database.close()


@pytest.mark.parametrize("url", ["mysql://host/x", "sqlite://", "sqlite:///:memory:", "nonsense"])
def test_an_address_that_cannot_be_ours_is_refused(url: str) -> None:
    with pytest.raises(DatabaseError):
        Database.open(url)


def test_an_error_holds_no_value(database: Database) -> None:
    secret = "hunter2"
    insert = text("INSERT INTO person (id, login) VALUES (1, :login)")
    with database.write() as session:
        session.connection().execute(insert, {"login": secret})
    with pytest.raises(DatabaseError) as caught, database.write() as session:
        session.connection().execute(insert, {"login": secret})
    assert not isinstance(caught.value, DatabaseUnavailable)
    assert secret not in str(caught.value)
    assert caught.value.__suppress_context__


def test_what_leaves_by_an_error_is_undone(database: Database) -> None:
    def fail() -> None:
        with database.write() as session:
            session.connection().execute(text("INSERT INTO person (id, login) VALUES (1, 'a')"))
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    with database.read() as session:
        assert session.connection().scalar(text("SELECT count(*) FROM person")) == 0


def test_nested_writes_are_one_transaction(database: Database) -> None:
    def fail() -> None:
        with database.write():
            with database.write() as inner:
                inner.connection().execute(text("INSERT INTO person (id, login) VALUES (1, 'a')"))
            with database.read() as session:
                assert session.connection().scalar(text("SELECT count(*) FROM person")) == 1
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    with database.read() as session:
        assert session.connection().scalar(text("SELECT count(*) FROM person")) == 0


def test_twenty_threads_write(database: Database) -> None:
    failed: list[Exception] = []

    def write(number: int) -> None:
        try:
            for step in range(5):
                with database.write() as session:
                    session.connection().execute(
                        text("INSERT INTO person (id, login) VALUES (:id, 'a')"), {"id": number * 100 + step}
                    )
        except DatabaseError as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    with database.read() as session:
        assert session.connection().scalar(text("SELECT count(*) FROM person")) == 100


def test_commits_are_flushed(database: Database) -> None:
    """Also on a connection that made one before which was not."""

    def promise(*, durable: bool) -> object:
        question = "SHOW synchronous_commit" if database.postgres else "PRAGMA synchronous"
        with database.write(durable=durable) as session:
            return session.connection().scalar(text(question))

    full, soon = ("on", "off") if database.postgres else (2, 1)  # FULL, NORMAL
    assert [promise(durable=durable) for durable in (True, False, True)] == [full, soon, full]


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_sqlite_is_set_up_for_many_readers_and_one_writer(database: Database) -> None:
    with database.read() as session:
        settings = {
            name: session.connection().scalar(text(f"PRAGMA {name}"))
            for name in ("journal_mode", "foreign_keys", "busy_timeout")
        }
    assert settings == {"journal_mode": "wal", "foreign_keys": 1, "busy_timeout": 5000}


def test_a_sqlite_file_that_is_gone_takes_no_writes_until_it_is_back(tmp_path: Path) -> None:
    """A deleted file still takes writes through an open connection: they would be lost."""
    file, away = tmp_path / "livefirst.db", tmp_path / "away.db"
    database = Database.open(f"sqlite:///{file}")
    database.migrate()
    database.check()
    file.rename(away)
    with pytest.raises(DatabaseUnavailable):
        database.check()
    assert not file.exists()
    away.rename(file)
    database.check()
    database.close()


def test_a_new_sqlite_file_is_private(tmp_path: Path) -> None:
    database = Database.open(f"sqlite:///{tmp_path / 'livefirst.db'}")
    database.migrate()
    database.close()
    assert (tmp_path / "livefirst.db").stat().st_mode & 0o077 == 0


def test_an_unreachable_file_is_unavailable(tmp_path: Path) -> None:
    database = Database.open(f"sqlite:///{tmp_path / 'no' / 'such' / 'folder.db'}")
    with pytest.raises(DatabaseUnavailable, match="cannot be made"):
        database.migrate()


def test_a_server_that_is_not_there_is_unavailable() -> None:
    database = Database.open("postgresql://nobody:hunter2@127.0.0.1:1/none")
    with pytest.raises(DatabaseUnavailable) as caught:
        database.check()
    assert "hunter2" not in str(caught.value)
    database.close()


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
@pytest.mark.postgres
def test_terminated_connections_are_replaced(database: Database) -> None:
    with pytest.raises(DatabaseUnavailable), database.write() as session:
        session.connection().execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
    database.check()
