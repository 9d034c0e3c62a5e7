"""Who rings for what waits, when, and on how many threads? The only importer of Huey.

Huey is the doorbell, the pool and the clock; the inbox is the truth. A ring carries a subject's key and nothing else. A
ring may be lost (a killed process, a full queue) or come twice: a sweep rings again for what waits or whose lease ran
out, and a job that finds nothing to do ends at once.
"""

import json
import os
import queue
import socket
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final

import structlog
from huey import Huey, PostgresHuey, RedisHuey, SqliteHuey
from huey.consumer import Consumer, Scheduler
from huey.exceptions import RateLimitExceeded
from huey.registry import Message
from huey.serializer import Serializer

from models.recorded.database import DatabaseError, DatabaseUnavailable
from models.recorded.deliveries import Deliveries
from triage.forge.port import Unavailable
from triage.job import Judge
from triage.settings import PREFIX, Settings

log = structlog.get_logger(__name__)

QUEUE: Final = "livefirst"
POLL_SECONDS: Final = (0.05, 0.5)  # an idle worker looks at a SQLite queue this often, first and at the most
SWEEP_MOST: Final = 1000  # subjects in one sweep
STOP_SECONDS: Final = 20.0  # what a stop waits for the jobs in hand
MINUTE: Final = 60


class JsonSerializer(Serializer):  # type: ignore[misc]  # Huey ships no types
    """Writes messages as JSON: a queue that a stranger can write to must not be able to run code here."""

    def _serialize(self, data: object) -> bytes:
        if isinstance(data, Message):
            if data.on_complete or data.on_error or data.chord_config:
                raise TypeError("rings have no sequels")
            eta = None if data.eta is None else data.eta.isoformat()
            return json.dumps({"message": [*data[:2], eta, *data[3:]]}).encode()
        return json.dumps({"value": data}).encode()

    def _deserialize(self, data: bytes) -> object:
        read = json.loads(bytes(data))
        if "message" not in read:
            return read["value"]
        fields = read["message"]
        fields[2] = None if fields[2] is None else datetime.fromisoformat(fields[2])
        return Message(*fields)


def open_queue(settings: Settings) -> Huey:
    """Open the queue that the settings choose: Redis, PostgreSQL, or SQLite beside the database.

    Raises
    ------
    DatabaseError
        When it cannot be opened; the message holds no part of its address.
    """
    try:
        return _open_queue(settings)
    except Exception as error:  # noqa: BLE001 - each storage has errors of its own, and they may quote a password
        name = "QUEUE_URL" if settings.queue_url else "DATABASE_URL"
        raise DatabaseUnavailable(f"the queue cannot be opened ({type(error).__name__}); see {PREFIX}{name}") from None


def _open_queue(settings: Settings) -> Huey:
    url = settings.queue_url or settings.database_url
    given: dict[str, Any] = {"results": False, "serializer": JsonSerializer(), "utc": True}
    if url.startswith(("redis://", "rediss://")):
        return RedisHuey(QUEUE, url=url, **given)
    if url.startswith("postgresql"):
        return PostgresHuey(QUEUE, dsn="postgresql://" + url.partition("://")[2], table_prefix="huey", **given)
    path = url.removeprefix("sqlite:///")
    # A ring that is lost with the power is rung again by the sweep: no fsync for it.
    return SqliteHuey(QUEUE, filename=path if settings.queue_url else f"{path}.queue", fsync=False, **given)


class EmbeddedConsumer(Consumer):  # type: ignore[misc]  # Huey ships no types
    """A consumer that lives in another program's process: signals are that program's affair."""

    def __init__(self, huey: Huey, *, sweep_seconds: float, **options: Any) -> None:
        self._sweep_seconds = sweep_seconds
        super().__init__(huey, **options)

    def _create_scheduler(self) -> Scheduler:
        scheduler = super()._create_scheduler()
        scheduler.periodic_task_seconds = self._sweep_seconds
        return scheduler

    def _set_signal_handlers(self) -> None:
        """Leave the signals alone."""


class Engine:
    """The pool of workers, the ringer and the clock around one judge."""

    def __init__(
        self,
        settings: Settings,
        deliveries: Deliveries,
        *,
        tidy: Callable[[float], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings
        self._deliveries = deliveries
        self._tidy = tidy
        self._clock = clock
        self._owner = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self._huey = open_queue(settings)
        self._judge: Judge | None = None
        self._consumer: EmbeddedConsumer | None = None
        self._woken: queue.SimpleQueue[Sequence[str] | None] = queue.SimpleQueue()
        self._stopping = threading.Event()
        self._closing = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._ring = self._huey.task(name="judge")(self._on_ring)
        self._huey.on_shutdown(name="close")(self._close_queue)
        self._huey.periodic_task(lambda _now: True, name="sweep")(self.sweep)
        self._huey.periodic_task(lambda now: now.minute == 0, name="tidy")(self.tidy)

    # --- ringing ----------------------------------------------------------------

    def wake(self, subjects: Sequence[str]) -> None:
        """Ring for subjects once they have settled; returns at once, from any thread."""
        self._woken.put(subjects)

    def _ring_woken(self) -> None:
        while (subjects := self._woken.get()) is not None:
            for subject in subjects:
                self._ring_in(subject, self._settings.settle_seconds)

    def _ring_in(self, subject: str, seconds: float) -> None:
        try:
            if seconds > 0:
                self._ring.schedule(args=(subject,), delay=seconds)
            else:
                self._ring(subject)
        except Exception as error:  # noqa: BLE001 - the sweep rings again, whatever the queue's trouble is
            log.warning("ring lost", subject=subject, reason=type(error).__name__)

    def _on_ring(self, subject: str) -> None:
        if self._judge is None:
            raise RuntimeError("the engine was not started")
        try:
            again = self._judge.judge(subject, self._owner)
            due_at = self._deliveries.waiting_at(subject) if again is None else again
        except DatabaseError as error:  # the lease runs out, and the sweep rings again
            log.warning("database does not answer", subject=subject, reason=str(error))
            return
        now = self._clock()
        # What is due although it was just looked at is in another's hands.
        if due_at is not None and (again is not None or due_at > now):
            self._ring_in(subject, max(due_at - now, 0.0))

    def sweep(self) -> None:
        """Ring again for what is due and was not rung for lately, or whose holder died."""
        now = self._clock()
        rung_before = now - max(self._settings.sweep_seconds, 1.0)
        try:
            due = self._deliveries.due(now, SWEEP_MOST, rung_before=rung_before)
        except DatabaseError as error:
            log.warning("sweep failed", reason=str(error))
            return
        for subject in due:
            self._ring_in(subject, 0.0)

    def tidy(self) -> None:
        """Drop raw deliveries and bodies that are older than the retention time."""
        self._tidy(self._clock() - self._settings.retain_days * 86400.0)

    # --- limits -----------------------------------------------------------------

    def spend(self, installation_id: int, requests: int) -> None:
        """Take requests to GitHub from an installation's allowance of the minute.

        Raises
        ------
        Unavailable
            When it is used up, with the seconds until the next one. A queue that cannot count lets everything pass:
            GitHub counts too.
        """
        limit = self._settings.github_calls_per_minute
        allowance = self._huey.rate_limit(f"github.{installation_id}", limit=limit, per=MINUTE)
        try:
            for _ in range(requests):
                allowance.acquire()
        except RateLimitExceeded as error:
            raise Unavailable("the installation's allowance for this minute is used up", error.delay) from None
        except Exception as error:  # noqa: BLE001 - whatever the queue's trouble is, judging does not fail of it
            log.warning("requests not counted", installation=installation_id, reason=type(error).__name__)

    # --- life -------------------------------------------------------------------

    def start(self, judge: Judge) -> None:
        """Start workers, ringer and clock; what a stopped process left is rung for at once."""
        self._judge = judge
        self._consumer = EmbeddedConsumer(
            self._huey,
            sweep_seconds=self._settings.sweep_seconds,
            workers=self._settings.workers,
            periodic=True,
            initial_delay=POLL_SECONDS[0],
            max_delay=POLL_SECONDS[1],
            scheduler_interval=1,
        )
        self._consumer.start()
        for name, run in {"ringer": self._ring_woken, "heartbeat": self._beat}.items():
            thread = threading.Thread(target=run, name=name, daemon=True)
            thread.start()
            self._threads.append(thread)
        self.sweep()

    def _beat(self) -> None:
        while not self._stopping.wait(self._settings.lease_seconds / 3):
            if self._judge is not None:
                self._judge.beat()

    def alive(self) -> bool:
        """Tell whether every thread of the engine runs."""
        if self._consumer is None or self._stopping.is_set():
            return False
        workers = [thread for _, thread in self._consumer.worker_threads]
        return all(thread.is_alive() for thread in [*workers, self._consumer.scheduler, *self._threads])

    def stop(self) -> None:
        """Finish the jobs in hand and stop; what waits stays in the inbox."""
        self._stopping.set()
        self._woken.put(None)
        if self._consumer is not None:
            self._consumer.shutdown_timeout = STOP_SECONDS
            self._consumer.stop(graceful=True)
        for thread in self._threads:
            thread.join(STOP_SECONDS)
        self._close_queue()
        if isinstance(self._huey, RedisHuey):
            self._huey.storage.pool.disconnect()

    def _close_queue(self) -> None:
        """Close the queue's connections; every worker does so at its end, since one of them may be its own."""
        with self._closing:
            self._huey.storage.close()
