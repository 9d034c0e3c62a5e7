"""The engine rings for what waits, on every queue: nothing rung twice at once, nothing lost, nothing left behind."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis
from huey import PostgresHuey, RedisHuey, SqliteHuey
from huey.registry import Message

from models.recorded.database import Database, DatabaseUnavailable
from models.recorded.deliveries import Arrival, Deliveries
from triage.engine import Engine, JsonSerializer, open_queue
from triage.forge.port import Unavailable
from triage.settings import Settings

SETTLE = 0.2
LEASE = 2.0
PATIENCE = 20.0  # seconds; what is waited for takes one or two
WORKERS = 8
THREAD = "thread:2:7"


class Judging:
    """Claims, takes its time and finishes, as the real judge does; notes who was judged and how many at once."""

    def __init__(self, deliveries: Deliveries, seconds: float = 0.02) -> None:
        self.seconds = seconds
        self.judged: Counter[str] = Counter()
        self.most_at_once: Counter[str] = Counter()
        self.beats = 0
        self.go = threading.Event()
        self.go.set()
        self._deliveries = deliveries
        self._now: Counter[str] = Counter()
        self._lock = threading.Lock()

    def judge(self, subject: str, owner: str) -> float | None:
        claim = self._deliveries.claim(subject, owner, now=time.time(), lease=LEASE)
        if claim is None:
            return None
        with self._lock:
            self._now[subject] += 1
            self.most_at_once[subject] = max(self.most_at_once[subject], self._now[subject])
        assert self.go.wait(PATIENCE)
        time.sleep(self.seconds)
        with self._lock:
            self._now[subject] -= 1
            self.judged[subject] += 1
        outcomes = {row.id: "judged" for row in claim.deliveries}
        return self._deliveries.finish(claim, outcomes, now=time.time())

    def beat(self) -> None:
        self.beats += 1


class Room:
    """An engine with its database and a judge."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.database = Database.open(settings.database_url)
        self.database.migrate()
        self.deliveries = Deliveries(self.database)
        self.judging = Judging(self.deliveries)
        self.tidied: list[float] = []
        self.engine = Engine(settings, self.deliveries, tidy=self.tidied.append)

    def start(self) -> None:
        self.engine.start(self.judging)  # type: ignore[arg-type]

    def keep(self, guids: Sequence[str], subject: str = THREAD, *, ring: bool = True) -> None:
        """Store deliveries that have just arrived, and ring as the inbox does."""
        now = time.time()
        arrivals = [Arrival(guid, "issue_comment", "created", 5, 2, subject, b"{}", now) for guid in guids]
        kept = self.deliveries.keep(arrivals, settle=SETTLE)
        if ring and any(one.woke for one in kept):
            self.engine.wake([subject])

    def states(self) -> Counter[str]:
        return Counter(row.state for row in self.deliveries.listed(limit=100_000))

    def stop(self) -> None:
        self.engine.stop()
        self.database.close()


def wait_until(holds: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until, f"waited {PATIENCE:.0f} s for {what}"
        time.sleep(0.02)


QUEUES = [
    "sqlite",
    pytest.param("postgres", marks=pytest.mark.postgres),
    pytest.param("redis", marks=pytest.mark.redis),
]


@pytest.fixture(params=QUEUES)
def queue(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def settings(queue: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Settings]:
    """Set everything up for one queue; PostgreSQL holds the deliveries too."""
    given: dict[str, Any] = {"database_url": f"sqlite:///{tmp_path / 'livefirst.db'}"}
    if queue == "redis":
        given["queue_url"] = request.getfixturevalue("redis_url")
    if queue == "postgres":
        server = request.getfixturevalue("postgres_server")
        name = f"livefirst_engine_{time.time_ns()}"
        server.execute(f"CREATE DATABASE {name} TEMPLATE {request.getfixturevalue('postgres_template')}")
        given["database_url"] = server.url(name)
    yield Settings(settle_seconds=SETTLE, lease_seconds=LEASE, sweep_seconds=0.5, workers=WORKERS, **given)
    if queue == "postgres":
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def room(settings: Settings) -> Iterator[Room]:
    opened = Room(settings)
    yield opened
    opened.judging.go.set()
    opened.stop()


# --- messages -------------------------------------------------------------------


def test_every_field_of_a_message_comes_back() -> None:
    serializer = JsonSerializer()
    eta = datetime(2026, 12, 1, 3, 4, 5, 678901, tzinfo=UTC)
    for message in (
        Message("an id", "judge", None, 0, 0, None, [THREAD], {}),
        Message("an id", "judge", eta, 0, 0, 3, [THREAD], {}),
        Message("an id", "sweep", eta.replace(tzinfo=None), 2, 5, None, [], {}, retry_backoff=1.5),
    ):
        assert serializer.deserialize(serializer.serialize(message)) == message


@pytest.mark.parametrize("value", [7, 7.5, "text", None, [1, "a"], {"a": 1}])
def test_every_value_of_a_counter_comes_back(value: object) -> None:
    serializer = JsonSerializer()
    assert serializer.deserialize(serializer.serialize(value)) == value


@pytest.mark.parametrize("sequel", ["on_complete", "on_error", "chord_config"])
def test_a_ring_has_no_sequel(sequel: str) -> None:
    message = Message("an id", "judge", None, 0, 0, None, [THREAD], {}, **{sequel: ("another",)})
    with pytest.raises(TypeError, match="no sequels"):
        JsonSerializer().serialize(message)


def test_a_pickle_in_the_queue_is_not_read() -> None:
    """Whoever can write to the queue must not be able to run code here."""
    with pytest.raises(ValueError, match=r"codec|JSON|Expecting"):
        JsonSerializer().deserialize(b"\x80\x04\x95\x1a\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix")


def test_no_file_of_the_product_names_pickle() -> None:
    root = Path(__file__).parents[2]
    for folder in ("triage", "models", "webhooks"):
        for file in (root / folder).rglob("*.py"):
            assert "pickle" not in file.read_text(encoding="utf-8").lower(), file


def test_a_ring_in_the_queue_is_json_that_carries_a_key(room: Room) -> None:
    room.engine._ring(THREAD)
    (stored,) = room.engine._huey.storage.enqueued_items()
    text = bytes(stored).decode("ascii")
    assert text.startswith('{"message": [')
    assert f'["{THREAD}"]' in text
    (task,) = room.engine._huey.pending()
    assert list(task.args) == [THREAD]


def test_a_message_that_cannot_be_read_stops_nobody(room: Room) -> None:
    room.engine._huey.storage.enqueue(b"\x80\x04N.")
    room.engine._huey.storage.enqueue(b'{"message": ["id", "no.such.task", null, 0, 0, null, [], {}]}')
    room.start()
    room.keep(["a"])
    wait_until(lambda: room.states() == {"done": 1}, "the delivery after the unreadable message")
    assert room.engine.alive()


# --- which queue ------------------------------------------------------------------


def test_the_settings_choose_the_queue(settings: Settings, queue: str) -> None:
    opened = open_queue(settings)
    kinds = {"sqlite": SqliteHuey, "postgres": PostgresHuey, "redis": RedisHuey}
    try:
        assert type(opened) is kinds[queue]
        if queue == "sqlite":  # beside the deliveries, never among them
            assert opened.storage.filename == settings.database_url.removeprefix("sqlite:///") + ".queue"
    finally:
        opened.storage.close()


def test_a_sqlite_queue_of_its_own_has_the_name_it_was_given(tmp_path: Path) -> None:
    opened = open_queue(Settings(queue_url=f"sqlite:///{tmp_path / 'rings.db'}"))
    opened.storage.close()
    assert (tmp_path / "rings.db").exists()


def test_a_queue_that_cannot_be_opened_names_the_setting_and_no_password(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnavailable, match="LIVEFIRST_QUEUE_URL") as caught:
        open_queue(Settings(queue_url="postgresql://ann:hunter2@127.0.0.1:1/none"))
    assert "hunter2" not in str(caught.value)
    with pytest.raises(DatabaseUnavailable, match="LIVEFIRST_DATABASE_URL"):
        open_queue(Settings(database_url=f"sqlite:///{tmp_path}/no/such/folder/livefirst.db"))


# --- ringing ----------------------------------------------------------------------


def test_a_woken_subject_is_judged_after_it_settled(room: Room) -> None:
    room.start()
    room.keep(["a"])
    assert not room.judging.judged
    wait_until(lambda: room.states() == {"done": 1}, "the delivery")
    assert room.judging.judged == {THREAD: 1}


def test_a_hundred_deliveries_are_few_judgings_and_never_two_at_once(room: Room) -> None:
    room.judging.seconds = 0.1
    room.start()
    for number in range(100):
        room.keep([f"{number}"])
        for _ in range(3):  # rings may come twice, from any worker
            room.engine.wake([THREAD])
        time.sleep(0.01)
    wait_until(lambda: room.states() == {"done": 100}, "all hundred")
    assert room.judging.most_at_once[THREAD] == 1
    assert room.judging.judged[THREAD] <= 20


def test_many_subjects_are_judged_side_by_side_each_alone(room: Room) -> None:
    room.judging.seconds = 0.05
    room.start()
    subjects = [f"thread:2:{number}" for number in range(30)]
    for number in range(3):
        for subject in subjects:
            room.keep([f"{subject}/{number}"], subject)
    wait_until(lambda: room.states() == {"done": 90}, "all ninety")
    assert set(room.judging.most_at_once.values()) == {1}
    assert set(room.judging.judged) == set(subjects)


def test_what_comes_while_it_is_judged_is_judged_after(room: Room) -> None:
    room.judging.go.clear()
    room.start()
    room.keep(["a"])
    wait_until(lambda: room.judging.most_at_once[THREAD] == 1, "the first judging")
    room.keep(["b"])
    assert room.states() == {"waiting": 2}
    room.judging.go.set()
    wait_until(lambda: room.states() == {"done": 2}, "the second")
    assert room.judging.most_at_once[THREAD] == 1


def test_a_ring_that_was_lost_is_rung_again(room: Room) -> None:
    room.start()
    room.keep(["a"], ring=False)
    wait_until(lambda: room.states() == {"done": 1}, "the sweep")


def test_what_a_dead_worker_held_is_taken_over_when_its_lease_ran_out(room: Room) -> None:
    room.keep(["a"], ring=False)
    time.sleep(SETTLE)
    assert room.deliveries.claim(THREAD, "dead", now=time.time(), lease=LEASE) is not None
    room.start()
    wait_until(lambda: room.states() == {"done": 1}, "the heir")
    assert room.judging.judged == {THREAD: 1}


def test_what_a_stopped_process_left_is_judged_at_the_start_of_the_next(settings: Settings) -> None:
    first = Room(settings)
    first.keep(["a"], ring=False)
    first.stop()
    second = Room(settings)
    second.start()
    try:
        wait_until(lambda: second.states() == {"done": 1}, "what was left")
    finally:
        second.stop()


def test_a_judge_that_fails_does_not_end_the_worker(room: Room) -> None:
    judge = room.judging.judge
    failing = [RuntimeError("a bug"), DatabaseUnavailable("gone")] * WORKERS

    def sometimes(subject: str, owner: str) -> float | None:
        if failing:
            raise failing.pop()
        return judge(subject, owner)

    room.judging.judge = sometimes  # type: ignore[method-assign]
    room.start()
    for _ in range(2 * WORKERS):
        room.engine.wake([THREAD])
    wait_until(lambda: not failing, "every failure")
    room.keep(["a"])
    wait_until(lambda: room.states() == {"done": 1}, "the delivery after them")
    assert room.engine.alive()


def test_held_leases_are_renewed_by_the_heartbeat(room: Room) -> None:
    room.start()
    wait_until(lambda: room.judging.beats > 1, "two heartbeats")


# --- limits -----------------------------------------------------------------------


def test_one_installation_cannot_use_another_ones_allowance(settings: Settings) -> None:
    limited = settings.model_copy(update={"github_calls_per_minute": 10})
    room = Room(limited)
    try:
        if time.time() % 60 > 50:  # the count begins anew with the minute
            time.sleep(60 - time.time() % 60)
        room.engine.spend(5, 4)
        room.engine.spend(5, 6)
        with pytest.raises(Unavailable) as caught:
            room.engine.spend(5, 1)
        assert caught.value.retry_after is not None
        assert 0 < caught.value.retry_after <= 60
        room.engine.spend(6, 10)
        with pytest.raises(Unavailable):
            room.engine.spend(6, 1)
    finally:
        room.stop()


def test_an_allowance_is_shared_by_the_processes_of_one_queue(settings: Settings) -> None:
    limited = settings.model_copy(update={"github_calls_per_minute": 6})
    rooms = [Room(limited), Room(limited)]
    try:
        if time.time() % 60 > 50:
            time.sleep(60 - time.time() % 60)
        for room in rooms:
            room.engine.spend(5, 3)
        for room in rooms:
            with pytest.raises(Unavailable):
                room.engine.spend(5, 1)
    finally:
        for room in rooms:
            room.stop()


def test_judging_goes_on_where_the_queue_cannot_count(tmp_path: Path) -> None:
    """A queue in trouble is no fault of a delivery: eight such faults would give it up."""
    room = Room(Settings(database_url=f"sqlite:///{tmp_path / 'livefirst.db'}"))
    try:
        room.engine._huey.storage.sql("DROP TABLE counter")
        room.engine.spend(5, 4)
    finally:
        room.stop()


# --- life -------------------------------------------------------------------------


def livefirst_threads() -> set[str]:
    names = ("Worker-", "Scheduler", "ringer", "heartbeat")
    return {thread.name for thread in threading.enumerate() if thread.name.startswith(names)}


def test_a_stop_finishes_what_is_in_hand_and_ends_every_thread(settings: Settings) -> None:
    """ResourceWarnings are errors here: a connection that a thread left open fails this test."""
    for _ in range(2):  # and it can be started again in the same process
        room = Room(settings)
        room.judging.seconds = 0.5
        room.start()
        assert len(livefirst_threads()) == WORKERS + 3
        assert room.engine.alive()
        guid = str(time.time_ns())
        room.keep([guid])
        wait_until(lambda room=room: room.judging.most_at_once[THREAD] == 1, "the judging to begin")  # type: ignore[misc]
        room.engine.stop()
        assert not room.engine.alive()
        assert livefirst_threads() == set()
        assert [row.state for row in room.deliveries.listed(guid)] == ["done"]
        room.database.close()


def test_a_stop_without_a_start_is_no_error(settings: Settings) -> None:
    Room(settings).stop()


def connections(settings: Settings, queue: str, request: pytest.FixtureRequest) -> int:
    """Count who is connected to a queue's storage, leaving out who asks."""
    if queue == "redis":
        url = request.getfixturevalue("redis_url")
        with redis.Redis.from_url(url) as client:
            return sum(one["db"] == url.rpartition("/")[2] for one in client.client_list()) - 1
    if queue == "postgres":
        count = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        with psycopg.connect(postgres_address(settings)) as connection:
            row = connection.execute(count).fetchone()
        return int(row[0]) if row else 0
    held = [str(file.resolve()) for file in Path("/proc/self/fd").iterdir() if file.exists()]
    return sum(settings.database_url.removeprefix("sqlite:///") in name for name in held)


def postgres_address(settings: Settings) -> str:
    return "postgresql://" + settings.database_url.partition("://")[2]


def test_no_connection_outlives_the_engine(settings: Settings, queue: str, request: pytest.FixtureRequest) -> None:
    before = connections(settings, queue, request)
    room = Room(settings)
    room.start()
    room.keep(["a"])
    wait_until(lambda: room.states() == {"done": 1}, "the delivery")
    assert connections(settings, queue, request) > before
    room.stop()
    wait_until(lambda: connections(settings, queue, request) == before, "every connection to end")


@pytest.mark.parametrize("queue", [pytest.param("postgres", marks=pytest.mark.postgres)], indirect=True)
def test_the_engine_outlives_the_end_of_every_backend(room: Room) -> None:
    room.start()
    room.keep(["a"])
    wait_until(lambda: room.states() == {"done": 1}, "the first")
    end = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    with psycopg.connect(postgres_address(room.settings), autocommit=True) as connection:
        connection.execute(end)

    def kept() -> bool:
        try:
            room.keep(["b"])
        except DatabaseUnavailable:
            return False
        return True

    wait_until(kept, "the database to answer again")
    wait_until(lambda: room.states() == {"done": 2}, "the second")
    assert room.engine.alive()
