"""A forge without a network: answers from saved JSON, and remembers what was written instead of writing it.

The saved answers are GitHub's own, under the paths that they were read from: ``repos/acme/widgets/pulls/7/files``,
``.../pulls/7/commits``, ``.../issues/7/timeline``, ``.../issues/7``, ``.../collaborators/LOGIN/permission``,
``.../contents/PATH`` (the text itself), and ``users/LOGIN`` (the data of the query on the author). In a folder each is
a file of that path, with ``.json`` behind it; a text has no ``.json``. What was not saved is unknown.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self

from triage.forge import invitation, translate
from triage.forge.port import Changes, ForgeError, Gone, Guide, Opening, Present, ReadAuthor, RepositoryRef

JSON: Final = ".json"


@dataclass(frozen=True, slots=True)
class Written:
    """One thing that was asked to be written. ``what`` is the label, the comment's body, the node or the commit."""

    kind: str
    repository: int
    number: int | None
    what: str


class RecordedForge:
    """The port from saved answers; ``written`` lists every write in its order.

    ``looks`` maps a label to the colour and description that it was to have.
    """

    def __init__(self, answers: Mapping[str, object] | None = None) -> None:
        self._answers = {path.strip("/"): value for path, value in (answers or {}).items()}
        self._labels: dict[tuple[int, int], frozenset[str]] = {}
        self._comments: dict[int, tuple[int, int, str]] = {}
        self._locked: set[tuple[int, int]] = set()
        self.looks: dict[str, tuple[str, str]] = {}
        self.written: list[Written] = []

    @classmethod
    def from_folder(cls, folder: Path) -> Self:
        """Read every file below a folder.

        Raises
        ------
        ForgeError
            Naming the file that cannot be read.
        """
        answers: dict[str, object] = {}
        for path in sorted(one for one in folder.rglob("*") if one.is_file()):
            name = path.relative_to(folder).as_posix()
            is_text = "/contents/" in name
            try:
                text = path.read_text(encoding="utf-8")
                answers[name if is_text else name.removesuffix(JSON)] = text if is_text else json.loads(text)
            except (OSError, ValueError, RecursionError) as error:
                raise ForgeError(f"{path}: not a saved answer ({type(error).__name__})") from None
        return cls(answers)

    def opening(self, repository: RepositoryRef, number: int, author: str | None) -> Opening:
        """Translate what was saved of a pull request."""
        events = self._saved(repository, f"issues/{number}/timeline")
        return Opening(
            changes=self.changes(repository, number),
            timeline=None if events is None else translate.timeline(translate.objects(events), author),
            author=None if author is None else self._author(repository, author),
        )

    def changes(self, repository: RepositoryRef, number: int) -> Changes:
        """Translate the saved files and commits."""
        saved_files = self._saved(repository, f"pulls/{number}/files")
        saved_commits = self._saved(repository, f"pulls/{number}/commits")
        files, cut = translate.files(translate.objects(saved_files))
        commits = translate.commits(translate.objects(saved_commits))
        return Changes(None if saved_files is None else files, None if saved_commits is None else commits, cut)

    def present(self, repository: RepositoryRef, number: int) -> Present:
        """Tell the saved state with what was written since; a thread that was not saved is open and bare."""
        key = (repository.id, number)
        saved = self._saved(repository, f"issues/{number}")
        state = translate.present(saved) if isinstance(saved, dict) else Present(frozenset(), True, False, None)
        return replace(state, labels=self._labels.get(key, state.labels), locked=state.locked or key in self._locked)

    def text(self, repository: RepositoryRef, path: str, ref: str | None = None) -> str | None:
        """Return a saved text; one as of ``ref`` is saved behind ``@REF``."""
        return translate.text(self._saved(repository, f"contents/{path}" + ("" if ref is None else f"@{ref}")))

    def organisation_text(self, repository: RepositoryRef, path: str) -> str | None:
        """Return a saved text of the owner's ``.github`` repository."""
        owner = repository.full_name.partition("/")[0]
        return translate.text(self._answers.get(f"repos/{owner}/.github/contents/{path}"))

    def guide(self, repository: RepositoryRef) -> Guide:
        """Read the saved texts as the live forge reads the repository's."""
        root = f"repos/{repository.full_name}/contents/"
        texts = {path.removeprefix(root): text for path, text in self._answers.items() if path.startswith(root)}
        named = [(path.rpartition("/")[2], text) for path, text in texts.items() if isinstance(text, str)]
        templates = tuple(text for name, text in named if invitation.TEMPLATE.fullmatch(name))
        rules = [text for name, text in named if invitation.CONTRIBUTING.fullmatch(name)]
        vouched = [invitation.vouched(text) for name, text in named if invitation.VOUCHED.fullmatch(name)]
        return Guide(templates, invitation.ai_policy([*rules, *templates]), frozenset().union(*vouched))

    def add_label(self, repository: RepositoryRef, number: int, name: str, colour: str, description: str) -> str:
        """Remember a label."""
        labels = self.present(repository, number).labels
        self._labels[repository.id, number] = labels | {name}
        self.looks[name] = (colour, description)
        self._wrote("add_label", repository, number, name)
        return name

    def remove_label(self, repository: RepositoryRef, number: int, name: str) -> None:
        """Forget a label, in any case of letters."""
        labels = self.present(repository, number).labels
        kept = frozenset(one for one in labels if one.casefold() != name.casefold())
        self._labels[repository.id, number] = kept
        self._wrote("remove_label", repository, number, name)

    def own_comment(self, repository: RepositoryRef, number: int, marker: str) -> int | None:
        """Find a comment that was posted here; saved comments are other people's."""
        for key, (where, thread, body) in reversed(self._comments.items()):
            if (where, thread) == (repository.id, number) and translate.carries(body, marker):
                return key
        return None

    def post_comment(self, repository: RepositoryRef, number: int, body: str) -> int:
        """Remember a comment."""
        key = len(self._comments) + 1
        self._comments[key] = (repository.id, number, body)
        self._wrote("post_comment", repository, number, body)
        return key

    def edit_comment(self, repository: RepositoryRef, comment: int, body: str) -> None:
        """Replace a remembered comment's body."""
        if comment not in self._comments:
            raise Gone("there is no such comment")
        where, number, _ = self._comments[comment]
        self._comments[comment] = (where, number, body)
        self._wrote("edit_comment", repository, number, body)

    def minimize_comment(self, repository: RepositoryRef, node: str) -> None:
        """Remember that a comment was to be collapsed."""
        self._wrote("minimize_comment", repository, None, node)

    def lock(self, repository: RepositoryRef, number: int) -> None:
        """Remember that a thread was locked."""
        self._locked.add((repository.id, number))
        self._wrote("lock", repository, number, "")

    def check_run(self, repository: RepositoryRef, sha: str, *, name: str, ok: bool, title: str, summary: str) -> None:
        """Remember a report on a commit."""
        verdict = "success" if ok else "failure"
        self._wrote("check_run", repository, None, f"{sha} {name} {verdict}: {title}\n{summary}")

    def role(self, repository: RepositoryRef, login: str) -> str | None:
        """Return a saved role."""
        saved = self._saved(repository, f"collaborators/{login}/permission")
        return translate.role(saved) if isinstance(saved, dict) else None

    def _author(self, repository: RepositoryRef, login: str) -> ReadAuthor | None:
        return translate.author(self._answers.get(f"users/{login}"), login, repository)

    def _saved(self, repository: RepositoryRef, path: str) -> object:
        return self._answers.get(f"repos/{repository.full_name}/{path}")

    def _wrote(self, kind: str, repository: RepositoryRef, number: int | None, what: str) -> None:
        self.written.append(Written(kind, repository.id, number, what))
