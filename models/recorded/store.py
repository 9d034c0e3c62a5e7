"""What is remembered of repositories, people, threads, acts, verdicts, changes and corrections?

Every call is one transaction; inside ``Database.write`` several calls are one together. Rows come back detached: change
and save them. Instants are seconds. What is already so is not written again. What is seen of repositories, people,
threads and acts does not wait for the disk: it would be seen again, as long as its delivery is not finished.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, Final, TypeVar

from sqlalchemy import Insert, Table, func, or_, update
from sqlmodel import Session, SQLModel, col, select

from models.recorded.database import Database, DatabaseError
from models.recorded.tables import (
    ActRow,
    ChangeRow,
    CorrectionRow,
    PersonRow,
    RepositoryRow,
    ThreadRow,
    VerdictRow,
)

SUPERSEDED: Final = "superseded"
INTERRUPTED: Final = "interrupted"
UNASKED: Final = frozenset({SUPERSEDED, INTERRUPTED})  # why a change was ended that the forge never refused
# What only this program knows of a thread: no delivery tells it again.
OURS: Final = ("labelled", "kept_off", "comment_id", "reopened")
BATCH: Final = 500
LIMIT: Final = 2000

R = TypeVar("R", bound=SQLModel)


class Store:
    """The memory of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._upsert = cache(self._write_upsert)  # of forty columns: longer in the writing than in the running

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read everything inside the block, in this thread, as of one moment; nothing may be written in it."""
        with self._database.read():
            yield

    # --- repositories -------------------------------------------------------

    def see_repository(
        self, repository_id: int, installation_id: int, full_name: str, private: bool, archived: bool
    ) -> RepositoryRow:
        """Remember a repository under its present name and return what is known of it."""
        seen: dict[str, Any] = {
            "installation_id": installation_id,
            "full_name": full_name,
            "private": private,
            "archived": archived,
        }
        row = RepositoryRow(id=repository_id, **seen)
        return self._see(RepositoryRow, row, seen)

    def repository(self, repository_id: int) -> RepositoryRow | None:
        """Return a repository."""
        with self._database.read() as session:
            return session.get(RepositoryRow, repository_id)

    def repositories(self) -> list[RepositoryRow]:
        """Return every repository, by name."""
        with self._database.read() as session:
            return list(session.exec(select(RepositoryRow).order_by(RepositoryRow.full_name)))

    def set_policy(self, repository_id: int, **fields: str | float | None) -> None:
        """Set columns of a repository, such as ``policy_text``, ``policy_source``, ``policy_error``."""
        self._set(RepositoryRow, repository_id, fields)

    def set_guide(self, repository_id: int, guide: Mapping[str, Any] | None, read_at: float) -> None:
        """Set what a repository says to contributors, as read at ``read_at``."""
        self._set(RepositoryRow, repository_id, {"guide": guide, "guide_read_at": read_at})

    # --- people -------------------------------------------------------------

    def see_person(self, person_id: int, login: str, type: str | None) -> PersonRow:  # noqa: A002  (GitHub's word)
        """Remember an account under its present login and return what is known of it."""
        seen = {"login": login, "type": type}
        return self._see(PersonRow, PersonRow(id=person_id, login=login, type=type), seen)

    def person(self, person_id: int) -> PersonRow | None:
        """Return an account."""
        with self._database.read() as session:
            return session.get(PersonRow, person_id)

    def set_history(
        self, person_id: int, created_at: float | None, history: Sequence[Mapping[str, Any]] | None, read_at: float
    ) -> None:
        """Set what one query told of an account, at ``read_at``."""
        values = {
            "created_at": created_at,
            "history": None if history is None else [dict(one) for one in history],
            "history_read_at": read_at,
        }
        self._set(PersonRow, person_id, values)

    # --- threads ------------------------------------------------------------

    def thread(self, repository_id: int, number: int) -> ThreadRow | None:
        """Return a pull request or an issue."""
        with self._database.read() as session:
            return session.get(ThreadRow, (repository_id, number))

    def save_thread(self, row: ThreadRow) -> None:
        """Store the whole row of a thread, new or known."""
        values = _values(row)
        known = self.thread(row.repository_id, row.number)
        before = {} if known is None else _values(known)
        if before != values:
            ours = any((before.get(name) or None) != (values[name] or None) for name in OURS)
            with self._database.write(durable=ours) as session:
                self._save(session, _table(ThreadRow), values)

    def threads_by_sha(self, repository_id: int, sha: str) -> list[ThreadRow]:
        """Return the threads whose head is a commit."""
        query = select(ThreadRow).where(ThreadRow.repository_id == repository_id, ThreadRow.head_sha == sha)
        with self._database.read() as session:
            return list(session.exec(query.order_by(col(ThreadRow.number))))

    def threads(self, *, open_only: bool = True, repository_id: int | None = None) -> list[ThreadRow]:
        """Return the threads of one or of every repository, by repository and number."""
        query = select(ThreadRow).order_by(col(ThreadRow.repository_id), col(ThreadRow.number))
        if open_only:
            query = query.where(col(ThreadRow.open).is_(True))
        if repository_id is not None:
            query = query.where(ThreadRow.repository_id == repository_id)
        with self._database.read() as session:
            return list(session.exec(query))

    def merged_by(self, repository_id: int, author_id: int) -> int:
        """Count the merged pull requests of an account that were seen in a repository."""
        query = select(func.count()).where(
            ThreadRow.author_id == author_id,
            ThreadRow.repository_id == repository_id,
            ThreadRow.kind == "pull",
            col(ThreadRow.merged).is_(True),
        )
        with self._database.read() as session:
            return session.exec(query).one()

    # --- acts ---------------------------------------------------------------

    def add_acts(self, rows: Sequence[ActRow]) -> int:
        """Store acts whose keys are not known yet; return how many were new."""
        values = [_values(row, without="id") for row in {row.key: row for row in rows}.values()]
        if not values:
            return 0
        table = _table(ActRow)
        insert = self._database.insert(table).on_conflict_do_nothing(index_elements=["key"]).returning(table.c.id)
        with self._database.write(durable=False) as session:
            # In order of key: two processes that add the same acts wait for each other, never both.
            return len(session.connection().execute(insert, sorted(values, key=lambda one: str(one["key"]))).all())

    def acts_of_thread(self, repository_id: int, number: int, limit: int = LIMIT) -> list[ActRow]:
        """Return the newest ``limit`` acts on a thread, oldest first."""
        query = select(ActRow).where(ActRow.repository_id == repository_id, ActRow.number == number)
        return self._newest(query, limit)

    def acts_of_person(self, installation_id: int, actor_id: int, since: float, limit: int = LIMIT) -> list[ActRow]:
        """Return the newest ``limit`` acts of an account since ``since`` in all that an installation sees."""
        query = select(ActRow).where(
            ActRow.installation_id == installation_id, ActRow.actor_id == actor_id, ActRow.at >= since
        )
        return self._newest(query, limit)

    def count_acts(
        self, installation_id: int, actor_id: int, since: float, until: float, kinds: Collection[str]
    ) -> int:
        """Count an account's acts of some kinds from ``since`` to ``until``, both included."""
        query = select(func.count()).where(
            ActRow.installation_id == installation_id,
            ActRow.actor_id == actor_id,
            ActRow.at >= since,
            ActRow.at <= until,
            col(ActRow.kind).in_(sorted(kinds)),
        )
        with self._database.read() as session:
            return session.exec(query).one()

    def drop_act_bodies(self, before: float) -> int:
        """Drop the text of acts before ``before``; return how many."""
        table = _table(ActRow)
        pick = select(table.c.id).where(table.c.body.is_not(None), table.c.at < before).limit(BATCH)
        drop = update(table).where(table.c.id.in_(pick.scalar_subquery())).values(body=None).returning(table.c.id)
        total = 0
        while True:
            with self._database.write() as session:
                dropped = len(session.connection().execute(drop).all())
            total += dropped
            if dropped < BATCH:
                return total

    # --- verdicts and changes -----------------------------------------------

    def record(self, verdict: VerdictRow, changes: Sequence[ChangeRow], thread: ThreadRow | None) -> int:
        """Store a verdict, the changes that it wants and its thread in one transaction; return the verdict's id.

        The thread gets the verdict's id.
        A change that is wanted already stays as it is; one that the thread's new verdict no longer wants is refused as
        superseded.
        """
        with self._database.write(durable=bool(changes)) as session:
            table = _table(VerdictRow)
            stored = table.insert().values(_values(verdict, without="id")).returning(table.c.id)
            verdict_id = int(session.connection().execute(stored).scalar_one())
            own = (verdict.repository_id, verdict.number)
            wanted = {_change(row): row for row in self._wanted(session, changes, own)}
            asked = {_change(row): row for row in changes}
            old = [row.id for key, row in wanted.items() if key not in asked and key[:2] == own]
            new = [
                {**_values(row, without="id"), "verdict_id": verdict_id, "state": "wanted"}
                for key, row in asked.items()
                if key not in wanted
            ]
            change = _table(ChangeRow)
            if old:
                end = {"state": "refused", "error": SUPERSEDED, "made_at": verdict.at}
                session.connection().execute(update(change).where(change.c.id.in_(old)).values(end))
            if new:
                session.connection().execute(change.insert(), new)
            if thread is not None:
                thread.verdict_id = verdict_id
                self._save(session, _table(ThreadRow), _values(thread))
        return verdict_id

    def last_verdict(
        self, repository_id: int, number: int | None = None, person_id: int | None = None
    ) -> VerdictRow | None:
        """Return the newest verdict on a pull request, or on a commenter."""
        query = select(VerdictRow).where(VerdictRow.repository_id == repository_id)
        if number is not None:
            query = query.where(VerdictRow.number == number)
        if person_id is not None:
            query = query.where(VerdictRow.person_id == person_id)
        with self._database.read() as session:
            return session.exec(query.order_by(col(VerdictRow.at).desc(), col(VerdictRow.id).desc()).limit(1)).first()

    def floods(self, since: float, limit: int = 200) -> list[VerdictRow]:
        """Return the newest verdict on each commenter who flooded a repository since then, newest first."""
        query = (
            select(VerdictRow)
            .where(VerdictRow.lane == "burst", VerdictRow.at >= since, col(VerdictRow.person_id).is_not(None))
            .order_by(col(VerdictRow.at).desc(), col(VerdictRow.id).desc())
            .limit(limit)
        )
        newest: dict[tuple[int, int | None], VerdictRow] = {}
        with self._database.read() as session:
            for row in session.exec(query):
                newest.setdefault((row.repository_id, row.person_id), row)
        return list(newest.values())

    def verdicts(self, ids: Sequence[int]) -> dict[int, VerdictRow]:
        """Return verdicts by id."""
        found: dict[int, VerdictRow] = {}
        with self._database.read() as session:
            for part in range(0, len(ids), LIMIT):
                query = select(VerdictRow).where(col(VerdictRow.id).in_(ids[part : part + LIMIT]))
                found |= {row.id: row for row in session.exec(query) if row.id is not None}
        return found

    def want(self, changes: Sequence[ChangeRow], thread: ThreadRow) -> None:
        """Store changes that no verdict stands behind (a flood reached an issue), with their thread."""
        with self._database.write() as session:
            known = {_change(row) for row in self._wanted(session, changes, (thread.repository_id, thread.number))}
            new = [_values(row, without="id") for row in changes if _change(row) not in known]
            if new:
                session.connection().execute(_table(ChangeRow).insert(), new)
            self._save(session, _table(ThreadRow), _values(thread))

    def wanted(self, repository_id: int, number: int) -> list[ChangeRow]:
        """Return the changes that a thread still wants, in the order in which they were wanted."""
        with self._database.read() as session:
            return self._wanted(session, (), (repository_id, number))

    def changes(self, repository_id: int, number: int) -> list[ChangeRow]:
        """Return every change that was ever wanted of a thread, in the order in which they were wanted."""
        query = select(ChangeRow).where(ChangeRow.repository_id == repository_id, ChangeRow.number == number)
        with self._database.read() as session:
            return list(session.exec(query.order_by(col(ChangeRow.id))))

    def refusals(self, since: float) -> list[tuple[int, str, int]]:
        """Count what the forge refused since ``since``: (repository, why, how often), by repository and reason."""
        why = col(ChangeRow.error)
        query = (
            select(ChangeRow.repository_id, why, func.count())
            .where(ChangeRow.state == "refused", col(ChangeRow.made_at) >= since, why.not_in(sorted(UNASKED)))
            .group_by(col(ChangeRow.repository_id), why)
            .order_by(col(ChangeRow.repository_id), why)
        )
        with self._database.read() as session:
            return [(repository, str(error), count) for repository, error, count in session.exec(query)]

    def made(self, change_id: int, at: float) -> None:
        """Mark a change as made."""
        self._set(ChangeRow, change_id, {"state": "made", "made_at": at, "error": None})

    def refused(self, change_id: int, error: str, at: float) -> None:
        """Mark a change as refused, and why."""
        self._set(ChangeRow, change_id, {"state": "refused", "made_at": at, "error": error})

    def _wanted(self, session: Session, changes: Iterable[ChangeRow], own: tuple[int, int | None]) -> list[ChangeRow]:
        places = {(row.repository_id, row.number) for row in changes}
        if own[1] is not None:
            places.add((own[0], own[1]))
        if not places:
            return []
        somewhere = or_(
            *(
                (col(ChangeRow.repository_id) == repository) & (col(ChangeRow.number) == number)
                for repository, number in sorted(places)
            )
        )
        query = select(ChangeRow).where(somewhere, ChangeRow.state == "wanted").order_by(col(ChangeRow.id))
        return list(session.exec(query))

    # --- corrections --------------------------------------------------------

    def add_correction(self, row: CorrectionRow) -> bool:
        """Store a maintainer's word; ``False`` when its key is known."""
        table = _table(CorrectionRow)
        insert = self._database.insert(table).on_conflict_do_nothing(index_elements=["key"]).returning(table.c.id)
        with self._database.write() as session:
            return session.connection().execute(insert, _values(row, without="id")).one_or_none() is not None

    def corrections(self, repository_id: int, number: int) -> list[CorrectionRow]:
        """Return what maintainers said of a thread, oldest first."""
        query = select(CorrectionRow).where(
            CorrectionRow.repository_id == repository_id, CorrectionRow.number == number
        )
        with self._database.read() as session:
            return list(session.exec(query.order_by(col(CorrectionRow.at), col(CorrectionRow.id))))

    # --- rows and values ----------------------------------------------------

    def _see(self, kind: type[R], row: R, seen: Mapping[str, Any]) -> R:
        """Insert a row or bring its ``seen`` columns up to date, and return it as stored."""
        values = {name: _clean(value) for name, value in seen.items()}
        key = _values(row)["id"]
        with self._database.read() as session:
            known = session.get(kind, key)
        if known is not None and all(getattr(known, name) == value for name, value in values.items()):
            return known
        table = _table(kind)
        insert = self._database.insert(table).on_conflict_do_update(index_elements=["id"], set_=values)
        with self._database.write(durable=False) as session:
            session.connection().execute(insert, _values(row))
            return session.get_one(kind, key, populate_existing=True)

    def _save(self, session: Session, table: Table, values: Mapping[str, Any]) -> None:
        session.connection().execute(self._upsert(table), dict(values))

    def _write_upsert(self, table: Table) -> Insert:
        insert = self._database.insert(table)
        keys = [column.name for column in table.primary_key]
        changed = {column.name: column for column in insert.excluded if column.name not in keys}
        return insert.on_conflict_do_update(index_elements=keys, set_=changed)

    def _set(self, kind: type[SQLModel], key: int, fields: Mapping[str, Any]) -> None:
        table = _table(kind)
        values = {name: _clean(value) for name, value in fields.items()}
        unknown = values.keys() - {column.name for column in table.c}
        if unknown:
            raise DatabaseError(f"{table.name} has no column {', '.join(sorted(unknown))}")
        with self._database.write() as session:
            statement = update(table).where(table.c.id == key).values(values).returning(table.c.id)
            if session.connection().execute(statement).one_or_none() is None:
                raise DatabaseError(f"{table.name} {key}: no such row")

    def _newest(self, query: Any, limit: int) -> list[ActRow]:
        newest = query.order_by(col(ActRow.at).desc(), col(ActRow.id).desc()).limit(limit)
        with self._database.read() as session:
            return list(session.exec(newest))[::-1]


def _table(kind: type[SQLModel]) -> Table:
    return SQLModel.metadata.tables[str(kind.__tablename__)]


def _change(row: ChangeRow) -> tuple[int, int, str, str, str]:
    return row.repository_id, row.number, row.kind, row.target, str(_clean(row.detail))


def _values(row: SQLModel, *, without: str | None = None) -> dict[str, Any]:
    """Return a row's columns, with text that both databases take."""
    return {column.name: _clean(getattr(row, column.name)) for column in _table(type(row)).c if column.name != without}


def _clean(value: Any) -> Any:
    """Replace what strangers can send but a database cannot hold: NUL and halves of UTF-16 pairs."""
    if not isinstance(value, str):
        return value  # JSON escapes both by itself
    if value.isascii() and "\0" not in value:
        return value
    return value.encode("utf-8", "replace").decode("utf-8").replace("\0", "\N{REPLACEMENT CHARACTER}")
