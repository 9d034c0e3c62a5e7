"""What is remembered: one class a table.

Instants are seconds since 1970-01-01 UTC (``float``), kinds are text, ids are GitHub's own numbers. Rows are written by
code that has validated: SQLModel does not validate tables.
"""

from typing import Any, Final

from sqlalchemy import JSON, BigInteger, Double, Index, Integer, LargeBinary, UniqueConstraint, text
from sqlmodel import Field, SQLModel

# Constraint names are fixed, so that a migration can name them on both databases.
SQLModel.metadata.naming_convention = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}

# SQLite numbers rows only in an INTEGER primary key.
SERIAL: Final = BigInteger().with_variant(Integer(), "sqlite")


class DeliveryRow(SQLModel, table=True):
    """One delivery that was answered 202. ``outcome`` says what a done one led to, and why a failed one failed."""

    __tablename__ = "delivery"
    __table_args__ = (Index(None, "subject", "state"), Index(None, "state", "received_at"))

    id: int | None = Field(default=None, primary_key=True, sa_type=SERIAL)
    guid: str = Field(unique=True)
    event: str
    action: str | None = None
    installation_id: int | None = Field(default=None, sa_type=BigInteger)
    repository_id: int | None = Field(default=None, sa_type=BigInteger)
    subject: str
    received_at: float = Field(sa_type=Double)
    state: str = "waiting"  # waiting | done | failed
    attempts: int = 0
    outcome: str | None = None
    finished_at: float | None = Field(default=None, sa_type=Double)


class BodyRow(SQLModel, table=True):
    """The raw bytes of one delivery, deleted after the retention time.

    A table of its own, because SQLite writes a whole row anew when its state changes: 25 KB for one word.
    """

    __tablename__ = "delivery_body"

    delivery_id: int = Field(primary_key=True, sa_type=SERIAL, sa_column_kwargs={"autoincrement": False})
    received_at: float = Field(index=True, sa_type=Double)
    body: bytes = Field(sa_type=LargeBinary)


class SubjectRow(SQLModel, table=True):
    """One thing that is judged by one worker at a time: its settle time, its lease, its attempts.

    ``key`` is ``thread:REPOSITORY:NUMBER``, ``person:REPOSITORY:PERSON`` or ``repository:REPOSITORY``. It waits while
    ``due_at`` is set; ``waiting_since`` is when the present wait began. ``deaths`` counts the workers that died on it
    one after the other.
    """

    __tablename__ = "subject"
    __table_args__ = (Index(None, "due_at"),)

    key: str = Field(primary_key=True)
    installation_id: int | None = Field(default=None, sa_type=BigInteger)
    waiting_since: float | None = Field(default=None, sa_type=Double)
    due_at: float | None = Field(default=None, sa_type=Double)
    rung_at: float | None = Field(default=None, sa_type=Double)
    lease_owner: str | None = None
    lease_until: float | None = Field(default=None, sa_type=Double)
    attempts: int = 0
    deaths: int = 0
    error: str | None = None


class RepositoryRow(SQLModel, table=True):
    """A repository that an installation reaches, with its last good policy and what it says to contributors."""

    __tablename__ = "repository"

    id: int = Field(primary_key=True, sa_type=BigInteger)
    installation_id: int = Field(index=True, sa_type=BigInteger)
    full_name: str = Field(index=True)
    private: bool = False
    archived: bool = False
    suspended: bool = False
    policy_text: str | None = None
    policy_source: str | None = None
    policy_error: str | None = None
    policy_read_at: float | None = Field(default=None, sa_type=Double)
    guide: dict[str, Any] | None = Field(default=None, sa_type=JSON)
    guide_read_at: float | None = Field(default=None, sa_type=Double)
    common_lines: list[str] | None = Field(default=None, sa_type=JSON)
    baseline: dict[str, Any] | None = Field(default=None, sa_type=JSON)


class PersonRow(SQLModel, table=True):
    """A GitHub account that acted here. ``history`` holds what one query told of it elsewhere."""

    __tablename__ = "person"

    id: int = Field(primary_key=True, sa_type=BigInteger)
    login: str = Field(index=True)
    type: str | None = None
    created_at: float | None = Field(default=None, sa_type=Double)
    history: list[dict[str, Any]] | None = Field(default=None, sa_type=JSON)
    history_read_at: float | None = Field(default=None, sa_type=Double)


class ThreadRow(SQLModel, table=True):
    """A pull request or an issue, as last known. ``None`` is unknown.

    ``labelled`` maps a label's kind in the policy to the name that *this App* put on; ``kept_off`` lists the kinds that
    a person took off and that are never put back. ``reopened`` says that a person reopened it: hands off.
    """

    __tablename__ = "thread"
    __table_args__ = (Index(None, "open", "repository_id"), Index(None, "repository_id", "head_sha"))

    repository_id: int = Field(primary_key=True, sa_type=BigInteger)
    number: int = Field(primary_key=True)
    installation_id: int = Field(sa_type=BigInteger)
    kind: str = "pull"  # pull | issue
    title: str | None = None
    body: str | None = None
    author_id: int | None = Field(default=None, index=True, sa_type=BigInteger)
    author: str | None = None
    author_type: str | None = None
    association: str | None = None
    app_author: str | None = None
    open: bool = True
    merged: bool | None = None
    draft: bool | None = None
    locked: bool = False
    created_at: float | None = Field(default=None, sa_type=Double)
    updated_at: float | None = Field(default=None, sa_type=Double)
    head_ref: str | None = None
    head_sha: str | None = None
    base_ref: str | None = None
    additions: int | None = None
    deletions: int | None = None
    changed_files: int | None = None
    checks: str | None = None
    labels: list[str] = Field(default_factory=list, sa_type=JSON)
    files: list[dict[str, Any]] | None = Field(default=None, sa_type=JSON)
    commits: list[dict[str, Any]] | None = Field(default=None, sa_type=JSON)
    truncated: bool | None = None
    read_sha: str | None = None
    merged_here: int | None = None
    closed_here: int | None = None
    labelled: dict[str, str] = Field(default_factory=dict, sa_type=JSON)
    kept_off: list[str] = Field(default_factory=list, sa_type=JSON)
    reopened: bool = False
    flips: int = 0
    comment_id: int | None = Field(default=None, sa_type=BigInteger)
    verdict_id: int | None = Field(default=None, sa_type=BigInteger)
    waiting_since: float | None = Field(default=None, sa_type=Double)
    lane: str | None = Field(default=None, index=True)
    quick_win: bool = False


class ActRow(SQLModel, table=True):
    """One thing that one account did at one time: the timeline of a thread and the activity of a person in one table.

    ``key`` is GitHub's identity of it (``comment:123``), so that a redelivery adds nothing. ``body`` is dropped after
    the retention time.
    """

    __tablename__ = "act"
    __table_args__ = (
        UniqueConstraint("key"),
        Index(None, "installation_id", "actor_id", "at"),
        Index(None, "repository_id", "number", "at"),
        Index(
            "ix_act_body_kept",
            "at",
            sqlite_where=text("body IS NOT NULL"),
            postgresql_where=text("body IS NOT NULL"),
        ),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=SERIAL)
    key: str
    installation_id: int = Field(sa_type=BigInteger)
    repository_id: int = Field(sa_type=BigInteger)
    number: int
    kind: str
    at: float = Field(sa_type=Double)
    actor_id: int | None = Field(default=None, sa_type=BigInteger)
    actor: str | None = None
    actor_type: str | None = None
    association: str | None = None
    body: str | None = None
    path: str | None = None
    line: int | None = None
    thread: str | None = None
    node: str | None = None
    base: str | None = None


class VerdictRow(SQLModel, table=True):
    """One verdict, with the readings it was made from: what training may learn from, and nothing later."""

    __tablename__ = "verdict"
    __table_args__ = (
        Index(None, "repository_id", "number", "at"),
        Index(None, "repository_id", "person_id", "at"),
        Index(None, "lane", "at"),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=SERIAL)
    repository_id: int = Field(sa_type=BigInteger)
    number: int | None = None  # of a pull request
    person_id: int | None = Field(default=None, sa_type=BigInteger)  # of a commenter
    at: float = Field(sa_type=Double)
    lane: str
    verdict: dict[str, Any] = Field(sa_type=JSON)
    readings: dict[str, Any] = Field(sa_type=JSON)
    model: str
    policy: str


class ChangeRow(SQLModel, table=True):
    """One outward change that a verdict wants: written before it is made, so that a crash never repeats it blindly."""

    __tablename__ = "change"
    __table_args__ = (Index(None, "repository_id", "number", "state"),)

    id: int | None = Field(default=None, primary_key=True, sa_type=SERIAL)
    repository_id: int = Field(sa_type=BigInteger)
    number: int
    verdict_id: int | None = Field(default=None, sa_type=BigInteger)
    kind: str  # add_label | remove_label | comment | minimize | lock
    target: str  # the label's kind in the policy, the comment's node; empty for the one comment
    detail: str  # the label's name, the comment's text
    state: str = "wanted"  # wanted | made | refused
    wanted_at: float = Field(sa_type=Double)
    made_at: float | None = Field(default=None, sa_type=Double)  # or refused
    error: str | None = None


class CorrectionRow(SQLModel, table=True):
    """A maintainer's word on one thread or person; it outlives verdicts and teaches the model."""

    __tablename__ = "correction"
    __table_args__ = (UniqueConstraint("key"), Index(None, "repository_id", "number"))

    id: int | None = Field(default=None, primary_key=True, sa_type=SERIAL)
    key: str
    repository_id: int = Field(sa_type=BigInteger)
    number: int
    person_id: int | None = Field(default=None, sa_type=BigInteger)
    kind: str  # label_removed | label_added | reopened
    label: str | None = None  # the label's kind in the policy
    by: str | None = None
    at: float = Field(sa_type=Double)
    verdict_id: int | None = Field(default=None, sa_type=BigInteger)
