"""What happened, to which thread, and is it ours? A delivery's body as one closed type.

An event is only an address and what the body itself tells: nothing is looked up. Times are the body's own, in seconds
since 1970, never the time of arrival, because deliveries come late and out of order. ``None`` is unknown everywhere.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, Literal

from triage.bodies import Body, NotJson, Person, Repository, Said, Thread, read, words
from triage.seen import Act, Checks, Event, RepositorySeen, ThreadSeen, Why

__all__ = [
    "HANDLED",
    "Act",
    "Checks",
    "Event",
    "NotJson",
    "Person",
    "RepositorySeen",
    "ThreadSeen",
    "parse",
    "read",
    "understand",
]

POLICY_PATH: Final = ".github/triage.yml"

_ISSUES: Final[Mapping[str, Why]] = {
    "opened": "opened",
    "labeled": "labelled",
    "unlabeled": "unlabelled",
    "closed": "closed",
    "reopened": "reopened",
}
_PULLS: Final[Mapping[str, Why]] = {
    **_ISSUES,
    "edited": "edited",
    "synchronize": "pushed",
    "ready_for_review": "ready",
    "converted_to_draft": "drafted",
    "locked": "locked",
    "unlocked": "unlocked",
}
_WHY: Final[Mapping[str, Mapping[str, Why]]] = {
    "pull_request": _PULLS,
    "pull_request_review": {"submitted": "said"},
    "pull_request_review_comment": {"created": "said"},
    "issue_comment": {"created": "said"},
    "issues": _ISSUES,
    "check_suite": {"completed": "checked"},
    "push": {},
}

HANDLED: Final[Mapping[str, frozenset[str]]] = {event: frozenset(actions) for event, actions in _WHY.items()}
"""Event -> actions that are ours; a push has no action. ``app.yml`` subscribes to exactly these events."""

# GitHub counts a skipped or neutral run as passed. What waits for a person or was overtaken has not ended.
_OUTCOMES: Final[Mapping[str, Literal["success", "failure", "pending"]]] = {
    "success": "success",
    "neutral": "success",
    "skipped": "success",
    "failure": "failure",
    "timed_out": "failure",
    "startup_failure": "failure",
    "cancelled": "failure",
    "action_required": "pending",
    "stale": "pending",
}


def parse(event: str, body: bytes) -> Event | None:
    """Read a delivery; ``None`` when it is not ours, or when its body lacks what its event needs.

    Raises
    ------
    NotJson
        When the body is not an object of JSON in UTF-8, whatever the event.
    """
    return understand(event, read(body))


def understand(event: str, told: Body) -> Event | None:
    """Tell what a body that was read means; ``None`` like ``parse``."""
    whys = _WHY.get(event)
    if whys is None or told.repository is None:
        return None
    repository = _repository(told.repository)
    if event == "push":
        return _push(told, repository)
    why = whys.get(told.action or "")
    if why is None:
        return None
    return _checked(told, repository) if event == "check_suite" else _on_thread(event, why, told, repository)


# --- what stands in a repository ------------------------------------------------


def _push(told: Body, repository: RepositorySeen) -> Event | None:
    """Keep what may have changed the policy in force; a forced push lists what it adds, not what it drops."""
    if repository.default_branch is None or told.ref != f"refs/heads/{repository.default_branch}":
        return None
    touched = {
        path
        for commit in told.commits or ()
        for paths in (commit.added, commit.modified, commit.removed)
        for path in paths or ()
    }
    if POLICY_PATH not in touched and not told.forced:
        return None
    return Event(
        event="push",
        action=told.action,
        why="policy",
        installation_id=_installation(told),
        repository=repository,
        sender=told.sender,
        subject=f"repository:{repository.id}",
        paths=(POLICY_PATH,),
    )


def _checked(told: Body, repository: RepositorySeen) -> Event | None:
    suite = told.check_suite
    if suite is None:
        return None
    outcome = _OUTCOMES.get(suite.conclusion or "")
    at = _seconds(suite.updated_at)
    acts: tuple[Act, ...] = ()
    if outcome is not None and at is not None:
        key = f"checked:{suite.id}:{at:.0f}"
        acts = (Act(key, "checked", at, told.sender, body=outcome, thread=str(suite.id), base=suite.head_sha),)
    return Event(
        event="check_suite",
        action=told.action,
        why="checked",
        installation_id=_installation(told),
        repository=repository,
        sender=told.sender,
        subject=f"repository:{repository.id}",
        acts=acts,
        checks=Checks(suite.head_sha, outcome),
    )


# --- what stands on a thread ----------------------------------------------------


def _on_thread(event: str, why: Why, told: Body, repository: RepositorySeen) -> Event | None:
    thread = told.issue if event in {"issues", "issue_comment"} else told.pull_request
    said = told.review if event == "pull_request_review" else told.comment
    label = told.label if why in {"labelled", "unlabelled"} else None
    if thread is None or (why == "said" and said is None) or (why.endswith("labelled") and label is None):
        return None
    kind: Literal["pull", "issue"] = "issue" if thread is told.issue and thread.pull_request is None else "pull"
    if why == "said" and said is not None:
        act = _say(event, said)
    elif why == "opened":
        act = _open(kind, repository, thread)
    else:
        act = _do(why, told, repository, thread)
    return Event(
        event=event,
        action=told.action,
        why=why,
        installation_id=_installation(told),
        repository=repository,
        sender=told.sender,
        subject=f"thread:{repository.id}:{thread.number}",
        thread=_thread(kind, thread),
        acts=() if act is None else (act,),
        label=None if label is None else label.name,
    )


def _thread(kind: Literal["pull", "issue"], thread: Thread) -> ThreadSeen:
    app, head = thread.performed_via_github_app, thread.head
    return ThreadSeen(
        kind=kind,
        number=thread.number,
        title=thread.title,
        body=words(thread.body),
        author=thread.user,
        association=thread.author_association,
        app_author=None if app is None else app.slug or app.name,
        open={"open": True, "closed": False}.get(thread.state or ""),
        merged=_merged(thread) if kind == "pull" else None,
        draft=thread.draft,
        locked=thread.locked,
        created_at=_seconds(thread.created_at),
        updated_at=_seconds(thread.updated_at),
        head_ref=None if head is None else head.ref,
        head_sha=None if head is None else head.sha,
        base_ref=None if thread.base is None else thread.base.ref,
        additions=thread.additions,
        deletions=thread.deletions,
        changed_files=thread.changed_files,
        labels=None if thread.labels is None else tuple(label.name for label in thread.labels),
    )


def _merged(thread: Thread) -> bool | None:
    at = thread.merged_at or (thread.pull_request.merged_at if thread.pull_request else None)
    if thread.merged is not None:
        return thread.merged
    if at is not None:
        return True
    return False if thread.state == "open" else None


_SAID: Final[Mapping[str, str]] = {
    "issue_comment": "comment",
    "pull_request_review": "review",
    "pull_request_review_comment": "review_comment",
}


def _say(event: str, said: Said) -> Act | None:
    at = _seconds(said.submitted_at or said.created_at)
    if at is None:
        return None
    kind = _SAID[event]
    return Act(
        key=f"{kind}:{said.id}",
        kind=kind,
        at=at,
        actor=said.user,
        association=said.author_association,
        body=words(said.body),
        path=said.path,
        line=said.line or said.original_line,
        thread=str(said.in_reply_to_id or said.id) if kind == "review_comment" else None,
        node=said.node_id,
    )


_DONE: Final[Mapping[Why, str]] = {
    "pushed": "commit",
    "edited": "edited",
    "ready": "ready_for_review",
    "closed": "closed",
    "reopened": "reopened",
    "labelled": "labeled",
    "unlabelled": "unlabeled",
}


def _do(why: Why, told: Body, repository: RepositorySeen, thread: Thread) -> Act | None:
    """Note what the sender did. Turning to a draft and locking leave no act, only the thread's new state."""
    at = _seconds((thread.closed_at if why == "closed" else None) or thread.updated_at)
    kind = _DONE.get(why)
    if at is None or kind is None:
        return None
    place = f"{repository.id}:{thread.number}"
    body = None
    key = f"{kind}:{place}:{at:.0f}"
    if why == "pushed":
        key = f"push:{place}:{told.after or (thread.head.sha if thread.head else None) or f'{at:.0f}'}"
    elif told.label is not None and why in {"labelled", "unlabelled"}:
        body = told.label.name
        key = f"{kind}:{place}:{body}:{at:.0f}"
    own = told.sender is not None and thread.user is not None and told.sender.id == thread.user.id
    return Act(key, kind, at, told.sender, thread.author_association if own else None, body=body)


def _open(kind: Literal["pull", "issue"], repository: RepositorySeen, thread: Thread) -> Act | None:
    at = _seconds(thread.created_at)
    if at is None:
        return None
    return Act(
        key=f"{kind}:{repository.id}:{thread.number}",
        kind="pull_request" if kind == "pull" else "issue",
        at=at,
        actor=thread.user,
        association=thread.author_association,
        node=thread.node_id,
        base=None if thread.base is None else thread.base.ref,
    )


# --- what every event has -------------------------------------------------------


def _installation(told: Body) -> int | None:
    return None if told.installation is None else told.installation.id


def _repository(seen: Repository) -> RepositorySeen:
    return RepositorySeen(
        id=seen.id,
        full_name=seen.full_name,
        private=bool(seen.private),
        archived=bool(seen.archived),
        default_branch=seen.default_branch,
        owner=seen.full_name.partition("/")[0],
    )


def _seconds(at: datetime | None) -> float | None:
    if at is None:
        return None
    return (at if at.tzinfo is not None else at.replace(tzinfo=UTC)).timestamp()
