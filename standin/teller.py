"""Tells a story: acts with their times, done in order on a world, with the delivery that each of them sends kept."""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from standin import acts
from standin.acts import Stage
from standin.hooks import Hooks, Sent
from standin.threads import Commit, File, Pull, ReviewComment, Thread
from standin.world import World

URL: Final = "https://api.github.com"
ORG: Final = "lanternfish"


@dataclass(frozen=True, slots=True)
class Delivery:
    """One delivery of the story: GitHub's event name, its GUID, its body."""

    event: str
    guid: str
    body: dict[str, Any]


class Kept(Hooks):
    """Keeps deliveries instead of posting them. GUIDs follow from their place, so that a story is always the same."""

    def __init__(self) -> None:
        super().__init__()
        self.deliveries: list[Delivery] = []

    def send(self, world: World, event: str, payload: dict[str, Any], guid: str | None = None) -> Sent | None:
        """Keep one delivery; news of a new label is nobody's story."""
        if event != "label":
            guid = guid or str(uuid.uuid5(uuid.NAMESPACE_URL, f"{world.app.slug}/{len(self.deliveries)}"))
            self.deliveries.append(Delivery(event, guid, payload))
        return None


@dataclass(slots=True)
class Handle:
    """A thread of the story, known once its opening has been told. ``lanes`` are where it may honestly end.

    ``quick_win`` says that it is worth merging in passing.
    """

    repo: str
    lanes: frozenset[str] = frozenset()
    thread: Thread | None = None
    remarks: dict[str, int] = field(default_factory=dict)
    quick_win: bool = False

    @property
    def opened(self) -> Thread:
        """Return the thread."""
        if self.thread is None:
            raise LookupError("the story speaks of a thread that was not opened yet")
        return self.thread

    @property
    def pull(self) -> Pull:
        """Return what makes the thread a pull request."""
        if self.opened.pull is None:
            raise LookupError("the story takes an issue for a pull request")
        return self.opened.pull


class Teller:
    """Collects acts in any order and tells them by their times. ``ago`` is the time before ``now``."""

    def __init__(self, world: World, now: datetime) -> None:
        self.world = world
        self.now = now
        self.handles: list[Handle] = []
        self._kept = Kept()
        self._told: list[tuple[datetime, int, str, str, Callable[[Stage], object]]] = []

    def tell(self) -> tuple[Delivery, ...]:
        """Do every act in order of time; returns the deliveries."""
        for at, _, repo, actor, do in sorted(self._told, key=lambda told: told[:2]):
            repository = self.world.repository(f"{ORG}/{repo}")
            if repository is None:
                raise LookupError(f"the story has no repository {repo}")
            do(Stage(self.world, self._kept, URL, repository, actor, at, by_app=actor == self.world.app.bot))
        return tuple(self._kept.deliveries)

    def act(self, repo: str, actor: str, ago: timedelta, do: Callable[[Stage], object]) -> None:
        """Add an act."""
        self._told.append((self.now - ago, len(self._told), repo, actor, do))

    # --- threads ----------------------------------------------------------------

    def issue(self, repo: str, actor: str, ago: timedelta, title: str, body: str) -> Handle:
        """Open an issue."""
        handle = Handle(repo)

        def do(stage: Stage) -> None:
            handle.thread = acts.open_thread(stage, title, body, None)

        self.act(repo, actor, ago, do)
        return handle

    def pull(  # noqa: PLR0913 - a pull request has that many sides
        self,
        repo: str,
        actor: str,
        ago: timedelta,
        title: str,
        body: str | None,
        *,
        lanes: Sequence[str],
        files: Sequence[File],
        commits: Sequence[Commit] = (),
        branch: str = "patch-1",
        association: str | None = None,
        draft: bool = False,
        fork: bool = True,
        tree: dict[str, str] | None = None,
    ) -> Handle:
        """Open a pull request that may honestly end in one of ``lanes``."""
        handle = Handle(repo, frozenset(lanes))
        self.handles.append(handle)

        def do(stage: Stage) -> None:
            pull = Pull(branch, draft=draft, files=list(files), tree=tree or {})
            pull.head_repo = f"{actor}/{repo}" if fork else f"{ORG}/{repo}"
            pull.commits = list(commits) or [Commit(title, stage.at - timedelta(minutes=20), author=actor, name=actor)]
            handle.thread = acts.open_thread(stage, title, body, pull, association)

        self.act(repo, actor, ago, do)
        return handle

    # --- what people do on them ----------------------------------------------------

    def comment(self, on: Handle, actor: str, ago: timedelta, body: str) -> None:
        """Comment on a thread."""
        self.act(on.repo, actor, ago, lambda stage: acts.say(stage, on.opened, body))

    def review(self, on: Handle, actor: str, ago: timedelta, body: str, state: str = "COMMENTED") -> None:
        """Review a pull request."""
        self.act(on.repo, actor, ago, lambda stage: acts.judge(stage, on.opened, on.pull, state, body))

    def remark(self, on: Handle, actor: str, ago: timedelta, body: str, *, path: str, name: str) -> None:
        """Remark on a line; a second remark under the same name answers the first."""

        def do(stage: Stage) -> None:
            made = ReviewComment(actor, body, stage.at, path, in_reply_to=on.remarks.get(name))
            on.remarks.setdefault(name, acts.remark(stage, on.opened, on.pull, made).id)

        self.act(on.repo, actor, ago, do)

    def push(self, on: Handle, actor: str, ago: timedelta, message: str, files: Sequence[File] | None = None) -> None:
        """Push a commit; ``files`` is the whole new diff."""

        def do(stage: Stage) -> None:
            commit = Commit(message, stage.at, author=actor, name=actor)
            acts.push(stage, on.opened, on.pull, [commit], None if files is None else list(files))

        self.act(on.repo, actor, ago, do)

    def edit(self, on: Handle, actor: str, ago: timedelta, body: str) -> None:
        """Edit the description."""
        self.act(on.repo, actor, ago, lambda stage: acts.edit(stage, on.opened, None, body))

    def checks(self, on: Handle, ago: timedelta, conclusion: str = "success") -> None:
        """Let the checks of the newest commit end."""
        bot = "github-actions[bot]"
        self.act(on.repo, bot, ago, lambda stage: acts.finish_checks(stage, on.opened, on.pull, conclusion))

    def vanish(self, on: Handle, ago: timedelta, *, account: bool = False, fork: bool = False) -> None:
        """Delete the author's account or fork, as it shows from then on; GitHub sends no word of it."""

        def do(_: Stage) -> None:
            on.opened.author = None if account else on.opened.author
            on.pull.head_repo = None if fork else on.pull.head_repo

        self.act(on.repo, "ghost", ago, do)

    def label(self, on: Handle, actor: str, ago: timedelta, name: str) -> None:
        """Put a label on."""
        self.act(on.repo, actor, ago, lambda stage: acts.put_label(stage, on.opened, name))

    def unlabel(self, on: Handle, actor: str, ago: timedelta, name: str) -> None:
        """Take a label off."""
        self.act(on.repo, actor, ago, lambda stage: acts.take_label(stage, on.opened, name))
