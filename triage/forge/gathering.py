"""What can be read of a pull request and of its repository, part by part: a part that fails leaves the others whole."""

import base64
import binascii
import re
from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar
from urllib.parse import quote

from triage.facts import ChangedFile, Commit, TimelineEvent
from triage.forge import documents, invitation, translate
from triage.forge.asking import Reach
from triage.forge.port import (
    Changes,
    Forbidden,
    ForgeError,
    Gone,
    Guide,
    Opening,
    ReadAuthor,
    Refused,
    RepositoryRef,
    Suspended,
    Unavailable,
)
from triage.forge.refusals import Limited, Unaccepted, Unreachable

MOST_FILES: Final = 3000
MOST_COMMITS: Final = 250
MAX_TEXT: Final = 262_144  # bytes of a file

T = TypeVar("T")


class _Parts:
    """Reads parts one after the other and remembers how each failed."""

    def __init__(self) -> None:
        self.read = 0
        self.failures: list[ForgeError] = []

    def part(self, read: Callable[[], T]) -> T | None:
        """Read one part; ``None`` when it cannot be read. Whatever concerns every part is raised."""
        try:
            value = read()
        except (Limited, Unreachable, Unaccepted, Suspended):
            raise
        except ForgeError as error:
            self.failures.append(error)
            if self.read == 0 and sum(isinstance(one, Unavailable) for one in self.failures) > 1:
                raise  # nothing could be read and two parts broke: it is GitHub, not the part
            return None
        self.read += 1
        return value

    def conclude(self) -> None:
        """Raise when nothing at all could be read because GitHub is not well, or because there is no such thing."""
        if self.read == 0 and self.failures:
            for kind in (Unavailable, Gone):
                for error in self.failures:
                    if isinstance(error, kind):
                        raise error


def opening(reach: Reach, repository: RepositoryRef, number: int, author: str | None) -> Opening:
    """Read everything that is read once: four requests up to a hundred files, commits and events."""
    parts = _Parts()
    changed = _changes(reach, number, parts)
    events = parts.part(lambda: _timeline(reach, number, author))
    parts.conclude()  # the author alone tells nothing of this pull request
    known = None if author is None else parts.part(lambda: read_author(reach, repository, author))
    return Opening(changed, events, known)


def changes(reach: Reach, number: int) -> Changes:
    """Read files and commits."""
    parts = _Parts()
    changed = _changes(reach, number, parts)
    parts.conclude()
    return changed


def read_author(reach: Reach, repository: RepositoryRef, login: str) -> ReadAuthor | None:
    """Ask once about an account; ``None`` for an App, of which GraphQL knows no user."""
    if login.endswith("[bot]"):
        return None
    full_name = repository.full_name
    owner, _, name = full_name.partition("/")
    pulls = f"repo:{full_name} is:pr author:{login}"
    variables = {
        "login": login,
        "owner": owner,
        "name": name,
        "merged": f"{pulls} is:merged",
        "closed": f"{pulls} is:closed is:unmerged",
    }
    data, refused = reach.graphql("author", documents.AUTHOR, variables)
    known = translate.author(data, login, repository)
    if refused is not None and known is None:
        raise refused
    return known


def read_text(reach: Reach, path: str, kind: str = "text", ref: str | None = None) -> str | None:
    """Read a file of the default branch, or as of ``ref``; ``None`` when there is none.

    Raises
    ------
    Refused
        When it is larger than 262,144 bytes: half a file could say the opposite of the whole.
    """
    try:
        item = reach.get(kind, f"/contents/{quote(path)}", None if ref is None else {"ref": ref}).body
    except Gone:
        return None
    if not isinstance(item, dict) or item.get("type") != "file":
        return None
    size = translate.number(item.get("size")) or 0
    content = item.get("content")
    if size > MAX_TEXT or (size and not content):
        raise Refused(f"{path} is larger than {MAX_TEXT:,} bytes")
    try:
        return base64.b64decode(content or "").decode(errors="replace")
    except (binascii.Error, ValueError, TypeError):
        raise Unavailable(f"{path} did not arrive whole") from None


def guide(reach: Reach, organisation: Reach, host: str) -> Guide:
    """Read what a repository says to contributors; what it does not say itself, its owner's ``.github`` may.

    ``host`` is the address of GitHub's pages without the scheme.
    """
    texts = _Texts(reach, (Gone, Refused))
    templates = texts.templates() or _Texts(organisation, (Gone, Refused, Forbidden)).templates()
    rules = [*texts.found(invitation.AI_RULES), *texts.found(invitation.CONTRIBUTING)]
    vouched: frozenset[str] = frozenset()
    for text in texts.found(invitation.VOUCHED):
        vouched |= invitation.vouched(text)
    for text in texts.found(invitation.CONTRIBUTORS):
        vouched |= invitation.contributors(text, host)
    return Guide(tuple(templates), invitation.ai_policy([*rules, *templates]), vouched)


def _changes(reach: Reach, number: int, parts: _Parts) -> Changes:
    files = parts.part(lambda: _files(reach, number))
    commits = parts.part(lambda: _commits(reach, number))
    truncated = (files is not None and files[1]) or (commits is not None and commits[1])
    return Changes(files and files[0], commits and commits[0], truncated)


def _files(reach: Reach, number: int) -> tuple[tuple[ChangedFile, ...], bool]:
    items, whole = reach.halved("files", f"/pulls/{number}/files", MOST_FILES)
    files, cut = translate.files(items)
    return files, cut or not whole


def _commits(reach: Reach, number: int) -> tuple[tuple[Commit, ...], bool]:
    items = reach.listed("commits", f"/pulls/{number}/commits")
    return translate.commits(items[:MOST_COMMITS]), len(items) >= MOST_COMMITS


def _timeline(reach: Reach, number: int, author: str | None) -> tuple[TimelineEvent, ...]:
    return translate.timeline(reach.listed("timeline", f"/issues/{number}/timeline"), author)


class _Texts:
    """The community files of a repository: each folder is listed at most once, each text read only when asked for.

    ``absent`` are the refusals that read as "it has none". A broken answer never does: a template that is there and was
    not read would count against everybody who kept to it.
    """

    def __init__(self, reach: Reach, absent: tuple[type[ForgeError], ...]) -> None:
        self._reach = reach
        self._absent = absent
        self._listed: dict[str, dict[str, str]] = {}

    def templates(self) -> list[str]:
        """Read the pull request templates of the first folder that has any."""
        for folder in invitation.FOLDERS:
            texts = self._matching(folder, invitation.TEMPLATE)
            for name in self._names(folder, invitation.TEMPLATE_FOLDER, "dir"):
                texts += self._matching(f"{folder}/{name}".strip("/"), invitation.ANY_TEMPLATE)
            if texts:
                return texts
        return []

    def found(self, name: re.Pattern[str]) -> list[str]:
        """Read the files of that name in the first folder that has any."""
        for folder in invitation.FOLDERS:
            if texts := self._matching(folder, name):
                return texts
        return []

    def _matching(self, folder: str, name: re.Pattern[str]) -> list[str]:
        paths = [f"{folder}/{one}".strip("/") for one in self._names(folder, name, "file")]
        texts = [self._optional(partial(read_text, self._reach, path, "guide")) for path in paths]
        return [text for text in texts if text]

    def _names(self, folder: str, name: re.Pattern[str], kind: str) -> list[str]:
        return sorted(one for one, type_ in self._listing(folder).items() if type_ == kind and name.fullmatch(one))

    def _listing(self, folder: str) -> dict[str, str]:
        if folder not in self._listed:
            known = "/" in folder or not folder or folder in self._listing("")
            self._listed[folder] = (self._optional(lambda: self._list(folder)) or {}) if known else {}
        return self._listed[folder]

    def _list(self, folder: str) -> dict[str, str]:
        items = self._reach.get("guide", f"/contents/{quote(folder)}").body
        return {str(one.get("name")): str(one.get("type")) for one in translate.objects(items)}

    def _optional(self, read: Callable[[], T]) -> T | None:
        try:
            return read()
        except self._absent:
            return None
