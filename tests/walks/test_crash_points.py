"""A worker that dies before any of its steps, each in turn: what it left is finished, and GitHub is changed once.

Death is an exception that nobody catches, raised where the worker would next store something or change GitHub: the
lease stays behind, as after a SIGKILL. Another worker then takes over. GitHub is the stand-in, over HTTP.
"""

import itertools
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from plugins_github import APP, INSTALLATION, REPOSITORY, AppKey, Listener, StandIn, small_world

from models.learned.classifier import load
from models.recorded.database import Database
from models.recorded.deliveries import Arrival, Deliveries
from models.recorded.store import Store
from models.recorded.tables import ThreadRow
from triage import actions
from triage.events import parse
from triage.forge.live import LiveForge
from triage.forge.port import ForgeError, RepositoryRef, Suspended, Unavailable
from triage.job import Judge
from triage.policy import parse as read_policy
from triage.walk import Walk

LEASE: Final = 30.0
SETTLE: Final = 1.0
MOST_STEPS: Final = 400
BOT: Final = "livefirst[bot]"
# What a step is: everything that writes, here or on GitHub. Between two of them a death changes nothing.
STORING: Final = {"record", "want", "made", "refused", "save_thread", "add_correction", "set_policy", "set_guide"}
KEEPING: Final = {"claim", "finish", "give_back", "give_up"}
CHANGING: Final = {"add_label", "remove_label", "post_comment", "edit_comment", "minimize_comment", "lock", "check_run"}
DISCLOSED: Final = "Made quickly.\n\nGenerated with [Claude Code](https://claude.ai/code)"


class Killed(BaseException):
    """The worker is no more."""


class Fate:
    """Counts steps and ends the worker before (or after) the one that is chosen."""

    def __init__(self) -> None:
        self.at: int | None = None
        self.steps = 0
        self.log: list[str] = []

    def choose(self, at: int | None) -> None:
        self.at, self.steps, self.log = at, 0, []

    def step(self, name: str) -> None:
        if self.steps == self.at:
            self.at = None
            self.log.append(f"killed before {name}")
            raise Killed
        self.steps += 1
        self.log.append(name)


class Mortal:
    """A real part whose steps are counted."""

    def __init__(self, real: object, fate: Fate, steps: set[str]) -> None:
        self._real, self._fate, self._steps = real, fate, steps

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._real, name)
        if name not in self._steps:
            return found

        def counted(*given: Any, **named: Any) -> Any:
            self._fate.step(name)
            return found(*given, **named)

        return counted


class Room:
    """Everything that judges, with a clock that the test moves."""

    def __init__(self, database: Database, standin: StandIn, key: AppKey, listener: Listener) -> None:
        self.standin, self.listener = standin, listener
        self.fate = Fate()
        self.deliveries = Deliveries(database)
        self.store = Store(database)
        self.forge = LiveForge.for_app(
            APP, key.private, standin.url, count=lambda _kind: None, web_url="https://github.com"
        )
        self.repository = RepositoryRef(INSTALLATION, REPOSITORY, "acme/widgets")
        self.later = 0.0
        self.deaths = 0
        self._heard = 0

    def clock(self) -> float:
        return time.time() + self.later

    def judge(self) -> Judge:
        """Start a worker: a new process would know no more."""
        deliveries: Any = Mortal(self.deliveries, self.fate, KEEPING)
        forge: Any = Mortal(self.forge, self.fate, CHANGING)
        store: Any = Mortal(self.store, self.fate, STORING)
        walk = Walk(store, load(), lambda _installation: forge, spend=lambda *_: None, clock=self.clock)
        return Judge(deliveries, walk, lease=LEASE, settle=SETTLE, wake=lambda _: None, clock=self.clock)

    def receive(self) -> list[str]:
        """Keep what GitHub has sent since, as the door does; returns the GUIDs."""
        self.standin._ask("GET", "idle")  # without the list: it grows with every round
        guids = []
        for headers, body in self.listener.heard[self._heard :]:
            event = parse(headers["x-github-event"], body)
            self._heard += 1
            if event is not None:
                arrival = Arrival(
                    headers["x-github-delivery"],
                    event.event,
                    event.action,
                    event.installation_id,
                    event.repository.id,
                    event.subject,
                    body,
                    self.clock(),
                )
                self.deliveries.keep([arrival], settle=SETTLE)
                guids.append(arrival.guid)
        return guids

    def finish(self) -> None:
        """Judge until nothing waits, GitHub's echoes included; a worker that dies is followed by the next."""
        judge = self.judge()
        while True:
            self.receive()
            self.later += SETTLE
            due = self.deliveries.due(self.clock(), rung_before=self.clock() + 1)
            for subject in due:
                try:
                    judge.judge(subject, "worker")
                except Killed:
                    self.deaths += 1
                    judge = self.judge()
                    self.later += LEASE
            if not due and not self.receive():
                if self.deliveries.backlog().subjects == 0:
                    return
                self.later += LEASE

    def labelled(self, number: int) -> list[tuple[str, str | None]]:
        """List what happened to labels on a thread."""
        events = self.standin.thread("acme/widgets", number)["events"]
        return [(one["event"], one["label"]) for one in events if one["event"] in {"labeled", "unlabeled"}]

    def own_comments(self, number: int) -> list[str]:
        return [one["body"] for one in self.standin.thread("acme/widgets", number)["comments"] if one["author"] == BOT]

    def every_death(self, scenario: Callable[[int], Callable[[], None]]) -> int:
        """Play a scenario once unharmed, and then once for every step with a death before it.

        ``scenario`` gets the number of the round, acts, and returns what asserts the end. Returns the number of steps.
        """
        for at in itertools.chain([None], range(MOST_STEPS)):
            check = scenario(0 if at is None else at + 1)
            self.fate.choose(at)
            self.finish()
            try:
                check()
                failed = self.deliveries.listed(state="failed")
                assert not failed, failed
            except AssertionError as error:
                raise AssertionError("\n".join([str(error), f"died before step {at}:", *self.fate.log])) from error
            if at is not None and self.fate.at is not None:  # it was never reached: every step has had its death
                assert self.deaths == at
                return at
        raise AssertionError("the scenario does not end")


@pytest.fixture
def room(database: Database, standin: StandIn, app_key: AppKey, listener: Listener) -> Iterator[Room]:
    opened = Room(database, standin, app_key, listener)
    yield opened
    opened.forge.close()


def world(key: AppKey, listener: Listener, policy: str) -> dict[str, Any]:
    """Return a world whose repository has a policy."""
    made = small_world(key, webhook_url=listener.url, webhook_secret="s", slug="livefirst")
    made["repositories"][0]["files"][".github/triage.yml"] = policy
    return made


def test_a_label_is_put_on_once_whenever_the_worker_dies(room: Room, app_key: AppKey) -> None:
    room.standin.seed(world(app_key, room.listener, 'mode: comment\nlabels: {disclosed: "agent use stated"}'))

    def scenario(turn: int) -> Callable[[], None]:
        number = room.standin.act("open_pull", f"ann{turn}", title="Fix b", body=DISCLOSED)["number"]
        room.standin.act("comment", "max", number=number, body="Why is this needed?")

        def check() -> None:
            assert room.labelled(number) == [("labeled", "agent use stated")]
            assert room.own_comments(number) == []
            thread = room.store.thread(REPOSITORY, number)
            assert thread is not None
            assert thread.labelled == {"disclosed": "agent use stated"}
            assert thread.kept_off == []
            assert room.store.wanted(REPOSITORY, number) == []

        return check

    assert room.every_death(scenario) > 8


def test_a_flood_marks_every_thread_it_hit_whenever_the_worker_dies(room: Room, app_key: AppKey) -> None:
    policy = "mode: label\nburst: {events: 5, minutes: 10, action: minimize}"
    room.standin.seed(world(app_key, room.listener, policy))

    def scenario(turn: int) -> Callable[[], None]:
        numbers = [room.standin.act("open_issue", "max", title=f"It breaks {turn}")["number"] for _ in range(2)]
        room.finish()
        for number, ago in itertools.product(numbers, (50, 30, 10)):
            at = (datetime.now(UTC) - timedelta(seconds=ago)).isoformat()
            said = f"I can take {number}, assign me."
            room.standin.act("comment", f"flooder{turn}", number=number, body=said, at=at)

        def check() -> None:
            for number in numbers:
                names = room.labelled(number)
                assert len(names) == 1, (number, names)
                comments = room.standin.thread("acme/widgets", number)["comments"]
                assert [bool(one["minimized"]) for one in comments] == [True] * 3

        return check

    assert room.every_death(scenario) > 12


def test_a_persons_word_is_kept_whenever_the_worker_dies(room: Room, app_key: AppKey) -> None:
    """The label goes on, a worker dies, a maintainer takes the label off before the next one starts: it stays off."""
    room.standin.seed(world(app_key, room.listener, 'mode: label\nlabels: {disclosed: "agent use stated"}'))

    def scenario(turn: int) -> Callable[[], None]:
        number = room.standin.act("open_pull", f"ann{turn}", title="Fix b", body=DISCLOSED)["number"]

        def check() -> None:
            on_and_off = [("labeled", "agent use stated"), ("unlabeled", "agent use stated")]
            assert room.labelled(number) == on_and_off
            thread = room.store.thread(REPOSITORY, number)
            assert thread is not None
            assert thread.kept_off == ["disclosed"]
            assert [one.kind for one in room.store.corrections(REPOSITORY, number)] == ["label_removed"]

        return check

    # The maintainer acts the moment the label stands, so that the worker that dies never hears of it.
    put_on = room.forge.add_label

    def then_taken_off(repository: RepositoryRef, number: int, *look: str) -> str:
        name = put_on(repository, number, *look)
        room.standin.act("unlabel", "max", number=number, label=name)
        return name

    room.forge.add_label = then_taken_off  # type: ignore[method-assign, assignment]
    assert room.every_death(scenario) > 8


# --- the changes alone: kinds that a verdict rarely wants --------------------------


class Hands:
    """Plans, writes down and makes changes for one thread, as the walk does."""

    def __init__(self, room: Room, policy: str, number: int) -> None:
        self.room, self.number = room, number
        self.policy = read_policy(policy)

    def thread(self) -> ThreadRow:
        found = self.room.store.thread(REPOSITORY, self.number)
        return found or ThreadRow(repository_id=REPOSITORY, number=self.number, installation_id=INSTALLATION)

    def hand(self) -> actions.Hand:
        store: Any = Mortal(self.room.store, self.room.fate, STORING)
        forge: Any = Mortal(self.room.forge, self.room.fate, CHANGING)
        return actions.Hand(store, forge, self.room.repository, lambda: None, self.room.clock)

    def want(self, *kinds: actions.LabelKind) -> None:
        hand, thread = self.hand(), self.thread()
        actions.reconcile(hand, thread)
        changes = actions.plan(self.policy, thread, frozenset(kinds), now=self.room.clock())
        actions.let_go(thread, changes)
        thread.flips += sum(change.target == actions.FLIPPING for change in changes)
        if changes:
            hand.store.want(changes, thread)
            actions.apply(hand, thread)

    def until_done(self, *kinds: actions.LabelKind) -> int:
        """Want labels again after every death; returns the deaths."""
        for deaths in itertools.count():
            try:
                self.want(*kinds)
            except Killed:
                continue
            return deaths
        raise AssertionError


@pytest.mark.parametrize("turn", ["on", "off"])
def test_the_one_comment_is_posted_once_whenever_the_worker_dies(room: Room, app_key: AppKey, turn: str) -> None:
    policy = "mode: comment"
    room.standin.seed(world(app_key, room.listener, policy))
    wanted: list[tuple[actions.LabelKind, ...]] = (
        [("likely_unreviewed",)] if turn == "on" else [("likely_unreviewed",), ()]
    )
    for at in range(MOST_STEPS):
        number = room.standin.act("open_pull", "ann", title="Fix b", body="b")["number"]
        hands = Hands(room, policy, number)
        room.fate.choose(None)
        for before in wanted[:-1]:
            hands.want(*before)
        room.fate.choose(at)
        deaths = hands.until_done(*wanted[-1])
        comments, events = room.own_comments(number), room.labelled(number)
        said = actions._COMMENT if turn == "on" else actions._COMMENT_CLEARED
        assert comments == [f"{actions.MARKER}\n{said}"], room.fate.log
        assert [what for what, _ in events] == (["labeled"] if turn == "on" else ["labeled", "unlabeled"])
        assert hands.thread().flips == len(wanted), room.fate.log
        assert room.store.wanted(REPOSITORY, number) == []
        if not deaths:
            assert at > 4
            return
    raise AssertionError("it does not end")


class Refusing:
    """A forge in which one question is refused."""

    def __init__(self, real: object, name: str, error: ForgeError) -> None:
        self._real, self._name, self._error = real, name, error

    def __getattr__(self, name: str) -> Any:
        if name != self._name:
            return getattr(self._real, name)

        def refuse(*_given: Any, **_named: Any) -> Any:
            raise self._error

        return refuse


@pytest.mark.parametrize("error", [Suspended("the installation is suspended"), Unavailable("GitHub is not well (502)")])
def test_what_an_absent_github_did_not_take_is_made_when_it_is_back(
    room: Room, app_key: AppKey, error: ForgeError
) -> None:
    room.standin.seed(world(app_key, room.listener, "mode: label"))
    hands = Hands(room, "mode: label", 1)
    real: Any = room.forge
    for name in ("add_label", "present"):  # first the change is refused, then the question about it
        refusing: Any = Refusing(real, name, error)
        room.forge = refusing
        with pytest.raises(type(error)):
            hands.want("likely_unreviewed")
        assert [change.state for change in room.store.wanted(REPOSITORY, 1)] == ["wanted"]
        assert hands.thread().flips == 1
    room.forge = real
    hands.want("likely_unreviewed")
    assert [what for what, _ in room.labelled(1)] == ["labeled"]
    assert hands.thread().flips == 1
    assert room.store.wanted(REPOSITORY, 1) == []


def test_changes_on_a_thread_that_is_gone_are_ended(room: Room, app_key: AppKey) -> None:
    """Else every later delivery about it would fail on them."""
    room.standin.seed(world(app_key, room.listener, "mode: label"))
    hands = Hands(room, "mode: label", 99)
    room.fate.choose(1)  # after it was written down
    with pytest.raises(Killed):
        hands.want("likely_unreviewed")
    assert len(room.store.wanted(REPOSITORY, 99)) == 1
    assert actions.reconcile(hands.hand(), hands.thread()) is True
    assert room.store.wanted(REPOSITORY, 99) == []
