"""Everything remembered of one pull request or one commenter, laid out as the facts that signals see."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, get_args

from models.recorded.store import Store
from models.recorded.tables import ActRow, PersonRow, RepositoryRow, ThreadRow
from triage.facts import (
    Activity,
    ActivityKind,
    Author,
    ChangedFile,
    Checks,
    Commit,
    Facts,
    PullRequest,
    Repository,
    TimelineEvent,
    TimelineKind,
)
from triage.policy import Policy

LOOKS_BACK: Final = 180 * 86400.0  # seconds of a person's activity: the longest window that a signal asks for

THREADS_READ: Final = 20  # threads whose other events a commenter's timeline holds
EVENTS_READ: Final = 200  # newest events of each of them

_TIMELINE: Final[Mapping[str, TimelineKind]] = {kind: kind for kind in get_args(TimelineKind)}
# An inline comment always comes with its review, which is counted once.
_ACTIVITY: Final[Mapping[str, ActivityKind]] = {
    "pull_request": "pull_request",
    "issue": "issue",
    "comment": "comment",
    "review": "review",
}


def moment(at: float | None) -> datetime | None:
    """Turn seconds since 1970 into a time in UTC."""
    return None if at is None else datetime.fromtimestamp(at, UTC)


def seconds(at: datetime | None) -> float | None:
    """Turn a time into seconds since 1970."""
    return None if at is None else at.timestamp()


def pull_request(store: Store, repository: RepositoryRow, policy: Policy, thread: ThreadRow, *, now: float) -> Facts:
    """Lay out the facts of a pull request as of ``now`` (seconds since 1970)."""
    acts = store.acts_of_thread(thread.repository_id, thread.number)
    person = None if thread.author_id is None else store.person(thread.author_id)
    return Facts(
        as_of=moment(now),
        subject="pull_request",
        repo=repository.full_name,
        number=thread.number,
        author=_author(store, repository, thread, person),
        pull_request=_pull_request(thread),
        timeline=tuple(_timeline(acts, thread.author_id)),
        activity=_activity(store, repository, person, now=now),
        repository=_repository(repository, policy),
    )


def commenter(store: Store, repository: RepositoryRow, policy: Policy, person: PersonRow, *, now: float) -> Facts:
    """Lay out the facts of a person who comments here: their acts in this repository are the timeline."""
    acts = store.acts_of_person(repository.installation_id, person.id, now - LOOKS_BACK)
    here = [act for act in acts if act.repository_id == repository.id]
    timeline = {act.key: act for act in [*_asked(store, repository, here), *here]}
    association = next((act.association for act in reversed(here) if act.association is not None), None)
    author = Author(
        login=person.login,
        type=person.type,
        created_at=moment(person.created_at),
        association=association,
        merged_here=store.merged_by(repository.id, person.id) or None,
        marks=_marks(repository, person.login),
    )
    return Facts(
        as_of=moment(now),
        subject="commenter",
        repo=repository.full_name,
        author=author,
        timeline=tuple(_timeline(sorted(timeline.values(), key=lambda act: (act.at, act.key)), person.id)),
        activity=_activity(store, repository, person, now=now),
        repository=_repository(repository, policy),
    )


def _asked(store: Store, repository: RepositoryRow, here: Sequence[ActRow]) -> Iterable[ActRow]:
    """Return what was said on the threads that a person last acted on: the questions that their answers answer."""
    newest_first = dict.fromkeys(act.number for act in reversed(here))
    for number in list(newest_first)[:THREADS_READ]:
        yield from store.acts_of_thread(repository.id, number, EVENTS_READ)


def checks(thread: ThreadRow, acts: Iterable[ActRow]) -> Checks | None:
    """Return what the checks of a thread's newest commit say together: one failure is a failure; none ran: unknown."""
    latest = {act.thread: act.body for act in acts if act.kind == "checked" and act.base == thread.head_sha}
    said = set(latest.values())
    for outcome in ("failure", "pending", "success"):
        if outcome in said:
            return outcome
    return None


def _author(store: Store, repository: RepositoryRow, thread: ThreadRow, person: PersonRow | None) -> Author:
    merged = thread.merged_here
    if thread.author_id is not None:
        # What was merged in our sight is a lower bound where GitHub did not tell the number.
        seen = store.merged_by(thread.repository_id, thread.author_id)
        merged = max(merged or 0, seen) if merged is not None or seen else None
    return Author(
        login=thread.author,
        type=thread.author_type,
        created_at=moment(person.created_at) if person else None,
        association=thread.association,
        merged_here=merged,
        closed_here=thread.closed_here,
        marks=_marks(repository, thread.author),
    )


def _marks(repository: RepositoryRow, login: str | None) -> tuple[str, ...] | None:
    if repository.guide is None or login is None:
        return None
    vouched = {str(name).lower() for name in repository.guide.get("vouched", ())}
    return ("vouched",) if login.lower() in vouched else ()


def _pull_request(thread: ThreadRow) -> PullRequest:
    return PullRequest(
        title=thread.title,
        body=thread.body,
        created_at=moment(thread.created_at),
        head_ref=thread.head_ref,
        draft=thread.draft,
        additions=thread.additions,
        deletions=thread.deletions,
        changed_files=thread.changed_files,
        checks=thread.checks,  # type: ignore[arg-type]  # written by checks() alone
        files=None if thread.files is None else tuple(ChangedFile(**file) for file in thread.files),
        commits=None if thread.commits is None else tuple(_commit(commit) for commit in thread.commits),
        truncated=thread.truncated,
        app_author=thread.app_author,
    )


def _commit(stored: Mapping[str, Any]) -> Commit:
    return Commit(
        message=stored["message"],
        authored_at=moment(stored["authored_at"]),
        committed_at=moment(stored["committed_at"]),
        author_login=stored["author_login"],
        author_email_domain=stored["author_email_domain"],
        trailers=stored["trailers"],
    )


def commit_to_store(commit: Commit) -> dict[str, Any]:
    """Write a commit as JSON for its thread's row."""
    return {
        "message": commit.message,
        "authored_at": seconds(commit.authored_at),
        "committed_at": seconds(commit.committed_at),
        "author_login": commit.author_login,
        "author_email_domain": commit.author_email_domain,
        "trailers": commit.trailers,
    }


def file_to_store(file: ChangedFile) -> dict[str, Any]:
    """Write a changed file as JSON for its thread's row."""
    return {
        "path": file.path,
        "status": file.status,
        "additions": file.additions,
        "deletions": file.deletions,
        "patch": file.patch,
    }


def activity_to_store(activity: Activity) -> dict[str, Any]:
    """Write one act elsewhere as JSON for its person's row."""
    return {
        "at": activity.at.timestamp(),
        "kind": activity.kind,
        "repo": activity.repo,
        "own_repo": activity.own_repo,
        "number": activity.number,
        "base": activity.base,
    }


def _timeline(acts: Iterable[ActRow], author_id: int | None) -> Iterable[TimelineEvent]:
    for act in acts:
        kind = _TIMELINE.get(act.kind)
        if kind is not None:
            yield TimelineEvent(
                at=datetime.fromtimestamp(act.at, UTC),
                kind=kind,
                actor=act.actor,
                actor_type=act.actor_type,
                is_author=None if act.actor_id is None or author_id is None else act.actor_id == author_id,
                body=act.body,
                path=act.path,
                line=act.line,
                thread=act.thread,
                number=act.number,
            )


def _activity(
    store: Store, repository: RepositoryRow, person: PersonRow | None, *, now: float
) -> tuple[Activity, ...] | None:
    if person is None:
        return None
    names: dict[int, str] = {repository.id: repository.full_name}
    found = [
        Activity(
            at=datetime.fromtimestamp(act.at, UTC),
            kind=_ACTIVITY[act.kind],
            repo=_name(store, names, act.repository_id),
            own_repo=_owns(person.login, _name(store, names, act.repository_id)),
            number=act.number,
            base=act.base,
        )
        for act in store.acts_of_person(repository.installation_id, person.id, now - LOOKS_BACK)
        if act.kind in _ACTIVITY
    ]
    known = {(one.kind, one.repo, one.number) for one in found if one.kind == "pull_request"}
    elsewhere = [_elsewhere(stored) for stored in person.history or ()]
    found += [one for one in elsewhere if (one.kind, one.repo, one.number) not in known]
    return tuple(sorted(found, key=lambda one: (one.at, one.kind, one.repo or "", one.number or 0)))


def _elsewhere(stored: Mapping[str, Any]) -> Activity:
    return Activity(
        at=datetime.fromtimestamp(stored["at"], UTC),
        kind=stored["kind"],
        repo=stored["repo"],
        own_repo=stored["own_repo"],
        number=stored["number"],
        base=stored["base"],
    )


def _name(store: Store, names: dict[int, str], repository_id: int) -> str | None:
    if repository_id not in names:
        row = store.repository(repository_id)
        names[repository_id] = row.full_name if row else ""
    return names[repository_id] or None


def _owns(login: str, full_name: str | None) -> bool | None:
    return None if full_name is None else full_name.partition("/")[0].lower() == login.lower()


def _repository(repository: RepositoryRow, policy: Policy) -> Repository:
    guide = repository.guide
    templates: Sequence[str] | None = None if guide is None else guide.get("templates")
    return Repository(
        templates=None if templates is None else tuple(templates),
        common_lines=None if repository.common_lines is None else tuple(repository.common_lines),
        baseline=None
        if repository.baseline is None
        else {name: (float(pair[0]), float(pair[1])) for name, pair in repository.baseline.items()},
        ai_policy=None if guide is None else guide.get("ai_policy"),
        disclosure_required=policy.disclosure.required,
    )
