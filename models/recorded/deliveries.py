"""Which deliveries wait, who works on them now, and what became of each?

The inbox is the truth: an engine only rings. A *subject* (a thread, a person, a repository) waits while ``due_at`` is
set; one worker at a time holds it by lease. Instants and durations are seconds, deliveries are judged at least once.
Locks are taken in one order everywhere, subjects by key and then deliveries, so that no two calls wait for each other.
"""

import time
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from sqlalchemy import Connection, Row, delete, exists, func, select, update
from sqlmodel import SQLModel

from models.recorded.database import Collision, Database
from models.recorded.many import ManyRows
from models.recorded.subjects import Addressed, Subjects, Trouble, waits
from models.recorded.tables import BodyRow, DeliveryRow

__all__ = ["Arrival", "Backlog", "Claim", "Deliveries", "Delivery", "Kept", "LeaseLost", "Trouble"]

CLAIM_LIMIT: Final = 500
CLAIM_BYTES: Final = 64 * 1024 * 1024  # of bodies held in memory by one worker; one delivery may be 25 MB
COLLISIONS: Final = 3
BATCH: Final = 500

DELIVERY: Final = SQLModel.metadata.tables[str(DeliveryRow.__tablename__)]
BODY: Final = SQLModel.metadata.tables[str(BodyRow.__tablename__)]

# What an arrival tells of itself beside its body.
TOLD: Final = ("guid", "event", "action", "installation_id", "repository_id", "subject", "received_at")
WAITING: Final[dict[str, Any]] = {"state": "waiting", "attempts": 0}


class LeaseLost(Exception):
    """Another worker holds the subject now: what this one found is not written."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A signed delivery at the door. ``received_at`` in seconds."""

    guid: str
    event: str
    action: str | None
    installation_id: int | None
    repository_id: int | None
    subject: str
    body: bytes
    received_at: float


@dataclass(frozen=True, slots=True)
class Delivery:
    """A delivery as stored. ``body`` is ``None`` in a list, and once it was dropped."""

    id: int
    guid: str
    event: str
    action: str | None
    installation_id: int | None
    repository_id: int | None
    subject: str
    received_at: float
    state: str
    attempts: int
    outcome: str | None
    finished_at: float | None
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of an arrival. ``woke``: its subject did not wait before."""

    outcome: Literal["accepted", "duplicate"]
    woke: bool


@dataclass(frozen=True, slots=True)
class Claim:
    """A subject held by lease, with the deliveries that wait for it, oldest first.

    ``waiting_since`` is when this wait began: no job that ended came after it. ``error`` says why it was put back,
    ``deaths`` how many workers died on it one after the other.
    """

    subject: str
    installation_id: int | None
    token: str
    attempts: int
    due_seen: float
    waiting_since: float
    deliveries: tuple[Delivery, ...]
    error: str | None = None
    deaths: int = 0


@dataclass(frozen=True, slots=True)
class Backlog:
    """How many deliveries wait and how many failed; ``oldest_at`` is when the oldest waiting one came.

    ``subjects`` counts what waits to be judged, with or without deliveries.
    """

    waiting: int
    failed: int
    oldest_at: float | None
    subjects: int


class Deliveries:
    """The deliveries and subjects of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._subjects = Subjects(database)
        insert = database.insert(DELIVERY).on_conflict_do_nothing(index_elements=["guid"])
        insert_body = database.insert(BODY).on_conflict_do_nothing(index_elements=["delivery_id"])
        self._insert = ManyRows(database, insert.returning(DELIVERY.c.guid, DELIVERY.c.id), [*TOLD, *WAITING])
        self._insert_bodies = ManyRows(database, insert_body, ["delivery_id", "received_at", "body"])

    # --- coming in ----------------------------------------------------------

    def keep(self, arrivals: Sequence[Arrival], *, settle: float) -> list[Kept]:
        """Store deliveries and make their subjects wait, in one transaction; on return they are on disk.

        A known GUID is stored once: done is ``duplicate``, waiting is ``accepted``, failed waits again from attempt 0.
        A subject is due ``settle`` after its last delivery, at most ten times that after its first.
        """
        for _ in range(COLLISIONS):
            try:
                return self._keep(arrivals, settle)
            except Collision:  # another process keeps the same redeliveries
                continue
        return self._keep(arrivals, settle)

    def _keep(self, arrivals: Sequence[Arrival], settle: float) -> list[Kept]:
        first: dict[str, Arrival] = {}
        for arrival in arrivals:
            first.setdefault(arrival.guid, arrival)
        with self._database.write() as session:
            connection = session.connection()
            before = self._subjects.lock(connection, {arrival.subject for arrival in first.values()})
            done = self._store(connection, first)
            wanted = [arrival for guid, arrival in first.items() if guid not in done]
            addressed = [(arrival.subject, arrival.installation_id, arrival.received_at) for arrival in wanted]
            self._subjects.debounce(connection, addressed, settle)
        woken = {arrival.subject for arrival in wanted if not waits(before.get(arrival.subject))}
        kept = []
        for arrival in arrivals:
            if arrival.guid in done:
                kept.append(Kept("duplicate", woke=False))
            else:
                kept.append(Kept("accepted", woke=arrival.subject in woken))
                woken.discard(arrival.subject)
        return kept

    def _store(self, connection: Connection, first: Mapping[str, Arrival]) -> set[str]:
        """Insert what is new, wake what failed; return the GUIDs that are done."""
        rows = [{name: getattr(arrival, name) for name in TOLD} | WAITING for arrival in first.values()]
        ids: dict[str, int] = {row.guid: row.id for row in self._insert.write(connection, rows)}
        done: set[str] = set()
        known = [guid for guid in first if guid not in ids]
        if known:
            query = select(DELIVERY.c.id, DELIVERY.c.guid, DELIVERY.c.state).where(DELIVERY.c.guid.in_(known))
            found = connection.execute(query.with_for_update()).all()
            failed = {row.guid: row.id for row in found if row.state == "failed"}
            again = {**WAITING, "outcome": None, "finished_at": None}
            connection.execute(update(DELIVERY).where(DELIVERY.c.id.in_(failed.values())).values(again))
            ids |= failed
            done = {row.guid for row in found if row.state == "done"}
        bodies = ((number, first[guid]) for guid, number in ids.items())
        self._insert_bodies.write(  # a failed one may have lost its body, or has it still
            connection,
            [{"delivery_id": number, "received_at": one.received_at, "body": one.body} for number, one in bodies],
        )
        return done

    def nudge(self, subjects: Sequence[Addressed], now: float, due_at: float) -> list[str]:
        """Make subjects (key, installation) wait without a delivery; return those that did not wait before.

        One that waits already keeps its time, except that one being worked on now is looked at once more.
        """
        with self._database.write() as session:
            connection = session.connection()
            before = self._subjects.lock(connection, {key for key, _ in subjects})
            self._subjects.nudge(connection, subjects, now, due_at)
        return [key for key in dict(subjects) if not waits(before.get(key))]

    # --- being worked on ----------------------------------------------------

    def claim(self, subject: str, owner: str, *, now: float, lease: float) -> Claim | None:
        """Take a due subject for ``lease`` seconds; ``None`` when it does not wait, is not due or is held by another.

        Of any number of callers at the same moment exactly one gets it.
        """
        token = f"{owner}:{uuid.uuid4().hex}"
        with self._database.write(durable=False) as session:
            connection = session.connection()
            taken = self._subjects.take(connection, subject, token, now, now + lease)
            if taken is None:
                return None
            rows = self._waiting(connection, subject)
        return Claim(
            subject=subject,
            installation_id=taken.installation_id,
            token=token,
            attempts=taken.attempts,
            due_seen=taken.due_at,
            waiting_since=taken.waiting_since,
            deliveries=rows,
            error=taken.error,
            deaths=taken.deaths,
        )

    def _waiting(self, connection: Connection, subject: str) -> tuple[Delivery, ...]:
        """Read what waits for a subject, oldest first, as far as the limits go."""
        bodies = DELIVERY.outerjoin(BODY, BODY.c.delivery_id == DELIVERY.c.id)
        sizes = (
            select(DELIVERY.c.id, func.coalesce(func.length(BODY.c.body), 0).label("size"))
            .select_from(bodies)
            .where(DELIVERY.c.subject == subject, DELIVERY.c.state == "waiting")
            .order_by(DELIVERY.c.id)
            .limit(CLAIM_LIMIT)
        )
        ids: list[int] = []
        total = 0
        for row in connection.execute(sizes):
            total += row.size
            if ids and total > CLAIM_BYTES:
                break
            ids.append(row.id)
        query = select(DELIVERY, BODY.c.body).select_from(bodies).where(DELIVERY.c.id.in_(ids)).order_by(DELIVERY.c.id)
        return tuple(Delivery(**row) for row in connection.execute(query).mappings())

    def renew(self, claim: Claim, *, until: float) -> bool:
        """Hold a subject until ``until``; ``False`` when another took it."""
        with self._database.write(durable=False) as session:
            return self._subjects.hold(session.connection(), claim.subject, claim.token, until)

    def finish(
        self,
        claim: Claim,
        outcomes: Mapping[int, str],
        *,
        now: float,
        nudges: Sequence[Addressed] = (),
        nudge_due: float | None = None,
    ) -> float | None:
        """Mark the claim's deliveries done and let the subject go, in one transaction.

        ``outcomes`` maps a delivery's id to its outcome. What arrived meanwhile goes on waiting; ``nudges`` begin to
        wait until ``nudge_due`` (now when ``None``). Returns the due time of what still waits for this subject.

        Raises
        ------
        LeaseLost
            When another worker took the subject; nothing is written.
        """
        by_outcome: dict[str, list[int]] = defaultdict(list)
        for delivery in claim.deliveries:
            if delivery.id in outcomes:
                by_outcome[outcomes[delivery.id]].append(delivery.id)
        with self._database.write() as session:
            connection = session.connection()
            rows = self._subjects.lock(connection, {claim.subject, *(key for key, _ in nudges)})
            row = rows.get(claim.subject)
            if row is None or row.lease_owner != claim.token:
                raise LeaseLost(claim.subject)
            for outcome, ids in by_outcome.items():
                self._end(connection, ids, "done", outcome, now)
            self._release(connection, claim, row, now, error=None)
            self._subjects.nudge(connection, nudges, now, now if nudge_due is None else nudge_due)
            return self._subjects.due_at(connection, claim.subject)

    def give_back(self, claim: Claim, *, now: float, due_at: float, error: str, counts: bool) -> None:
        """Let the subject go and have it wait until ``due_at``; ``counts`` adds an attempt to it and its deliveries.

        Does nothing when another worker took the subject: it is that one's now.
        """
        with self._database.write() as session:
            connection = session.connection()
            held = self._subjects.put_back(connection, claim.subject, claim.token, now, due_at, error, counts)
            if not held or not counts:
                return
            for ids in _parts([row.id for row in claim.deliveries]):
                connection.execute(
                    update(DELIVERY).where(DELIVERY.c.id.in_(ids)).values(attempts=DELIVERY.c.attempts + 1)
                )

    def give_up(self, claim: Claim, *, now: float, error: str) -> None:
        """Mark the claim's deliveries failed; the subject stops waiting, unless deliveries arrived meanwhile.

        Does nothing when another worker took the subject.
        """
        with self._database.write() as session:
            connection = session.connection()
            row = self._subjects.lock(connection, {claim.subject}).get(claim.subject)
            if row is None or row.lease_owner != claim.token:
                return
            self._end(connection, [row.id for row in claim.deliveries], "failed", error, now)
            self._release(connection, claim, row, now, error=error)

    def _end(self, connection: Connection, ids: Sequence[int], state: str, outcome: str, now: float) -> None:
        # By id alone: they wait as long as the lease holds, and SQLite would look through all that wait instead.
        for part in _parts(ids):
            connection.execute(
                update(DELIVERY)
                .where(DELIVERY.c.id.in_(part))
                .values(state=state, outcome=outcome, finished_at=now, attempts=DELIVERY.c.attempts + 1)
            )

    def _release(self, connection: Connection, claim: Claim, row: Row[Any], now: float, *, error: str | None) -> None:
        # Not min(received_at): for that SQLite looks through all that waits.
        oldest: float | None = connection.scalar(
            select(DELIVERY.c.received_at)
            .where(DELIVERY.c.subject == claim.subject, DELIVERY.c.state == "waiting")
            .order_by(DELIVERY.c.id)
            .limit(1)
        )
        self._subjects.release(connection, row, now, due_seen=claim.due_seen, oldest=oldest, error=error)

    # --- what waits ---------------------------------------------------------

    def due(self, now: float, limit: int = BATCH, *, rung_before: float) -> list[str]:
        """Pick subjects that wait, are due, are held by nobody and were not rung since ``rung_before``, longest first.

        They count as rung now, so that two sweeps do not ring the same.
        """
        with self._database.write(durable=False) as session:
            return self._subjects.ring(session.connection(), now, limit, rung_before)

    def waiting_at(self, subject: str) -> float | None:
        """Tell when a subject is due, ``None`` when it does not wait."""
        with self._database.read() as session:
            return self._subjects.due_at(session.connection(), subject)

    def backlog(self) -> Backlog:
        """Count what waits and what failed."""
        query = (
            select(DELIVERY.c.state, func.count().label("count"), func.min(DELIVERY.c.received_at).label("oldest"))
            .where(DELIVERY.c.state.in_(["waiting", "failed"]))
            .group_by(DELIVERY.c.state)
        )
        with self._database.read() as session:
            connection = session.connection()
            found = {row.state: (int(row[1]), float(row.oldest)) for row in connection.execute(query)}
            subjects = self._subjects.count(connection)
        waiting, oldest = found.get("waiting", (0, None))
        return Backlog(waiting, found.get("failed", (0, None))[0], oldest, subjects)

    # --- what became of each ------------------------------------------------

    def troubles(self, limit: int = 5) -> list[Trouble]:
        """Return why subjects that were tried and put back still wait, the commonest reason first."""
        with self._database.read() as session:
            return self._subjects.troubles(session.connection(), limit)

    def listed(self, guid: str | None = None, state: str | None = None, limit: int = 1000) -> list[Delivery]:
        """List the newest ``limit`` deliveries, oldest first, without their bodies."""
        query = select(DELIVERY).order_by(DELIVERY.c.id.desc()).limit(limit)
        if guid is not None:
            query = query.where(DELIVERY.c.guid == guid)
        if state is not None:
            query = query.where(DELIVERY.c.state == state)
        with self._database.read() as session:
            rows = [Delivery(**row) for row in session.connection().execute(query).mappings()]
        return rows[::-1]

    def retry(self, guid: str | None = None, *, now: float | None = None) -> list[str]:
        """Make failed deliveries (one, or all) wait again at once; return the subjects that begin to wait.

        One whose body was dropped stays failed.
        """
        at = time.time() if now is None else now
        failed = [DELIVERY.c.state == "failed", exists().where(BODY.c.delivery_id == DELIVERY.c.id)]
        if guid is not None:
            failed.append(DELIVERY.c.guid == guid)
        addressed = select(DELIVERY.c.subject, func.max(DELIVERY.c.installation_id)).where(*failed)
        with self._database.write() as session:
            connection = session.connection()
            subjects = [(str(row[0]), row[1]) for row in connection.execute(addressed.group_by(DELIVERY.c.subject))]
            before = self._subjects.lock(connection, {key for key, _ in subjects})
            for part in _parts([key for key, _ in subjects]):
                connection.execute(
                    update(DELIVERY)
                    .where(DELIVERY.c.subject.in_(part), *failed)
                    .values(state="waiting", attempts=0, outcome=None, finished_at=None)
                )
            self._subjects.nudge(connection, subjects, at, at)
        return [key for key, _ in subjects if not waits(before.get(key))]

    def drop_bodies(self, before: float) -> int:
        """Drop the bodies of deliveries that came before ``before`` and no longer wait; return how many."""
        waits = exists().where(DELIVERY.c.id == BODY.c.delivery_id, DELIVERY.c.state == "waiting")
        pick = select(BODY.c.delivery_id).where(BODY.c.received_at < before, ~waits).limit(BATCH)
        drop = delete(BODY).where(BODY.c.delivery_id.in_(pick.scalar_subquery())).returning(BODY.c.delivery_id)
        total = 0
        while True:  # in short transactions: the door writes in between
            with self._database.write() as session:
                dropped = len(session.connection().execute(drop).all())
            total += dropped
            if dropped < BATCH:
                return total


def _parts(values: Sequence[Any]) -> Iterable[Sequence[Any]]:
    return (values[start : start + BATCH] for start in range(0, len(values), BATCH))
