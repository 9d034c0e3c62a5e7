"""Is this delivery on disk? The one writer that lets the door say 202, many deliveries to a commit.

A flush to the disk costs the same for one delivery as for five hundred, so whatever waits is written together.
"""

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, Literal, NamedTuple

import structlog

from models.recorded.database import DatabaseUnavailable
from models.recorded.deliveries import Arrival, Deliveries

__all__ = ["Arrival", "Inbox", "NotKept"]

BATCH: Final = 512
BATCH_BYTES: Final = 64 * 1024 * 1024
BACKLOG: Final = 20_000
BACKLOG_BYTES: Final = 256 * 1024 * 1024

Outcome = Literal["accepted", "duplicate"]

log = structlog.get_logger(__name__)


class NotKept(Exception):
    """The delivery could not be stored: answer so that GitHub records a failure. The message says why."""


class _Waiting(NamedTuple):
    arrival: Arrival
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[Outcome]


class Inbox:
    """Keeps deliveries for the door. ``on_woken`` gets, after the commit, the subjects that began to wait.

    ``settle`` in seconds. ``on_woken`` runs in the writer's thread and must return soon.
    """

    def __init__(self, deliveries: Deliveries, *, settle: float, on_woken: Callable[[Sequence[str]], None]) -> None:
        self._deliveries = deliveries
        self._settle = settle
        self._on_woken = on_woken
        self._queue: deque[_Waiting] = deque()
        self._bytes = 0
        self._changed = threading.Condition()
        self._open = False
        self._writer: threading.Thread | None = None

    def start(self) -> None:
        """Start the writer."""
        with self._changed:
            if self._writer is not None:
                return
            self._open = True
            self._writer = threading.Thread(target=self._write, name="inbox", daemon=True)
        self._writer.start()

    def stop(self) -> None:
        """Write what waits, then refuse: returns when the writer has ended."""
        with self._changed:
            self._open = False
            self._changed.notify()
            writer = self._writer
        if writer is not None:
            writer.join()
        with self._changed:
            self._writer = None

    async def keep(self, arrival: Arrival) -> Outcome:
        """Return once the delivery is on disk, or was there before as done.

        Raises
        ------
        NotKept
            When it could not be stored; nothing is known of it then, or it is known and no harm is done.
        """
        loop = asyncio.get_running_loop()
        waiting = _Waiting(arrival, loop, loop.create_future())
        with self._changed:
            if not self._open:
                raise NotKept("stopping")
            if len(self._queue) >= BACKLOG or self._bytes + len(arrival.body) > BACKLOG_BYTES:
                raise NotKept("too many deliveries wait to be written")
            self._queue.append(waiting)
            self._bytes += len(arrival.body)
            self._changed.notify()
        return await waiting.answer

    # --- the writer's thread ------------------------------------------------

    def _write(self) -> None:
        while batch := self._take():
            self._keep(batch)

    def _take(self) -> list[_Waiting]:
        """Wait for deliveries and take as many as fit into one transaction; none when the inbox has stopped."""
        with self._changed:
            while self._open and not self._queue:
                self._changed.wait()
            batch: list[_Waiting] = []
            size = 0
            while self._queue and len(batch) < BATCH and size < BATCH_BYTES:
                waiting = self._queue.popleft()
                size += len(waiting.arrival.body)
                batch.append(waiting)
            self._bytes -= size
            return batch

    def _keep(self, batch: Sequence[_Waiting]) -> None:
        arrivals = [waiting.arrival for waiting in batch]
        try:
            kept = self._deliveries.keep(arrivals, settle=self._settle)
        except DatabaseUnavailable as error:
            log.warning("deliveries_not_kept", deliveries=len(batch), reason=str(error))
            _answer(batch, [NotKept(str(error))] * len(batch))
            self._give_up_stopping(str(error))
            return
        except Exception as error:  # noqa: BLE001  (whatever it is, the door must be answered and the writer go on)
            if len(batch) > 1:  # one of them cannot be stored: the others must not suffer from it
                for waiting in batch:
                    self._keep([waiting])
                return
            # No trace in either: one with local names would show bodies.
            log.warning("delivery_not_kept", guid=arrivals[0].guid, reason=type(error).__name__)
            _answer(batch, [NotKept(type(error).__name__)])
            return
        _answer(batch, [one.outcome for one in kept])
        woken = list(dict.fromkeys(one.subject for one, done in zip(arrivals, kept, strict=True) if done.woke))
        if woken:
            try:
                self._on_woken(woken)
            except Exception as error:  # noqa: BLE001  (the sweep rings for them)
                log.warning("ring_failed", subjects=len(woken), reason=type(error).__name__)

    def _give_up_stopping(self, reason: str) -> None:
        """While stopping, wait for an absent database once, not once for every batch."""
        with self._changed:
            if self._open:
                return
            rest = list(self._queue)
            self._queue.clear()
            self._bytes = 0
        _answer(rest, [NotKept(reason)] * len(rest))


def _answer(batch: Sequence[_Waiting], answers: Sequence[Outcome | NotKept]) -> None:
    """Resolve the futures: each event loop is woken once a batch."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Outcome], Outcome | NotKept]]] = {}
    for waiting, answer in zip(batch, answers, strict=True):
        by_loop.setdefault(waiting.loop, []).append((waiting.answer, answer))
    for loop, pairs in by_loop.items():
        with contextlib.suppress(RuntimeError):  # a closed loop: nobody waits there any more
            loop.call_soon_threadsafe(_resolve, pairs)


def _resolve(pairs: Sequence[tuple[asyncio.Future[Outcome], Outcome | NotKept]]) -> None:
    for future, answer in pairs:
        if future.done():  # the sender hung up
            continue
        if isinstance(answer, NotKept):
            future.set_exception(NotKept(*answer.args))
        else:
            future.set_result(answer)
