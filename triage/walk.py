"""The walk of one claim, from its deliveries to its labels, in one line.

note what the deliveries tell -> policy -> read what is missing from the forge -> facts -> evaluate -> record with the
changes wanted -> make the changes. Every step may be repeated: a worker that dies is followed by another.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import structlog

from models.learned.classifier import Classifier
from models.recorded.deliveries import Claim
from models.recorded.store import Store
from models.recorded.tables import ActRow, RepositoryRow, ThreadRow
from triage import actions, corrections, dossier, intake, record, repo_policy
from triage.decide import LabelKind
from triage.evaluate import Evaluation, evaluate
from triage.events import Event, NotJson, parse
from triage.forge.port import Changes, Forge, Gone, Opening, RepositoryRef
from triage.metrics import GITHUB_UP, VERDICTS
from triage.policy import Policy
from triage.repo_policy import Governed

log = structlog.get_logger(__name__)

OPENING_REQUESTS: Final = 4
CHANGES_REQUESTS: Final = 2

FIRST_SIGHT: Final = frozenset({"opened", "pushed", "ready", "reopened"})

Nudge = tuple[str, int | None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a claim: a word for its deliveries, and who is to be judged next because of it."""

    word: str
    nudges: tuple[Nudge, ...] = ()


class Walk:
    """Takes claims from deliveries to labels.

    ``forge`` gives the forge of an installation, ``spend`` takes requests from its allowance, ``clock`` gives seconds
    since 1970. Threads may share one.
    """

    def __init__(
        self,
        store: Store,
        classifier: Classifier,
        forge: Callable[[int], Forge],
        *,
        spend: Callable[[int, int], None],
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._classifier = classifier
        self._forge = forge
        self._spend = spend
        self._clock = clock

    def walk(self, claim: Claim, hold: Callable[[], None]) -> Outcome:
        """Judge one claimed subject; ``hold`` is called before anything is changed, and raises when the lease is lost.

        Raises
        ------
        ForgeError
            When the forge cannot answer: the claim is to be put back.
        """
        kind, _, rest = claim.subject.partition(":")
        events = intake.in_order(_events(claim))
        repository = self._note(events)
        match kind:
            case "thread":
                repository_id, number = (int(part) for part in rest.split(":"))
                return self._thread(claim, hold, repository, (repository_id, number), events)
            case "person":
                repository_id, person_id = (int(part) for part in rest.split(":"))
                return self._person(claim, repository_id, person_id)
            case "repository":
                return self._repository(repository, int(rest), events)
            case _:
                return Outcome("not ours")

    def _note(self, events: Iterable[Event]) -> RepositoryRow | None:
        repository = None
        for event in events:
            repository = intake.note_repository(self._store, event)
            intake.note_people(self._store, event)
            intake.note_acts(self._store, event)
        return repository

    def _governed(self, repository: RepositoryRow) -> tuple[Governed, Forge]:
        forge = self._forge(repository.installation_id)
        governed = repo_policy.govern(self._store, forge, repository, now=self._clock())
        return governed, forge

    def _thread(
        self,
        claim: Claim,
        hold: Callable[[], None],
        repository: RepositoryRow | None,
        place: tuple[int, int],
        events: Sequence[Event],
    ) -> Outcome:
        repository_id, number = place
        repository = repository or self._store.repository(repository_id)
        if repository is None:
            return Outcome("no repository")
        governed, forge = self._governed(repository)
        thread = self._store.thread(repository_id, number)
        hand = actions.Hand(self._store, forge, governed.ref, hold, self._clock)
        if thread is not None:
            actions.reconcile(hand, thread, corrections.taken_off(events))
        for event in events:
            thread = intake.note_thread(thread, event)
            if thread is not None:
                corrections.hear(self._store, governed.policy, thread, event)
        if thread is None:
            return Outcome("no thread")
        self._store.save_thread(thread)
        nudges = self._commenters(claim, governed, thread, events)
        acts = self._store.acts_of_thread(repository_id, number)
        held = self._held(repository_id, acts)
        wanted: frozenset[LabelKind] = frozenset({"burst"} if held else ())
        if thread.kind == "pull":
            if self._read(forge, governed.ref, thread, events):
                acts = self._store.acts_of_thread(repository_id, number)  # the reading told of more
            thread.waiting_since = record.waiting_since(thread, acts)
            thread.checks = dossier.checks(thread, acts)
            evaluation = self._evaluate(governed, thread)
            wanted |= evaluation.decision.labels
            self._act(hand, governed, thread, evaluation, wanted, held)
            if any(event.why in {"opened", "pushed"} for event in events):
                repo_policy.check_proposal(forge, governed, thread)
            return Outcome(evaluation.decision.lane, nudges)
        self._act(hand, governed, thread, None, wanted, held)
        return Outcome("held" if held else "noted", nudges)

    def _evaluate(self, governed: Governed, thread: ThreadRow) -> Evaluation:
        with self._store.snapshot():
            facts = dossier.pull_request(self._store, governed.row, governed.policy, thread, now=self._clock())
            standing = record.standing(thread, open_here=self._open_here(governed.policy, thread))
        evaluation = evaluate(facts, governed.policy, self._classifier, standing)
        VERDICTS.labels(lane=evaluation.decision.lane).inc()
        return evaluation

    def _act(
        self,
        hand: actions.Hand,
        governed: Governed,
        thread: ThreadRow,
        evaluation: Evaluation | None,
        wanted: frozenset[LabelKind],
        held: Sequence[ActRow],
    ) -> None:
        concerned = wanted or thread.labelled or thread.kept_off
        past = self._store.changes(thread.repository_id, thread.number) if concerned else ()
        changes = actions.plan(governed.policy, thread, wanted, held=held, past=past, now=self._clock())
        if governed.row.archived:  # nothing can be written there until it is opened again
            changes = []
        actions.let_go(thread, changes)
        hand.hold()
        if evaluation is not None:
            record.record_thread(self._store, thread, evaluation, changes, now=self._clock())
        elif changes:
            self._store.want(changes, thread)
        if changes:
            self._spend(thread.installation_id, len(changes))
            actions.apply(hand, thread)
            GITHUB_UP.set(1)

    def _read(self, forge: Forge, ref: RepositoryRef, thread: ThreadRow, events: Sequence[Event]) -> bool:
        """Read what the deliveries cannot tell: everything at first sight, the diff after a push, else nothing.

        Returns whether something was read.
        """
        try:
            read = self._read_missing(forge, ref, thread, events)
        except Gone as error:  # deleted meanwhile: what its deliveries told is all there is
            log.warning("pull request not read", repository=ref.id, number=thread.number, reason=str(error))
            return False
        if read:
            GITHUB_UP.set(1)
            thread.read_sha = thread.head_sha or "read"
            self._store.save_thread(thread)
            intake.take_checks(self._store, thread)
        return read

    def _read_missing(self, forge: Forge, ref: RepositoryRef, thread: ThreadRow, events: Sequence[Event]) -> bool:
        if thread.read_sha is None and any(event.why in FIRST_SIGHT for event in events):
            self._spend(thread.installation_id, OPENING_REQUESTS)
            self._take_opening(thread, forge.opening(ref, thread.number, thread.author))
        elif thread.read_sha is not None and thread.head_sha not in {None, thread.read_sha}:
            self._spend(thread.installation_id, CHANGES_REQUESTS)
            _take_changes(thread, forge.changes(ref, thread.number))
        else:
            return False
        return True

    def _take_opening(self, thread: ThreadRow, opening: Opening) -> None:
        _take_changes(thread, opening.changes)
        author = opening.author
        if author is not None and thread.author_id is not None:
            thread.merged_here, thread.closed_here = author.merged_here, author.closed_here
            history = None if author.activity is None else [dossier.activity_to_store(one) for one in author.activity]
            self._store.set_history(thread.author_id, dossier.seconds(author.created_at), history, self._clock())
        intake.note_timeline(self._store, thread, opening.timeline or ())

    def _open_here(self, policy: Policy, thread: ThreadRow) -> int | None:
        if policy.limits.open_pull_requests is None or thread.author_id is None:
            return None
        mine = self._store.threads(repository_id=thread.repository_id)
        return sum(one.kind == "pull" and one.author_id == thread.author_id for one in mine)

    # --- commenters -------------------------------------------------------------

    def _commenters(
        self, claim: Claim, governed: Governed, thread: ThreadRow, events: Sequence[Event]
    ) -> tuple[Nudge, ...]:
        """Return the people to be judged because of what they said here; the policy's trusted ones are left alone."""
        policy = governed.policy
        spoke = {
            act.actor.id
            for event in events
            for act in event.acts
            if act.actor is not None
            and act.actor.type != "Bot"
            and act.kind in {"comment", "review", "pull_request", "issue"}
            and act.association not in policy.exempt.associations
        }
        keys = [f"person:{thread.repository_id}:{person}" for person in sorted(spoke)]
        return tuple((key, claim.installation_id) for key in keys)

    def _person(self, claim: Claim, repository_id: int, person_id: int) -> Outcome:
        repository, person = self._store.repository(repository_id), self._store.person(person_id)
        if repository is None or person is None:
            return Outcome("nobody")
        governed, _ = self._governed(repository)
        with self._store.snapshot():
            facts = dossier.commenter(self._store, governed.row, governed.policy, person, now=self._clock())
        evaluation = evaluate(facts, governed.policy, self._classifier)
        known = self._known_flood(claim, repository_id, person_id)
        record.record_person(self._store, repository_id, person, evaluation, now=self._clock())
        hit = evaluation.decision.flood
        lane = evaluation.decision.lane
        if lane != "burst" or hit is None:
            return Outcome(lane)
        # The threads that the flood hit are looked at again: those it hit before it was one carry no label yet.
        anew = record.hit_anew(hit, known, facts.timeline or ())
        threads = [f"thread:{repository_id}:{number}" for number in anew]
        return Outcome(lane, tuple((key, repository.installation_id) for key in threads))

    def _known_flood(self, claim: Claim, repository_id: int, person_id: int) -> Mapping[str, Any] | None:
        """Return the flood whose threads were rung for already.

        The rings go out when a job ends, and a wait ends with it: a verdict of this same wait was recorded by a job
        that never ended, and rang for nobody.
        """
        last = self._store.last_verdict(repository_id, person_id=person_id)
        if last is None or last.lane != "burst" or last.at >= claim.waiting_since:
            return None
        flood: Mapping[str, Any] | None = last.verdict.get("flood")
        return flood

    def _held(self, repository_id: int, acts: Sequence[ActRow]) -> list[ActRow]:
        """Return the acts on a thread that belong to a flood by somebody."""
        people = {act.actor_id for act in acts if act.actor_id is not None and act.actor_type != "Bot"}
        held = []
        for person in sorted(people):
            last = self._store.last_verdict(repository_id, person_id=person)
            hit = last.verdict.get("flood") if last is not None and last.lane == "burst" else None
            if hit is not None:
                own = (act for act in acts if act.actor_id == person)
                held += [act for act in own if record.within(act.at, hit["spans"])]
        return held

    # --- repositories -----------------------------------------------------------

    def _repository(self, repository: RepositoryRow | None, repository_id: int, events: Sequence[Event]) -> Outcome:
        repository = repository or self._store.repository(repository_id)
        if repository is None:
            return Outcome("no repository")
        nudges: list[Nudge] = []
        for event in events:
            if event.why == "policy":
                nudges += self._policy_changed(repository)
            elif event.why == "checked":
                threads = intake.note_checks(self._store, event)
                nudges += [(f"thread:{repository_id}:{one.number}", one.installation_id) for one in threads]
        return Outcome("noted", tuple(nudges))

    def _policy_changed(self, repository: RepositoryRow) -> list[Nudge]:
        """Read the policy again: of this repository, or of all its owner's when it is the owner's ``.github``.

        Returns the open pull requests of those where it changed: whom a new policy exempts loses the label at once.
        """
        owner, _, name = repository.full_name.partition("/")
        told = [repository]
        if name == ".github":
            told = [row for row in self._store.repositories() if row.full_name.partition("/")[0] == owner]
        nudges: list[Nudge] = []
        for row in told:
            new = repo_policy.read_policy(self._store, self._forge(row.installation_id), row, now=self._clock())
            if new.policy_text != row.policy_text:
                open_here = self._store.threads(repository_id=row.id)
                nudges += [(f"thread:{row.id}:{one.number}", row.installation_id) for one in open_here]
        return nudges


def _take_changes(thread: ThreadRow, changes: Changes) -> None:
    thread.truncated = changes.truncated
    if changes.files is not None:
        thread.files = [dossier.file_to_store(file) for file in changes.files]
    if changes.commits is not None:
        thread.commits = [dossier.commit_to_store(commit) for commit in changes.commits]


def _events(claim: Claim) -> Iterable[Event]:
    for row in claim.deliveries:
        if row.body is None:
            continue
        try:
            event = parse(row.event, row.body)
        except NotJson:  # the door parsed it once: only a damaged database gets here
            log.warning("kept delivery is unreadable", delivery=row.guid)
            continue
        if event is not None:
            yield event
