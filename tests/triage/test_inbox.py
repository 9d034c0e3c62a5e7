"""What the inbox answers is on disk; what it could not store it refuses, and it goes on when the database is back."""

import asyncio
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url

from models.recorded import database as memory
from models.recorded.database import Database
from models.recorded.deliveries import Arrival, Deliveries
from triage import inbox as inbox_module
from triage.inbox import Inbox, NotKept

only_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
only_postgres = pytest.mark.parametrize(
    "database_url", [pytest.param("postgres", marks=pytest.mark.postgres)], indirect=True
)


def arrival(guid: str, subject: str = "thread:2:7", body: bytes = b"{}") -> Arrival:
    return Arrival(guid, "issue_comment", "created", 5, 2, subject, body, 1000.0)


class Bell:
    """Notes what is rung."""

    def __init__(self) -> None:
        self.rung: list[str] = []

    def __call__(self, subjects: Sequence[str]) -> None:
        self.rung.extend(subjects)


@pytest.fixture
def bell() -> Bell:
    return Bell()


@pytest.fixture
def deliveries(database: Database) -> Deliveries:
    return Deliveries(database)


@pytest.fixture
def inbox(deliveries: Deliveries, bell: Bell) -> Iterator[Inbox]:
    opened = Inbox(deliveries, settle=3.0, on_woken=bell)
    opened.start()
    yield opened
    opened.stop()


async def keep_all(inbox: Inbox, arrivals: Sequence[Arrival]) -> list[object]:
    """Keep deliveries at once: an outcome or the refusal of each."""
    return list(await asyncio.gather(*(inbox.keep(one) for one in arrivals), return_exceptions=True))


def finish(deliveries: Deliveries, subject: str) -> None:
    claim = deliveries.claim(subject, "worker", now=2000.0, lease=60.0)
    assert claim is not None
    deliveries.finish(claim, {one.id: "judged" for one in claim.deliveries}, now=2001.0)


# --- the day's work -------------------------------------------------------------


def test_an_answer_means_that_it_is_stored(inbox: Inbox, deliveries: Deliveries, bell: Bell) -> None:
    assert asyncio.run(inbox.keep(arrival("a"))) == "accepted"
    assert [one.guid for one in deliveries.listed()] == ["a"]
    assert asyncio.run(inbox.keep(arrival("a"))) == "accepted"
    finish(deliveries, "thread:2:7")
    assert asyncio.run(inbox.keep(arrival("a"))) == "duplicate"
    inbox.stop()
    assert bell.rung == ["thread:2:7"]


def test_many_at_once_are_all_stored_and_each_subject_rung_once(
    inbox: Inbox, deliveries: Deliveries, bell: Bell
) -> None:
    arrivals = [arrival(f"{number}", f"thread:2:{number % 10}") for number in range(1500)]
    assert set(asyncio.run(keep_all(inbox, arrivals))) == {"accepted"}
    inbox.stop()
    assert deliveries.backlog().waiting == 1500
    assert sorted(bell.rung) == sorted({one.subject for one in arrivals})


def test_what_waits_is_written_in_one_transaction(deliveries: Deliveries, bell: Bell) -> None:
    """The writer takes all that is queued, up to a batch, instead of one commit each."""
    batches: list[int] = []

    class Counted(Deliveries):
        def _keep(self, arrivals: Sequence[Arrival], settle: float) -> list[object]:  # type: ignore[override]
            batches.append(len(arrivals))
            return super()._keep(arrivals, settle)  # type: ignore[return-value]

    inbox = Inbox(Counted(deliveries._database), settle=3.0, on_woken=bell)

    async def fill_and_start() -> list[object]:
        inbox._open = True  # the queue takes deliveries before the writer runs
        tasks = [asyncio.create_task(inbox.keep(arrival(f"{number}"))) for number in range(600)]
        await asyncio.sleep(0)
        inbox.start()
        return list(await asyncio.gather(*tasks))

    assert set(asyncio.run(fill_and_start())) == {"accepted"}
    inbox.stop()
    assert batches == [inbox_module.BATCH, 600 - inbox_module.BATCH]


def test_several_event_loops_are_answered(inbox: Inbox) -> None:
    answers: list[object] = []

    def run(number: int) -> None:
        answers.extend(asyncio.run(keep_all(inbox, [arrival(f"{number}-{one}") for one in range(50)])))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == ["accepted"] * 200


def test_a_sender_that_hung_up_harms_nobody(inbox: Inbox, deliveries: Deliveries) -> None:
    async def hang_up() -> str:
        task = asyncio.create_task(inbox.keep(arrival("a")))
        await asyncio.sleep(0)
        task.cancel()
        return await inbox.keep(arrival("b"))

    assert asyncio.run(hang_up()) == "accepted"
    assert [one.guid for one in deliveries.listed()] == ["a", "b"]


def test_a_bell_that_fails_does_not_take_the_answer_back(deliveries: Deliveries) -> None:
    def broken(_subjects: Sequence[str]) -> None:
        raise RuntimeError

    inbox = Inbox(deliveries, settle=3.0, on_woken=broken)
    inbox.start()
    assert asyncio.run(inbox.keep(arrival("a"))) == "accepted"
    assert asyncio.run(inbox.keep(arrival("b", "thread:2:8"))) == "accepted"
    inbox.stop()


def test_one_that_cannot_be_stored_does_not_take_the_others_along(inbox: Inbox, deliveries: Deliveries) -> None:
    async def keep() -> list[object]:
        return await keep_all(inbox, [arrival("a"), arrival("half \ud83d"), arrival("b")])

    first, broken, last = asyncio.run(keep())
    assert (first, last) == ("accepted", "accepted")
    assert isinstance(broken, NotKept)
    assert sorted(one.guid for one in deliveries.listed()) == ["a", "b"]


# --- stopping and limits --------------------------------------------------------


def test_stopping_writes_what_waits_and_then_refuses(deliveries: Deliveries, bell: Bell) -> None:
    inbox = Inbox(deliveries, settle=3.0, on_woken=bell)
    inbox.start()

    async def stop_in_between() -> list[object]:
        tasks = [asyncio.create_task(inbox.keep(arrival(f"{number}"))) for number in range(700)]
        await asyncio.sleep(0)
        inbox.stop()
        with pytest.raises(NotKept, match="stopping"):
            await inbox.keep(arrival("late"))
        return list(await asyncio.gather(*tasks))

    assert set(asyncio.run(stop_in_between())) == {"accepted"}
    assert deliveries.backlog().waiting == 700
    inbox.stop()
    inbox.start()
    assert asyncio.run(inbox.keep(arrival("late"))) == "accepted"
    inbox.stop()


def test_an_inbox_that_was_never_started_refuses(deliveries: Deliveries, bell: Bell) -> None:
    with pytest.raises(NotKept):
        asyncio.run(Inbox(deliveries, settle=3.0, on_woken=bell).keep(arrival("a")))


@pytest.mark.parametrize(("limit", "value"), [("BACKLOG", 3), ("BACKLOG_BYTES", 300)])
def test_too_long_a_queue_refuses_at_once(
    deliveries: Deliveries, bell: Bell, monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    monkeypatch.setattr(inbox_module, limit, value)
    inbox = Inbox(deliveries, settle=3.0, on_woken=bell)

    async def overfill() -> list[object]:
        inbox._open = True  # nobody writes yet
        tasks = [asyncio.create_task(inbox.keep(arrival(f"{number}", body=b"x" * 100))) for number in range(5)]
        await asyncio.sleep(0)
        inbox.start()
        answers = list(await asyncio.gather(*tasks, return_exceptions=True))
        answers.append(await inbox.keep(arrival("after")))
        return answers

    answers = asyncio.run(overfill())
    inbox.stop()
    assert [str(one) for one in answers] == [
        *["accepted"] * 3,
        *["too many deliveries wait to be written"] * 2,
        "accepted",
    ]


# --- a database that is locked, full or gone ------------------------------------


@only_sqlite
def test_a_locked_database_refuses_and_recovers(
    database_url: str, deliveries: Deliveries, bell: Bell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "BUSY_SECONDS", 0.3)
    database = Database.open(database_url)
    inbox = Inbox(Deliveries(database), settle=3.0, on_woken=bell)
    inbox.start()
    other = sqlite3.connect(database_url.removeprefix("sqlite:///"), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    refused = asyncio.run(keep_all(inbox, [arrival("a"), arrival("b")]))
    assert [str(one) for one in refused] == ["database is locked (SQLITE_BUSY)"] * 2
    assert deliveries.listed() == []
    other.execute("ROLLBACK")
    assert asyncio.run(inbox.keep(arrival("a"))) == "accepted"
    other.close()
    inbox.stop()
    database.close()


@only_sqlite
def test_a_lock_that_passes_is_waited_for(database_url: str, inbox: Inbox) -> None:
    file = database_url.removeprefix("sqlite:///")
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        other = sqlite3.connect(file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        held.set()
        release.wait(2)
        other.execute("ROLLBACK")
        other.close()

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()

    async def keep() -> str:
        task = asyncio.create_task(inbox.keep(arrival("a")))
        await asyncio.sleep(0.2)
        assert not task.done()
        release.set()
        return await task

    assert asyncio.run(keep()) == "accepted"
    holder.join()


@only_sqlite
def test_stopping_with_a_locked_database_refuses_all_after_one_wait(
    database_url: str, deliveries: Deliveries, bell: Bell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "BUSY_SECONDS", 0.3)
    monkeypatch.setattr(inbox_module, "BATCH", 1)
    tries: list[int] = []

    class Counted(Deliveries):
        def _keep(self, arrivals: Sequence[Arrival], settle: float) -> list[object]:  # type: ignore[override]
            tries.append(len(arrivals))
            return super()._keep(arrivals, settle)  # type: ignore[return-value]

    database = Database.open(database_url)
    inbox = Inbox(Counted(database), settle=3.0, on_woken=bell)
    inbox.start()
    other = sqlite3.connect(database_url.removeprefix("sqlite:///"), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    async def stop_in_between() -> list[object]:
        tasks = [asyncio.create_task(inbox.keep(arrival(f"{number}"))) for number in range(50)]
        await asyncio.sleep(0)
        inbox.stop()
        return list(await asyncio.gather(*tasks, return_exceptions=True))

    answers = asyncio.run(stop_in_between())
    assert {type(one) for one in answers} == {NotKept}
    assert len(tries) <= 2
    other.close()
    database.close()
    assert deliveries.listed() == []


@only_sqlite
def test_a_full_disk_refuses_and_recovers(inbox: Inbox, database: Database, deliveries: Deliveries) -> None:
    """``max_page_count`` is SQLite's own way to be out of space; it is set on each of the pool's connections."""
    asyncio.run(inbox.keep(arrival("before")))

    def limit(pages: int) -> None:
        with database.read() as session:  # the pool hands out the connection that it got back last
            session.connection().exec_driver_sql(f"PRAGMA max_page_count = {pages}")

    limit(1)  # SQLite raises it to the present size
    (refused,) = asyncio.run(keep_all(inbox, [arrival("a", body=b"x" * 500_000)]))
    assert str(refused) == "database or disk is full (SQLITE_FULL)"
    assert [one.guid for one in deliveries.listed()] == ["before"]
    limit(1_000_000)
    assert asyncio.run(inbox.keep(arrival("a", body=b"x" * 500_000))) == "accepted"


@only_sqlite
def test_a_read_only_database_refuses_and_recovers(inbox: Inbox, database: Database) -> None:
    def read_only(on: int) -> None:
        with database.read() as session:
            session.connection().exec_driver_sql(f"PRAGMA query_only = {on}")

    read_only(1)
    (refused,) = asyncio.run(keep_all(inbox, [arrival("a")]))
    assert str(refused) == "attempt to write a readonly database (SQLITE_READONLY)"
    read_only(0)
    assert asyncio.run(inbox.keep(arrival("a"))) == "accepted"


@only_postgres
def test_terminated_idle_connections_cost_no_delivery(inbox: Inbox, database_url: str) -> None:
    assert asyncio.run(inbox.keep(arrival("a"))) == "accepted"
    _terminate(database_url)
    assert asyncio.run(inbox.keep(arrival("b"))) == "accepted"


@only_postgres
def test_a_connection_terminated_at_work_refuses_and_recovers(
    inbox: Inbox, database: Database, database_url: str, deliveries: Deliveries
) -> None:
    def terminate() -> None:
        while not _terminate(database_url, waiting=True):  # until the writer stands before the lock
            time.sleep(0.02)

    async def terminate_at_work() -> list[object]:
        with database.write() as session:
            session.connection().execute(text("LOCK subject IN ACCESS EXCLUSIVE MODE"))
            answers, _ = await asyncio.gather(keep_all(inbox, [arrival("a")]), asyncio.to_thread(terminate))
            return answers

    (refused,) = asyncio.run(terminate_at_work())
    assert isinstance(refused, NotKept)
    assert "AdminShutdown" in str(refused)
    assert deliveries.listed() == []
    assert asyncio.run(inbox.keep(arrival("a"))) == "accepted"


@only_postgres
def test_a_server_that_takes_no_connections_refuses_and_recovers(inbox: Inbox, database_url: str) -> None:
    name = make_url(database_url).database
    assert asyncio.run(inbox.keep(arrival("a"))) == "accepted"
    with _operator(database_url) as connection:
        connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        _terminate(database_url)
        (refused,) = asyncio.run(keep_all(inbox, [arrival("b")]))
        connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    assert isinstance(refused, NotKept)
    assert asyncio.run(inbox.keep(arrival("b"))) == "accepted"


def _operator(url: str) -> "psycopg.Connection[tuple[object, ...]]":
    address = make_url(url).set(drivername="postgresql", database="postgres")
    return psycopg.connect(address.render_as_string(hide_password=False), autocommit=True)


def _terminate(url: str, *, waiting: bool = False) -> int:
    """End the sessions on this test's database (only those that wait for a lock); return how many."""
    query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
    if waiting:
        query += " AND wait_event_type = 'Lock'"
    with _operator(url) as connection:
        return len(connection.execute(query, [make_url(url).database]).fetchall())
