"""Issues and pull requests of the stand-in's world, with everything that hangs on them."""

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, ConfigDict

LONG_AGO: Final = datetime(2015, 1, 1, tzinfo=UTC)


def _in_utc(value: datetime) -> datetime:
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


Time = Annotated[datetime, AfterValidator(_in_utc)]


def sha(*parts: object) -> str:
    """Make a commit's or blob's id from what it stands for: 40 hexadecimal digits."""
    return hashlib.sha1("\0".join(map(str, parts)).encode(), usedforsecurity=False).hexdigest()


class Seeded:
    """Refuses keys that a seed misspells."""

    __slots__ = ()
    __pydantic_config__ = ConfigDict(extra="forbid")


@dataclass(slots=True)
class File(Seeded):
    """One file of a diff; ``patch`` is its hunks, ``None`` for a binary or too large one."""

    path: str
    status: str = "modified"
    additions: int = 0
    deletions: int = 0
    patch: str | None = None
    previous: str | None = None


@dataclass(slots=True)
class Commit(Seeded):
    """One commit; ``author`` is the login that GitHub matched to the e-mail address, or ``None``."""

    message: str = "Change"
    authored_at: Time = LONG_AGO
    committed_at: Time | None = None
    author: str | None = None
    name: str = "Somebody"
    email: str = "somebody@users.noreply.github.com"
    sha: str = ""


@dataclass(slots=True)
class Comment(Seeded):
    """A comment on a thread; ``author`` is ``None`` for a deleted account."""

    author: str | None
    body: str
    created_at: Time
    id: int = 0
    updated_at: Time | None = None
    association: str | None = None
    by_app: bool = False
    minimized: str | None = None


@dataclass(slots=True)
class Review(Seeded):
    """A review; ``state`` as GitHub writes it: ``APPROVED``, ``CHANGES_REQUESTED``, ``COMMENTED``."""

    author: str | None
    submitted_at: Time
    body: str = ""
    state: str = "COMMENTED"
    id: int = 0


@dataclass(slots=True)
class ReviewComment(Seeded):
    """A comment on a line of the diff; ``in_reply_to`` is the id of the first comment of its thread."""

    author: str | None
    body: str
    created_at: Time
    path: str
    line: int | None = 1
    diff_hunk: str = "@@ -1 +1 @@"
    in_reply_to: int | None = None
    review: int | None = None
    id: int = 0


@dataclass(slots=True)
class Event(Seeded):
    """What the timeline shows beside comments, reviews and commits: ``labeled``, ``closed``, ``renamed`` and so on."""

    event: str
    actor: str | None
    at: Time
    label: str | None = None
    by_app: bool = False
    id: int = 0
    was: str | None = None


@dataclass(slots=True)
class Pull(Seeded):
    """What makes a thread a pull request. ``head_repo`` is ``None`` when the fork was deleted.

    ``tree`` holds the files of the head that differ from the default branch: what a read at ``head_sha`` finds.
    """

    head_ref: str = "change"
    head_sha: str = ""
    head_repo: str | None = ""
    base_ref: str = "main"
    draft: bool = False
    merged_at: Time | None = None
    merged_by: str | None = None
    files: list[File] = field(default_factory=list)
    tree: dict[str, str] = field(default_factory=dict)
    commits: list[Commit] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)
    review_comments: list[ReviewComment] = field(default_factory=list)


@dataclass(slots=True)
class Thread(Seeded):
    """An issue, or with ``pull`` a pull request. ``association`` of ``None`` is derived from roles and merged work."""

    number: int
    author: str | None
    created_at: Time
    title: str = "A change"
    body: str | None = None
    id: int = 0
    state: Literal["open", "closed"] = "open"
    association: str | None = None
    updated_at: Time | None = None
    closed_at: Time | None = None
    locked: bool = False
    by_app: bool = False
    labels: list[str] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    pull: Pull | None = None
