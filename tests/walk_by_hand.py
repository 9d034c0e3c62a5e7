"""The walk without its server: the same parts on a real database and over real HTTP, with a clock that a test moves.

Deliveries come from the stand-in, signed, over HTTP; they are kept and judged when the test says so. Time passes by
adding to ``later``. What a whole server adds (the door, the engine) is tried in the walks that start one.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from plugins_github import APP, INSTALLATION, REPOSITORY, AppKey, Listener, StandIn, small_world

from models.learned.classifier import load
from models.recorded.database import Database
from models.recorded.deliveries import Arrival, Deliveries
from models.recorded.store import Store
from models.recorded.tables import ThreadRow
from triage import views
from triage.events import parse
from triage.forge.live import LiveForge
from triage.job import Judge
from triage.walk import Walk

SETTLE: Final = 1.0
LEASE: Final = 30.0
WIDGETS: Final = "acme/widgets"
REVIEW: Final = "triage: author review not seen"
BURST: Final = "triage: burst on hold"
BOT: Final = "livefirst[bot]"
STRICT: Final = "mode: label\nsensitivity: strict\n"

# Nobody looked at this before it was sent: plans left behind, an answer to somebody else's prompt, bullets.
LEFTOVERS: Final = (
    {"path": "widgets/core.py", "additions": 2, "deletions": 1, "patch": "@@ -1 +1,2 @@\n-a = 1\n+a = 2\n+b = 3"},
    {"path": "PLAN.md", "status": "added", "additions": 1, "patch": "@@ -0,0 +1 @@\n+Step 1: look at core.py"},
    {"path": "scripts/fix_core.py.bak", "status": "added", "additions": 1, "patch": "@@ -0,0 +1 @@\n+a = 1"},
    {"path": "IMPLEMENTATION_SUMMARY.md", "status": "added", "additions": 1, "patch": "@@ -0,0 +1 @@\n+Done."},
)
BULLETS: Final = "\n".join(
    ("## Summary", *(f"- **Part {n}**: the value of `a` is handled in place number {n} of the code." for n in range(9)))
)
CLEAN: Final = ({"path": "widgets/core.py", "additions": 1, "deletions": 1, "patch": "@@ -1 +1 @@\n-a = 1\n+a = 2"},)


def unread(**pull: Any) -> dict[str, Any]:
    """Describe a pull request for ``act("open_pull", ...)`` that reads as sent without a look."""
    return {"title": "Improve core", "body": BULLETS, "pull": {"files": list(LEFTOVERS), **pull}}


def small(**pull: Any) -> dict[str, Any]:
    """Describe an ordinary little pull request."""
    return {"title": "Fix a", "body": "It was 1, which is wrong.", "pull": {"files": list(CLEAN), **pull}}


@dataclass(frozen=True, slots=True)
class Heard:
    """One delivery as it came: GitHub's headers in lower case, and the raw body."""

    headers: Mapping[str, str]
    body: bytes

    @property
    def event(self) -> str:
        return self.headers["x-github-event"]

    @property
    def guid(self) -> str:
        return self.headers["x-github-delivery"]


class Desk:
    """Everything that judges, driven by hand."""

    def __init__(self, database: Database, standin: StandIn, key: AppKey, listener: Listener) -> None:
        self.standin, self.listener = standin, listener
        self.key = key
        self.deliveries, self.store = Deliveries(database), Store(database)
        self.asked: Counter[str] = Counter()
        self.later = 0.0
        self.forge = LiveForge.for_app(APP, key.private, standin.url, count=self._count, web_url="https://github.com")
        walk = Walk(self.store, load(), lambda _: self.forge, spend=lambda *_: None, clock=self.clock)
        self.judge = Judge(
            self.deliveries, walk, lease=LEASE, settle=SETTLE, wake=lambda _: None, first_wait=5.0, clock=self.clock
        )
        self._heard = 0

    def _count(self, kind: str) -> None:
        self.asked[kind] += 1

    def clock(self) -> float:
        """Return the time of this desk, in seconds since 1970."""
        return time.time() + self.later

    def seed(self, policy: str | None = None, **changes: Any) -> None:
        """Fill the stand-in with the small world; ``changes`` replace keys of its one repository."""
        world = self.world(policy)
        world["repositories"][0] |= changes
        self.standin.seed(world)

    def world(self, policy: str | None = None) -> dict[str, Any]:
        """Return the small world with a policy, to be changed and seeded."""
        made = small_world(self.key, webhook_url=self.listener.url, webhook_secret="s")
        if policy is not None:
            made["repositories"][0]["files"][".github/triage.yml"] = policy
        return made

    # --- deliveries -------------------------------------------------------------

    def hear(self) -> list[Heard]:
        """Take what GitHub has sent since the last time, in its order."""
        self.standin.settled()
        new = [Heard(*one) for one in self.listener.heard[self._heard :]]
        self._heard += len(new)
        return new

    def keep(self, heard: Sequence[Heard]) -> list[str]:
        """Keep deliveries as the door does; returns what each was answered."""
        answers = []
        for one in heard:
            event = parse(one.event, one.body)
            if event is None:
                answers.append("ignored")
                continue
            place = event.event, event.action, event.installation_id, event.repository.id, event.subject
            [kept] = self.deliveries.keep([Arrival(one.guid, *place, one.body, self.clock())], settle=SETTLE)
            answers.append(kept.outcome)
        return answers

    def judge_due(self) -> int:
        """Let time pass until what was kept has settled, and judge what is due; returns how many subjects were."""
        self.later += SETTLE
        due = self.deliveries.due(self.clock(), 1000, rung_before=self.clock() + 1)
        for subject in due:
            self.judge.judge(subject, "worker")
        return len(due)

    def settle(self) -> None:
        """Keep and judge until nothing is due, GitHub's echoes of our own doing included."""
        while self.keep(self.hear()) or self.judge_due():
            pass

    def wait(self, seconds: float) -> None:
        """Let time pass, and judge what has become due."""
        self.later += seconds
        self.settle()

    # --- people -----------------------------------------------------------------

    def open(self, author: str, repo: str = WIDGETS, **what: Any) -> int:
        """Let somebody open a pull request; returns its number. Nothing is judged yet."""
        number: int = self.standin.act("open_pull", author, repo, **what)["number"]
        return number

    def opened(self, author: str, repo: str = WIDGETS, **what: Any) -> int:
        """Let somebody open a pull request and have it judged; returns its number."""
        number = self.open(author, repo, **what)
        self.settle()
        return number

    # --- what came of it --------------------------------------------------------

    def thread(self, number: int, repository: int = REPOSITORY) -> ThreadRow:
        """Return what is remembered of a thread."""
        found = self.store.thread(repository, number)
        assert found is not None
        return found

    def lane(self, number: int) -> str | None:
        """Return the lane that a pull request stands in."""
        return self.thread(number).lane

    def reasons(self, number: int) -> str:
        """Return why it stands there."""
        last = self.store.last_verdict(REPOSITORY, number)
        assert last is not None
        return " ".join(last.verdict["reasons"])

    def labels(self, number: int, repo: str = WIDGETS) -> list[str]:
        """Return the labels on GitHub."""
        found: list[str] = self.standin.thread(repo, number)["labels"]
        return found

    def history(self, number: int, repo: str = WIDGETS) -> list[tuple[str, str, str]]:
        """Return (what, label, by whom) of every change of labels on GitHub."""
        events = self.standin.thread(repo, number)["events"]
        return [
            (one["event"], one["label"], one["actor"]) for one in events if one["event"] in {"labeled", "unlabeled"}
        ]

    def own_comments(self, number: int) -> list[str]:
        """Return what the App says on a thread."""
        return [one["body"] for one in self.standin.thread(WIDGETS, number)["comments"] if one["author"] == BOT]

    def written(self) -> list[str]:
        """Return every request that was to change GitHub, as ``METHOD path``."""
        asked = self.standin.requests()
        return [
            f"{one['method']} {one['path']}"
            for one in asked
            if one["method"] not in {"GET", "HEAD"} and "access_tokens" not in one["path"] and one["path"] != "/graphql"
        ]

    def spent(self) -> Counter[str]:
        """Return what was asked of GitHub since the last time, by kind; tokens aside."""
        spent = Counter({kind: count for kind, count in self.asked.items() if kind != "token"})
        self.asked.clear()
        return spent

    def queue(self) -> views.Queue:
        """Return what the queue page shows."""
        return views.queue(self.store, self.deliveries, web_url="https://github.com", now=self.clock())


def soon(desk: Desk, holds: Callable[[], bool], *, within: float = 3600.0) -> None:
    """Let time pass, in growing steps, until something holds."""
    until, step = desk.later + within, 5.0
    while not holds():
        assert desk.later < until, f"waited {within:.0f} s: {desk.deliveries.troubles()}"
        desk.wait(step)
        step = min(step * 1.5, 600.0)


__all__ = ["APP", "INSTALLATION", "REPOSITORY", "Desk", "Heard"]
