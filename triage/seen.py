"""What can a delivery have told? The closed types that the rooms above pass on.

``None`` is unknown everywhere. Times are the body's own, in seconds since 1970.
"""

from dataclasses import dataclass
from typing import Literal

from triage.bodies import Person

Why = Literal[
    "opened",
    "pushed",
    "edited",
    "said",
    "ready",
    "drafted",
    "closed",
    "reopened",
    "labelled",
    "unlabelled",
    "locked",
    "unlocked",
    "policy",
    "checked",
]


@dataclass(frozen=True, slots=True)
class RepositorySeen:
    """A repository as a body shows it; ``full_name`` is today's address, ``id`` is what it is known by."""

    id: int
    full_name: str
    private: bool
    archived: bool
    default_branch: str | None
    owner: str


@dataclass(frozen=True, slots=True)
class ThreadSeen:
    """A pull request or an issue as a body shows it: each field ``None`` where this body does not tell."""

    kind: Literal["pull", "issue"]
    number: int
    title: str | None = None
    body: str | None = None
    author: Person | None = None
    association: str | None = None
    app_author: str | None = None
    open: bool | None = None
    merged: bool | None = None
    draft: bool | None = None
    locked: bool | None = None
    created_at: float | None = None
    updated_at: float | None = None
    head_ref: str | None = None
    head_sha: str | None = None
    base_ref: str | None = None
    additions: int | None = None
    deletions: int | None = None
    changed_files: int | None = None
    labels: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that one account did. ``actor`` is ``None`` for a deleted account.

    ``key`` is the same however often it is heard: ``comment:ID``, ``review:ID``, ``review_comment:ID``,
    ``pull:REPOSITORY:NUMBER``, ``issue:REPOSITORY:NUMBER``, ``push:REPOSITORY:NUMBER:SHA``, ``checked:SUITE:SECONDS``,
    and for the rest ``KIND:REPOSITORY:NUMBER:SECONDS`` (a label's name between the last two).
    ``kind`` is one of the timeline's, or ``pull_request``, ``issue`` (opened) or ``checked``. ``thread`` groups a
    review comment with its answers, and the endings of one check suite; ``base`` is a pull request's base branch, of a
    ``checked`` the commit. The words of a thread's opening stand in the thread.
    """

    key: str
    kind: str
    at: float
    actor: Person | None = None
    association: str | None = None
    body: str | None = None
    path: str | None = None
    line: int | None = None
    thread: str | None = None
    node: str | None = None
    base: str | None = None


@dataclass(frozen=True, slots=True)
class Checks:
    """How the checks of one App ended on a commit."""

    head_sha: str
    outcome: Literal["success", "failure", "pending"] | None


@dataclass(frozen=True, slots=True)
class Event:
    """A delivery that is ours. ``subject`` is what is to be judged because of it."""

    event: str
    action: str | None
    why: Why
    installation_id: int | None
    repository: RepositorySeen
    sender: Person | None
    subject: str
    thread: ThreadSeen | None = None
    acts: tuple[Act, ...] = ()
    label: str | None = None
    checks: Checks | None = None
    paths: tuple[str, ...] = ()
