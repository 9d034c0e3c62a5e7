"""The first tables."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0001"
down_revision: Final = None
branch_labels: Final = None
depends_on: Final = None

# SQLite numbers rows only in an INTEGER primary key.
SERIAL: Final = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create every table, with its indexes."""
    _act()
    _change()
    _correction()
    _delivery()
    _delivery_body()
    _person()
    _repository()
    _subject()
    _thread()
    _verdict()


def _act() -> None:
    op.create_table(
        "act",
        sa.Column("id", SERIAL, nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("installation_id", sa.BigInteger(), nullable=False),
        sa.Column("repository_id", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("actor_id", sa.BigInteger(), nullable=True),
        sa.Column("actor", sa.String(), nullable=True),
        sa.Column("actor_type", sa.String(), nullable=True),
        sa.Column("association", sa.String(), nullable=True),
        sa.Column("body", sa.String(), nullable=True),
        sa.Column("path", sa.String(), nullable=True),
        sa.Column("line", sa.Integer(), nullable=True),
        sa.Column("thread", sa.String(), nullable=True),
        sa.Column("node", sa.String(), nullable=True),
        sa.Column("base", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_act")),
        sa.UniqueConstraint("key", name=op.f("uq_act_key")),
    )
    op.create_index(
        "ix_act_body_kept",
        "act",
        ["at"],
        sqlite_where=sa.text("body IS NOT NULL"),
        postgresql_where=sa.text("body IS NOT NULL"),
    )
    op.create_index(op.f("ix_act_installation_id_actor_id_at"), "act", ["installation_id", "actor_id", "at"])
    op.create_index(op.f("ix_act_repository_id_number_at"), "act", ["repository_id", "number", "at"])


def _change() -> None:
    op.create_table(
        "change",
        sa.Column("id", SERIAL, nullable=False),
        sa.Column("repository_id", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("verdict_id", sa.BigInteger(), nullable=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("target", sa.String(), nullable=False),
        sa.Column("detail", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("wanted_at", sa.Double(), nullable=False),
        sa.Column("made_at", sa.Double(), nullable=True),
        sa.Column("error", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_change")),
    )
    op.create_index(op.f("ix_change_repository_id_number_state"), "change", ["repository_id", "number", "state"])


def _correction() -> None:
    op.create_table(
        "correction",
        sa.Column("id", SERIAL, nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("repository_id", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.BigInteger(), nullable=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("label", sa.String(), nullable=True),
        sa.Column("by", sa.String(), nullable=True),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("verdict_id", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_correction")),
        sa.UniqueConstraint("key", name=op.f("uq_correction_key")),
    )
    op.create_index(op.f("ix_correction_repository_id_number"), "correction", ["repository_id", "number"])


def _delivery() -> None:
    op.create_table(
        "delivery",
        sa.Column("id", SERIAL, nullable=False),
        sa.Column("guid", sa.String(), nullable=False),
        sa.Column("event", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=True),
        sa.Column("installation_id", sa.BigInteger(), nullable=True),
        sa.Column("repository_id", sa.BigInteger(), nullable=True),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=True),
        sa.Column("finished_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_delivery")),
        sa.UniqueConstraint("guid", name=op.f("uq_delivery_guid")),
    )
    op.create_index(op.f("ix_delivery_state_received_at"), "delivery", ["state", "received_at"])
    op.create_index(op.f("ix_delivery_subject_state"), "delivery", ["subject", "state"])


def _delivery_body() -> None:
    op.create_table(
        "delivery_body",
        sa.Column("delivery_id", SERIAL, autoincrement=False, nullable=False),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("delivery_id", name=op.f("pk_delivery_body")),
    )
    op.create_index(op.f("ix_delivery_body_received_at"), "delivery_body", ["received_at"])


def _person() -> None:
    op.create_table(
        "person",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("login", sa.String(), nullable=False),
        sa.Column("type", sa.String(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=True),
        sa.Column("history", sa.JSON(), nullable=True),
        sa.Column("history_read_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_person")),
    )
    op.create_index(op.f("ix_person_login"), "person", ["login"])


def _repository() -> None:
    op.create_table(
        "repository",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("installation_id", sa.BigInteger(), nullable=False),
        sa.Column("full_name", sa.String(), nullable=False),
        sa.Column("private", sa.Boolean(), nullable=False),
        sa.Column("archived", sa.Boolean(), nullable=False),
        sa.Column("suspended", sa.Boolean(), nullable=False),
        sa.Column("policy_text", sa.String(), nullable=True),
        sa.Column("policy_source", sa.String(), nullable=True),
        sa.Column("policy_error", sa.String(), nullable=True),
        sa.Column("policy_read_at", sa.Double(), nullable=True),
        sa.Column("guide", sa.JSON(), nullable=True),
        sa.Column("guide_read_at", sa.Double(), nullable=True),
        sa.Column("common_lines", sa.JSON(), nullable=True),
        sa.Column("baseline", sa.JSON(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_repository")),
    )
    op.create_index(op.f("ix_repository_full_name"), "repository", ["full_name"])
    op.create_index(op.f("ix_repository_installation_id"), "repository", ["installation_id"])


def _subject() -> None:
    op.create_table(
        "subject",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("installation_id", sa.BigInteger(), nullable=True),
        sa.Column("waiting_since", sa.Double(), nullable=True),
        sa.Column("due_at", sa.Double(), nullable=True),
        sa.Column("rung_at", sa.Double(), nullable=True),
        sa.Column("lease_owner", sa.String(), nullable=True),
        sa.Column("lease_until", sa.Double(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("deaths", sa.Integer(), nullable=False),
        sa.Column("error", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_subject")),
    )
    op.create_index(op.f("ix_subject_due_at"), "subject", ["due_at"])


def _thread() -> None:
    op.create_table(
        "thread",
        sa.Column("repository_id", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("installation_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=True),
        sa.Column("body", sa.String(), nullable=True),
        sa.Column("author_id", sa.BigInteger(), nullable=True),
        sa.Column("author", sa.String(), nullable=True),
        sa.Column("author_type", sa.String(), nullable=True),
        sa.Column("association", sa.String(), nullable=True),
        sa.Column("app_author", sa.String(), nullable=True),
        sa.Column("open", sa.Boolean(), nullable=False),
        sa.Column("merged", sa.Boolean(), nullable=True),
        sa.Column("draft", sa.Boolean(), nullable=True),
        sa.Column("locked", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=True),
        sa.Column("updated_at", sa.Double(), nullable=True),
        sa.Column("head_ref", sa.String(), nullable=True),
        sa.Column("head_sha", sa.String(), nullable=True),
        sa.Column("base_ref", sa.String(), nullable=True),
        sa.Column("additions", sa.Integer(), nullable=True),
        sa.Column("deletions", sa.Integer(), nullable=True),
        sa.Column("changed_files", sa.Integer(), nullable=True),
        sa.Column("checks", sa.String(), nullable=True),
        sa.Column("labels", sa.JSON(), nullable=False),
        sa.Column("files", sa.JSON(), nullable=True),
        sa.Column("commits", sa.JSON(), nullable=True),
        sa.Column("truncated", sa.Boolean(), nullable=True),
        sa.Column("read_sha", sa.String(), nullable=True),
        sa.Column("merged_here", sa.Integer(), nullable=True),
        sa.Column("closed_here", sa.Integer(), nullable=True),
        sa.Column("labelled", sa.JSON(), nullable=False),
        sa.Column("kept_off", sa.JSON(), nullable=False),
        sa.Column("reopened", sa.Boolean(), nullable=False),
        sa.Column("flips", sa.Integer(), nullable=False),
        sa.Column("comment_id", sa.BigInteger(), nullable=True),
        sa.Column("verdict_id", sa.BigInteger(), nullable=True),
        sa.Column("waiting_since", sa.Double(), nullable=True),
        sa.Column("lane", sa.String(), nullable=True),
        sa.Column("quick_win", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("repository_id", "number", name=op.f("pk_thread")),
    )
    op.create_index(op.f("ix_thread_author_id"), "thread", ["author_id"])
    op.create_index(op.f("ix_thread_lane"), "thread", ["lane"])
    op.create_index(op.f("ix_thread_open_repository_id"), "thread", ["open", "repository_id"])
    op.create_index(op.f("ix_thread_repository_id_head_sha"), "thread", ["repository_id", "head_sha"])


def _verdict() -> None:
    op.create_table(
        "verdict",
        sa.Column("id", SERIAL, nullable=False),
        sa.Column("repository_id", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=True),
        sa.Column("person_id", sa.BigInteger(), nullable=True),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("lane", sa.String(), nullable=False),
        sa.Column("verdict", sa.JSON(), nullable=False),
        sa.Column("readings", sa.JSON(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("policy", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_verdict")),
    )
    op.create_index(op.f("ix_verdict_repository_id_number_at"), "verdict", ["repository_id", "number", "at"])
    op.create_index(op.f("ix_verdict_repository_id_person_id_at"), "verdict", ["repository_id", "person_id", "at"])
    op.create_index(op.f("ix_verdict_lane_at"), "verdict", ["lane", "at"])
