"""Which thread, person or repository waits to be judged, since when, and who holds it?

Every method works on a connection whose transaction is the caller's. A subject waits while ``due_at`` is set; it is
held while ``lease_until`` lies ahead. Instants are seconds.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, case, func, null, or_, select, update
from sqlmodel import SQLModel

from models.recorded.database import Database
from models.recorded.many import ManyRows
from models.recorded.tables import SubjectRow

DEBOUNCE_CAP: Final = 10  # settle times that a wait may be put off by later deliveries
# A nudge during a lease moves the due time by at least this, so that ``release`` sees it. Seconds.
STIR: Final = 0.001

SUBJECT: Final = SQLModel.metadata.tables[str(SubjectRow.__tablename__)]

# What a wait begins with.
BEGUN: Final = ("key", "installation_id", "waiting_since", "due_at", "attempts", "deaths")

Addressed = tuple[str, int | None]


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why ``subjects`` wait although they are due, and since when (seconds since 1970)."""

    reason: str
    subjects: int
    since: float | None


class Subjects:
    """The subjects of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._least = func.least if database.postgres else func.min
        self._most = func.greatest if database.postgres else func.max
        self._debounced = lru_cache(1)(self._debounce)  # one settle time a process
        self._nudged = lru_cache(1)(self._nudge)

    def lock(self, connection: Connection, keys: set[str]) -> dict[str, Row[Any]]:
        """Lock the subjects that exist, in order of key (PostgreSQL; SQLite has one writer), and return them."""
        query = select(SUBJECT).where(SUBJECT.c.key.in_(sorted(keys))).order_by(SUBJECT.c.key).with_for_update()
        return {row.key: row for row in connection.execute(query)}

    def debounce(self, connection: Connection, arrived: Iterable[tuple[str, int | None, float]], settle: float) -> None:
        """Make subjects wait for what arrived (key, installation, time), each ``settle`` after its last delivery.

        The wait is put off by at most ``DEBOUNCE_CAP`` settle times.
        """
        times: dict[str, list[float]] = defaultdict(list)
        installation: dict[str, int | None] = {}
        for key, number, at in arrived:
            times[key].append(at)
            installation[key] = number or installation.get(key)
        cap = DEBOUNCE_CAP * settle
        rows = [
            {
                "key": key,
                "installation_id": installation[key],
                "waiting_since": min(at),
                "due_at": min(max(at) + settle, min(at) + cap),
                "attempts": 0,
                "deaths": 0,
            }
            for key, at in sorted(times.items())
        ]
        self._debounced(cap).write(connection, rows)

    def _debounce(self, cap: float) -> ManyRows:
        insert = self._database.insert(SUBJECT)
        later = self._most(SUBJECT.c.due_at, self._least(insert.excluded.due_at, SUBJECT.c.waiting_since + cap))
        return ManyRows(self._database, self._upsert(insert, due_at=later), BEGUN)

    def nudge(self, connection: Connection, subjects: Sequence[Addressed], now: float, due_at: float) -> None:
        """Make subjects (key, installation) wait without a delivery; one that waits keeps its time unless held."""
        rows = [
            {
                "key": key,
                "installation_id": installation,
                "waiting_since": now,
                "due_at": due_at,
                "attempts": 0,
                "deaths": 0,
            }
            for key, installation in sorted(dict(subjects).items())
        ]
        self._nudged().write(connection, rows)

    def _nudge(self) -> ManyRows:
        insert = self._database.insert(SUBJECT)
        stirred = self._most(insert.excluded.due_at, SUBJECT.c.due_at + STIR)
        held = case((SUBJECT.c.lease_owner.is_(None), SUBJECT.c.due_at), else_=stirred)
        return ManyRows(self._database, self._upsert(insert, due_at=held), BEGUN)

    def _upsert(self, insert: Any, *, due_at: ColumnElement[float]) -> Any:
        """Make a subject wait: a new wait begins with a clean slate, an old one goes on until ``due_at``."""
        asleep = SUBJECT.c.due_at.is_(None)
        return insert.on_conflict_do_update(
            index_elements=["key"],
            set_={
                "installation_id": func.coalesce(insert.excluded.installation_id, SUBJECT.c.installation_id),
                "waiting_since": func.coalesce(SUBJECT.c.waiting_since, insert.excluded.waiting_since),
                "due_at": case((asleep, insert.excluded.due_at), else_=due_at),
                "rung_at": case((asleep, null()), else_=SUBJECT.c.rung_at),
                "attempts": case((asleep, 0), else_=SUBJECT.c.attempts),
                "deaths": case((asleep, 0), else_=SUBJECT.c.deaths),
                "error": case((asleep, null()), else_=SUBJECT.c.error),
            },
        )

    def take(self, connection: Connection, key: str, token: str, now: float, until: float) -> Row[Any] | None:
        """Hold a due subject until ``until``; ``None`` when it does not wait, is not due or is held by another."""
        # A lease that ran out under another's name: that one died. Under our own, only the database was away.
        owner, _, _ = token.rpartition(":")
        died = SUBJECT.c.lease_owner.is_not(None) & ~SUBJECT.c.lease_owner.startswith(f"{owner}:", autoescape=True)
        taken = (
            update(SUBJECT)
            .where(SUBJECT.c.key == key, SUBJECT.c.due_at <= now, _free(now))
            .values(lease_owner=token, lease_until=until, deaths=SUBJECT.c.deaths + case((died, 1), else_=0))
            .returning(
                SUBJECT.c.installation_id,
                SUBJECT.c.attempts,
                SUBJECT.c.deaths,
                SUBJECT.c.due_at,
                SUBJECT.c.waiting_since,
                SUBJECT.c.error,
            )
        )
        return connection.execute(taken).one_or_none()

    def hold(self, connection: Connection, key: str, token: str, until: float) -> bool:
        """Hold on to a subject; ``False`` when another took it."""
        held = update(SUBJECT).where(SUBJECT.c.key == key, SUBJECT.c.lease_owner == token).values(lease_until=until)
        return connection.execute(held.returning(SUBJECT.c.key)).one_or_none() is not None

    def put_back(
        self, connection: Connection, key: str, token: str, now: float, due_at: float, error: str, counts: bool
    ) -> bool:
        """Drop the lease and wait until ``due_at``; ``False`` when another took the subject."""
        released = (
            update(SUBJECT)
            .where(SUBJECT.c.key == key, SUBJECT.c.lease_owner == token)
            .values(
                lease_owner=None,
                lease_until=None,
                rung_at=None,
                waiting_since=func.coalesce(SUBJECT.c.waiting_since, now),
                due_at=due_at,
                attempts=SUBJECT.c.attempts + int(counts),
                deaths=0,
                error=error,
            )
        )
        return connection.execute(released.returning(SUBJECT.c.key)).one_or_none() is not None

    def release(
        self,
        connection: Connection,
        row: Row[Any],
        now: float,
        *,
        due_seen: float,
        oldest: float | None,
        error: str | None,
    ) -> None:
        """Drop the lease; clear the wait, or begin a new one for what came since the claim saw ``due_seen``.

        ``oldest`` is when the oldest delivery that still waits for the subject came.
        """
        moved = row.due_at is not None and row.due_at != due_seen
        due_at = row.due_at if moved else now
        since = now if oldest is None else oldest
        waits = moved or oldest is not None
        connection.execute(
            update(SUBJECT)
            .where(SUBJECT.c.key == row.key)
            .values(
                lease_owner=None,
                lease_until=None,
                rung_at=None,
                waiting_since=since if waits else None,
                due_at=due_at if waits else None,
                attempts=0,
                deaths=0,
                error=error,
            )
        )

    def ring(self, connection: Connection, now: float, limit: int, rung_before: float) -> list[str]:
        """Pick what waits, is due, is held by nobody and was not rung since ``rung_before``; it counts as rung now."""
        unrung = or_(SUBJECT.c.rung_at.is_(None), SUBJECT.c.rung_at < rung_before)
        pick = (
            select(SUBJECT.c.key)
            .where(SUBJECT.c.due_at <= now, _free(now), unrung)
            .order_by(SUBJECT.c.due_at)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        ring = (
            update(SUBJECT)
            .where(SUBJECT.c.key.in_(pick.scalar_subquery()))
            .values(rung_at=now)
            .returning(SUBJECT.c.key, SUBJECT.c.due_at)
        )
        rung = connection.execute(ring).all()
        return [row.key for row in sorted(rung, key=lambda row: (row.due_at, row.key))]

    def due_at(self, connection: Connection, key: str) -> float | None:
        """Tell when a subject is due, ``None`` when it does not wait."""
        due_at: float | None = connection.scalar(select(SUBJECT.c.due_at).where(SUBJECT.c.key == key))
        return due_at

    def count(self, connection: Connection) -> int:
        """Count what waits."""
        waiting = select(func.count()).select_from(SUBJECT).where(SUBJECT.c.due_at.is_not(None))
        return int(connection.execute(waiting).scalar_one())

    def troubles(self, connection: Connection, limit: int) -> list[Trouble]:
        """Tell why what was put back still waits, the commonest reason first."""
        query = (
            select(SUBJECT.c.error, func.count(), func.min(SUBJECT.c.waiting_since))
            .where(SUBJECT.c.due_at.is_not(None), SUBJECT.c.error.is_not(None))
            .group_by(SUBJECT.c.error)
            .order_by(func.count().desc(), SUBJECT.c.error)
            .limit(limit)
        )
        return [Trouble(*row) for row in connection.execute(query)]


def waits(row: Row[Any] | None) -> bool:
    """Tell whether a subject, as locked, waits."""
    return row is not None and row.due_at is not None


def _free(now: float) -> ColumnElement[bool]:
    return or_(SUBJECT.c.lease_until.is_(None), SUBJECT.c.lease_until <= now)
