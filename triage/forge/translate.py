"""What GitHub's JSON says, as facts: pure functions that believe no field to be there.

A field that is absent, null or of another type is unknown. A deleted account (``user: null``) is nobody.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, get_args

from triage.facts import Activity, ChangedFile, Commit, TimelineEvent, TimelineKind
from triage.forge.port import Present, ReadAuthor, RepositoryRef

# Patch text kept of one pull request, in UTF-8 bytes: past it a diff is generated code, and only truncates.
MAX_PATCH_BYTES: Final = 1_000_000

_KINDS: Final[Mapping[str, TimelineKind]] = {
    "commented": "comment",
    "reviewed": "review",
    "committed": "commit",
    "renamed": "edited",
    **{kind: kind for kind in get_args(TimelineKind) if kind not in {"comment", "review", "review_comment", "commit"}},
}
_TRAILER: Final = re.compile(r"([A-Za-z][A-Za-z0-9-]{1,60}):[ \t]+(\S.*)")
_ROLES: Final = frozenset({"admin", "maintain", "write", "triage", "read", "none"})


def time(value: object) -> datetime | None:
    """Read an instant of the API (ISO 8601); one without a zone is UTC."""
    if not isinstance(value, str):
        return None
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        return None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def text(value: object) -> str | None:
    """Read a string."""
    return value if isinstance(value, str) else None


def number(value: object) -> int | None:
    """Read a whole number; a boolean is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def part(value: object, *names: str) -> Mapping[str, Any]:
    """Descend into nested objects; an absent or null one is empty."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def objects(value: object) -> list[Mapping[str, Any]]:
    """Keep the objects of a list; anything else is empty."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def files(items: Iterable[Mapping[str, Any]]) -> tuple[tuple[ChangedFile, ...], bool]:
    """Translate the files of a pull request, and tell whether patch text had to be left out for its size."""
    left = MAX_PATCH_BYTES
    cut = False
    found = []
    for item in items:
        path = text(item.get("filename"))
        if path is None:
            continue
        patch = text(item.get("patch"))
        if patch is not None:
            size = len(patch.encode(errors="replace"))
            if size > left:
                patch, cut = None, True
            else:
                left -= size
        status = text(item.get("status"))
        found.append(
            ChangedFile(path, status, number(item.get("additions")), number(item.get("deletions")), patch),
        )
    return tuple(found), cut


def commits(items: Iterable[Mapping[str, Any]]) -> tuple[Commit, ...]:
    """Translate the commits of a pull request."""
    return tuple(_commit(item) for item in items)


def trailers(message: str | None) -> dict[str, str | tuple[str, ...]] | None:
    """Read the trailers of a commit message: the ``Name: value`` lines of its last paragraph, the subject aside."""
    if message is None:
        return None
    paragraphs = [one for one in re.split(r"\n[ \t]*\n", message.replace("\r\n", "\n").strip()) if one.strip()]
    found: dict[str, list[str]] = {}
    for line in paragraphs[-1].splitlines() if len(paragraphs) > 1 else ():
        if match := _TRAILER.fullmatch(line.strip()):
            found.setdefault(match[1], []).append(match[2])
    return {name: values[0] if len(values) == 1 else tuple(values) for name, values in found.items()}


def timeline(items: Iterable[Mapping[str, Any]], author: str | None) -> tuple[TimelineEvent, ...]:
    """Translate a thread's timeline, oldest first; kinds that no signal reads are left out."""
    found: list[TimelineEvent] = []
    for item in items:
        name = item.get("event")
        if name == "line-commented":
            remarks = [_remark(one, author) for one in objects(item.get("comments"))]
            found.extend(one for one in remarks if one is not None)
        elif isinstance(name, str) and (kind := _KINDS.get(name)) is not None:
            event = _event(item, kind, author)
            if event is not None:
                found.append(event)
    return tuple(sorted(found, key=lambda event: event.at))


def author(data: object, login: str, repository: RepositoryRef) -> ReadAuthor | None:
    """Translate the answer to the query on the author; ``None`` when it tells nothing of that account.

    The counts in this repository come from the listed pull requests when these are all there are, else from the search,
    and only when the answer shows that it searched this very repository.
    """
    user = part(data, "user")
    if not user:
        return None
    pulls = user.get("pullRequests")
    nodes = objects(part(pulls).get("nodes")) if isinstance(pulls, dict) else None
    merged, closed = _counts_listed(pulls, nodes, repository)
    here = part(data, "here")
    if here.get("databaseId") == repository.id and _same(here.get("nameWithOwner"), repository.full_name):
        merged = number(part(data, "merged").get("issueCount")) if merged is None else merged
        closed = number(part(data, "closed").get("issueCount")) if closed is None else closed
    activity = None if nodes is None else _activity(nodes, login)
    return ReadAuthor(time(user.get("createdAt")), merged, closed, activity)


def present(item: Mapping[str, Any]) -> Present:
    """Translate an issue or pull request into the state that actions reconcile against."""
    labels = item.get("labels")
    names = [one.get("name") if isinstance(one, dict) else one for one in labels] if isinstance(labels, list) else []
    draft = item.get("draft")
    return Present(
        labels=frozenset(name for name in names if isinstance(name, str)),
        open=item.get("state") == "open",
        locked=item.get("locked") is True,
        draft=draft if isinstance(draft, bool) else None,
    )


def role(item: Mapping[str, Any]) -> str | None:
    """Read a person's role; a custom role counts as the permission that it is built on."""
    for name in ("role_name", "permission"):
        value = item.get(name)
        if isinstance(value, str) and value in _ROLES:
            return value
    return None


def carries(body: object, marker: str) -> bool:
    """Tell whether a comment carries a marker itself, not in a quotation of another comment."""
    lines = body.splitlines() if isinstance(body, str) else ()
    return any(marker in line and not line.lstrip().startswith(">") for line in lines)


def cut(body: str, limit: int) -> str:
    """Cut a text to ``limit`` UTF-8 bytes, between two code points."""
    return body.encode(errors="replace")[:limit].decode(errors="ignore")


def _commit(item: Mapping[str, Any]) -> Commit:
    inner = part(item, "commit")
    message = text(inner.get("message"))
    email = text(part(inner, "author").get("email"))
    return Commit(
        message=message,
        authored_at=time(part(inner, "author").get("date")),
        committed_at=time(part(inner, "committer").get("date")),
        author_login=text(part(item, "author").get("login")),
        author_email_domain=email.rpartition("@")[2].casefold() or None if email and "@" in email else None,
        trailers=trailers(message),
    )


def _event(item: Mapping[str, Any], kind: TimelineKind, author: str | None) -> TimelineEvent | None:
    at = time(item.get("created_at") or item.get("submitted_at") or part(item, "committer").get("date"))
    if at is None:
        return None
    actor = part(item, "actor") or part(item, "user")
    body = text(item.get("message") if kind == "commit" else item.get("body"))
    login = text(actor.get("login"))
    return TimelineEvent(
        at=at,
        kind=kind,
        actor=login,
        actor_type=text(actor.get("type")),
        is_author=_is_author(login, author),
        body=body,
        key=_key(item, kind),
        actor_id=number(actor.get("id")),
    )


def _key(item: Mapping[str, Any], kind: TimelineKind) -> str | None:
    """Return the identity that a delivery of the same thing has; what has none there is known by deliveries alone."""
    if kind == "commit":
        sha = text(item.get("sha"))
        return None if sha is None else f"commit:{sha}"
    own = number(item.get("id"))
    return None if own is None or kind not in {"comment", "review"} else f"{kind}:{own}"


def _remark(item: Mapping[str, Any], author: str | None) -> TimelineEvent | None:
    """Translate a review comment; answers share the thread of the comment that they answer."""
    at = time(item.get("created_at"))
    if at is None:
        return None
    user = part(item, "user")
    login = text(user.get("login"))
    root = number(item.get("in_reply_to_id")) or number(item.get("id"))
    return TimelineEvent(
        at=at,
        kind="review_comment",
        actor=login,
        actor_type=text(user.get("type")),
        is_author=_is_author(login, author),
        body=text(item.get("body")),
        path=text(item.get("path")),
        line=number(item.get("line")) or number(item.get("original_line")),
        thread=None if root is None else str(root),
        key=None if root is None else f"review_comment:{number(item.get('id')) or root}",
        actor_id=number(user.get("id")),
    )


def _is_author(login: str | None, author: str | None) -> bool | None:
    return None if login is None or author is None else _same(login, author)


def _counts_listed(
    pulls: object, nodes: Sequence[Mapping[str, Any]] | None, repository: RepositoryRef
) -> tuple[int | None, int | None]:
    """Count what was merged and closed here among the listed pull requests, if these are all there are."""
    total = number(part(pulls).get("totalCount"))
    if nodes is None or total is None or total > len(nodes):
        return None, None
    states = [node.get("state") for node in nodes if _is_here(part(node, "repository"), repository)]
    return states.count("MERGED"), states.count("CLOSED")


def _is_here(item: Mapping[str, Any], repository: RepositoryRef) -> bool:
    known = number(item.get("databaseId"))
    return known == repository.id if known is not None else _same(item.get("nameWithOwner"), repository.full_name)


def _activity(nodes: Sequence[Mapping[str, Any]], login: str) -> tuple[Activity, ...]:
    found = []
    for node in nodes:
        at = time(node.get("createdAt"))
        if at is None:
            continue
        repository = part(node, "repository")
        owner = text(part(repository, "owner").get("login"))
        found.append(
            Activity(
                at=at,
                kind="pull_request",
                repo=text(repository.get("nameWithOwner")),
                own_repo=None if owner is None else _same(owner, login),
                number=number(node.get("number")),
                base=text(node.get("baseRefName")),
            ),
        )
    return tuple(sorted(found, key=lambda one: one.at))


def _same(one: object, other: str) -> bool:
    return isinstance(one, str) and one.casefold() == other.casefold()
