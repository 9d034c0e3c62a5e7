"""What a signal may see of a contribution: frozen values, as of a moment.

Mirrors section 5 of the product's contracts. ``None`` means unknown everywhere and is never the same as zero or empty.
Names may be added; none is renamed. Times are aware and in UTC; a time without a zone is read as UTC, an empty one as
unknown.
"""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BeforeValidator, TypeAdapter, ValidationError

Subject = Literal["pull_request", "commenter"]
TimelineKind = Literal[
    "comment",
    "review",
    "review_comment",
    "commit",
    "edited",
    "ready_for_review",
    "closed",
    "reopened",
    "labeled",
    "unlabeled",
]
Checks = Literal["success", "failure", "pending"]
ActivityKind = Literal["pull_request", "comment", "review", "issue", "fork", "branch", "push"]

SCHEMA: Final = 1


class FactsError(ValueError):
    """Facts that cannot be read; the message names the field."""


def _blank_is_unknown(value: object) -> object:
    return None if value in {"", "null"} else value


def _in_utc(value: datetime) -> datetime:
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


Time = Annotated[datetime, AfterValidator(_in_utc)]
MaybeTime = Annotated[Time | None, BeforeValidator(_blank_is_unknown)]
MaybeChecks = Annotated[Checks | None, BeforeValidator(_blank_is_unknown)]


@dataclass(frozen=True, slots=True)
class Author:
    """Who sent it. ``login`` is ``None`` for a deleted account. ``marks`` are reasons to know the person.

    A mark is one of ``maintainer`` (a maintainer's verdict), ``vouched`` (a vouch list), ``signed_key`` (a key seen in
    merged work). ``verified_domain`` is ``academic:example.edu`` or ``work:example.com``, from an aligned DKIM pass.
    """

    login: str | None = None
    type: str | None = None
    created_at: MaybeTime = None
    association: str | None = None
    merged_here: int | None = None
    closed_here: int | None = None
    verified_domain: str | None = None
    marks: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """One file of the diff; ``patch`` is its unified hunks without the file header, ``None`` when it was not sent."""

    path: str
    status: str | None = None
    additions: int | None = None
    deletions: int | None = None
    patch: str | None = None


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit. ``trailers`` maps a trailer's name to its value or values; ``author_login`` may be unknown."""

    message: str | None = None
    authored_at: MaybeTime = None
    committed_at: MaybeTime = None
    author_login: str | None = None
    author_email_domain: str | None = None
    trailers: dict[str, str | tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class PullRequest:
    """The contribution itself. ``truncated``: a cap of the API cut files or commits, conclude no absence."""

    title: str | None = None
    body: str | None = None
    created_at: MaybeTime = None
    head_ref: str | None = None
    draft: bool | None = None
    additions: int | None = None
    deletions: int | None = None
    changed_files: int | None = None
    checks: MaybeChecks = None
    linked_issue_created_at: MaybeTime = None
    files: tuple[ChangedFile, ...] | None = None
    commits: tuple[Commit, ...] | None = None
    truncated: bool | None = None
    app_author: str | None = None


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """One thing that happened on the thread (of a commenter: one thing that the person did in this repository).

    ``path`` and ``line`` place a review comment; ``thread`` groups a review comment with its answers; ``number`` is the
    thread's number where a commenter's events come from several. ``key`` and ``actor_id`` are the forge's identities of
    the event and the actor, for those who store it.
    """

    at: Time
    kind: TimelineKind
    actor: str | None = None
    actor_type: str | None = None
    is_author: bool | None = None
    body: str | None = None
    path: str | None = None
    line: int | None = None
    thread: str | None = None
    number: int | None = None
    key: str | None = None
    actor_id: int | None = None


@dataclass(frozen=True, slots=True)
class Activity:
    """One public act of the person, anywhere this installation sees. ``base`` is a pull request's base branch."""

    at: Time
    kind: ActivityKind
    repo: str | None = None
    own_repo: bool | None = None
    number: int | None = None
    base: str | None = None


@dataclass(frozen=True, slots=True)
class Repository:
    """What the repository brings to every contribution. ``baseline`` maps a signal to (median, 1.4826 x MAD).

    ``ai_policy`` is the repository's own question or rule on AI use, as its template or contribution guide words it.
    ``disclosure_required`` is the policy file's word on it.
    """

    templates: tuple[str, ...] | None = None
    common_lines: tuple[str, ...] | None = None
    baseline: dict[str, tuple[float, float]] | None = None
    ai_policy: str | None = None
    disclosure_required: bool | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything known of one pull request, or of one commenter, as of ``as_of``: no signal reads a clock."""

    as_of: MaybeTime = None
    schema: int = SCHEMA
    subject: Subject = "pull_request"
    repo: str | None = None
    number: int | None = None
    author: Author = field(default_factory=Author)
    pull_request: PullRequest | None = None
    timeline: tuple[TimelineEvent, ...] | None = None
    activity: tuple[Activity, ...] | None = None
    repository: Repository = field(default_factory=Repository)


_FACTS: Final = TypeAdapter(Facts)


def parse(text: str | bytes) -> Facts:
    """Read one JSON object into facts.

    Raises
    ------
    FactsError
        With the field and what is wrong with it; nothing of the text is repeated.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FactsError(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise FactsError("not a JSON object")
    for name in ("author", "repository"):  # null is unknown, like an absent one
        if value.get(name, ...) is None:
            del value[name]
    if value.get("schema", SCHEMA) != SCHEMA:
        raise FactsError(f"schema: this version reads schema {SCHEMA}")
    try:
        return _FACTS.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise FactsError(f"{where}: {first['msg']}") from None


def to_json(facts: Facts) -> str:
    """Write facts as the one line that ``parse`` reads."""
    return _FACTS.dump_json(facts, exclude_none=True).decode()
