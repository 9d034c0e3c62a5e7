"""What the product asks of a forge, and the ways in which a forge can refuse.

Every method is synchronous, may block for seconds and is called from worker threads only. What cannot be read is
``None``. Requests are counted by ``kind`` (the method's name) by whoever implements the port.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from triage.facts import Activity, ChangedFile, Commit, TimelineEvent


class ForgeError(Exception):
    """The forge did not do what was asked; the message holds no secret and no body."""


class Unavailable(ForgeError):
    """Down, slow, broken or over a limit: ask again, after ``retry_after`` seconds where the forge says so."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Forbidden(ForgeError):
    """The installation may not do this (a missing permission): asking again changes nothing."""


class ReadOnly(Forbidden):
    """The thread is locked or the repository archived: nothing can be written there."""


class Suspended(Forbidden):
    """The installation is suspended or gone: nothing can be read or written until it is back."""


class Gone(ForgeError):
    """The repository, thread or label does not exist (any more)."""


class Refused(ForgeError):
    """The forge understood and does not accept it (a hundred labels, a file too big): the message can be shown."""


@dataclass(frozen=True, slots=True)
class RepositoryRef:
    """A repository as this installation reaches it: keyed by ``id``; ``full_name`` is today's address."""

    installation_id: int
    id: int
    full_name: str


@dataclass(frozen=True, slots=True)
class ReadAuthor:
    """What one query on the author tells. ``activity`` holds the author's last pull requests anywhere, newest last."""

    created_at: datetime | None
    merged_here: int | None
    closed_here: int | None
    activity: tuple[Activity, ...] | None


@dataclass(frozen=True, slots=True)
class Changes:
    """The diff and the commits of a pull request. ``truncated``: a cap cut them, conclude no absence."""

    files: tuple[ChangedFile, ...] | None
    commits: tuple[Commit, ...] | None
    truncated: bool


@dataclass(frozen=True, slots=True)
class Opening:
    """Everything read once, when a pull request is first seen: at most four requests up to a hundred files."""

    changes: Changes
    timeline: tuple[TimelineEvent, ...] | None
    author: ReadAuthor | None


@dataclass(frozen=True, slots=True)
class Present:
    """The state of a thread now, re-read before acting."""

    labels: frozenset[str]
    open: bool
    locked: bool
    draft: bool | None


@dataclass(frozen=True, slots=True)
class Guide:
    """What a repository says to contributors: pull request templates, contribution guide, vouch list.

    ``vouched`` holds logins in lower case.
    """

    templates: tuple[str, ...]
    ai_policy: str | None
    vouched: frozenset[str]


class Forge(Protocol):
    """A forge. Errors: the classes above, nothing else."""

    def opening(self, repository: RepositoryRef, number: int, author: str | None) -> Opening:
        """Read files, commits, timeline and author; each part that cannot be read is ``None``."""

    def changes(self, repository: RepositoryRef, number: int) -> Changes:
        """Read files and commits again, after a push."""

    def present(self, repository: RepositoryRef, number: int) -> Present:
        """Read the labels and the state of a pull request or issue: one request."""

    def text(self, repository: RepositoryRef, path: str, ref: str | None = None) -> str | None:
        """Read a file of the default branch, or as of a commit; ``None`` when there is none."""

    def organisation_text(self, repository: RepositoryRef, path: str) -> str | None:
        """Read a file of the owner's ``.github`` repository; ``None`` when there is none or it is out of reach."""

    def guide(self, repository: RepositoryRef) -> Guide:
        """Read what the repository says to contributors."""

    def add_label(self, repository: RepositoryRef, number: int, name: str, colour: str, description: str) -> str:
        """Put a label on, creating it when the repository has none of that name in any case; returns its true name."""

    def remove_label(self, repository: RepositoryRef, number: int, name: str) -> None:
        """Take a label off; an absent one is no error."""

    def own_comment(self, repository: RepositoryRef, number: int, marker: str) -> int | None:
        """Find the comment that carries ``marker`` and was written by this very App or token."""

    def post_comment(self, repository: RepositoryRef, number: int, body: str) -> int:
        """Post a comment and return its id."""

    def edit_comment(self, repository: RepositoryRef, comment: int, body: str) -> None:
        """Replace the body of an own comment."""

    def minimize_comment(self, repository: RepositoryRef, node: str) -> None:
        """Collapse a comment as off-topic; reversible by any maintainer."""

    def lock(self, repository: RepositoryRef, number: int) -> None:
        """Lock a thread; reversible by any maintainer."""

    def check_run(self, repository: RepositoryRef, sha: str, *, name: str, ok: bool, title: str, summary: str) -> None:
        """Report on a commit."""

    def role(self, repository: RepositoryRef, login: str) -> str | None:
        """Tell a person's role name on the repository (``admin`` ... ``read``), ``None`` when unknown."""


def is_maintainer(role: str | None) -> bool:
    """Tell whether a role may triage."""
    return role in MAINTAINER_ROLES


MAINTAINER_ROLES: Sequence[str] = ("admin", "maintain", "write", "triage")
