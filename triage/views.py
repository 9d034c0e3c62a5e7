"""What the pages, the API and the terminal show: the read model, frozen and computed here alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from models.recorded.deliveries import Deliveries, Trouble
from models.recorded.store import Store
from models.recorded.tables import RepositoryRow, ThreadRow, VerdictRow
from triage.decide import LANES, Lane

TITLES: Final[Mapping[Lane, str]] = {
    "live_person": "Live people",
    "unsure": "Not enough evidence yet",
    "disclosed": "Agent use disclosed",
    "likely_unreviewed": "Author's review not seen",
    "burst": "Bursts on hold",
    "exempt": "Exempt",
}
REASONS_SHOWN: Final = 2
SAYS_SOMETHING: Final = 0.2  # nats; what weighs less explains no place in the queue
FLOODS_SHOWN: Final = 7 * 86400.0  # seconds
REFUSALS_SHOWN: Final = 86400.0  # seconds; after it a refused label is tried again


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One open pull request. Times in seconds since 1970; no ``waiting_since``: it is the author's turn."""

    repo: str
    number: int
    title: str
    url: str
    author: str | None
    created_at: float | None
    waiting_since: float | None
    lane: Lane
    quick_win: bool
    draft: bool
    reasons: tuple[str, ...]
    labels: tuple[str, ...]
    p_agent: float | None
    p_unreviewed: float | None
    additions: int | None
    deletions: int | None


@dataclass(frozen=True, slots=True)
class QueueLane:
    """One lane of the queue, the longest wait first."""

    name: Lane
    title: str
    rows: tuple[QueueRow, ...]


@dataclass(frozen=True, slots=True)
class FloodRow:
    """One account that did so much in so short a time that its threads here carry the burst label. Times as above."""

    repo: str
    login: str | None
    count: int
    threads: tuple[int, ...]
    first_at: float
    last_at: float


@dataclass(frozen=True, slots=True)
class Health:
    """How the work stands: what waits, what failed, what GitHub refused of late, whose policy files have problems."""

    waiting: int
    failed: int
    oldest_at: float | None
    troubles: tuple[Trouble, ...] = ()
    policy_errors: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Queue:
    """The whole queue as of a moment (seconds since 1970)."""

    as_of: float
    lanes: tuple[QueueLane, ...]
    health: Health
    floods: tuple[FloodRow, ...] = ()


@dataclass(frozen=True, slots=True)
class PullPage:
    """One pull request with its verdict (product.md 6) and the changes of lane before it, newest first."""

    row: QueueRow
    verdict: Mapping[str, Any] | None


def queue(store: Store, deliveries: Deliveries, *, web_url: str, now: float) -> Queue:
    """Lay out every open pull request by lane."""
    repositories = {row.id: row for row in store.repositories()}
    threads = [row for row in store.threads() if row.kind == "pull" and row.repository_id in repositories]
    verdicts = store.verdicts([row.verdict_id for row in threads if row.verdict_id is not None])
    by_lane: dict[str, list[QueueRow]] = {lane: [] for lane in LANES}
    for thread in threads:
        verdict = verdicts.get(thread.verdict_id) if thread.verdict_id is not None else None
        row = _row(repositories[thread.repository_id], thread, verdict, web_url)
        by_lane[row.lane].append(row)
    lanes = tuple(QueueLane(lane, TITLES[lane], tuple(sorted(by_lane[lane], key=_longest_first))) for lane in LANES)
    floods = tuple(_flood(repositories, row) for row in store.floods(now - FLOODS_SHOWN) if "flood" in row.verdict)
    return Queue(now, lanes, health(store, deliveries, repositories, now=now), floods)


def _flood(repositories: Mapping[int, RepositoryRow], row: VerdictRow) -> FloodRow:
    hit = row.verdict["flood"]
    return FloodRow(
        repo=repositories[row.repository_id].full_name if row.repository_id in repositories else "?",
        login=row.verdict["author"],
        count=hit["count"],
        threads=tuple(hit["threads"]),
        first_at=hit["first_at"],
        last_at=hit["last_at"],
    )


def health(store: Store, deliveries: Deliveries, repositories: Mapping[int, RepositoryRow], *, now: float) -> Health:
    """Tell how the work stands."""
    backlog = deliveries.backlog()
    broken = (row for row in repositories.values() if row.policy_error)
    return Health(
        waiting=backlog.waiting,
        failed=backlog.failed,
        oldest_at=backlog.oldest_at,
        troubles=tuple(deliveries.troubles()),
        policy_errors=tuple(f"{row.full_name}: {row.policy_error}" for row in broken),
        refusals=tuple(
            f"{repositories[key].full_name}: {why} ({count} {'change' if count == 1 else 'changes'})"
            for key, why, count in store.refusals(now - REFUSALS_SHOWN)
            if key in repositories
        ),
    )


def pull(store: Store, full_name: str, number: int, *, web_url: str) -> PullPage | None:
    """Lay out one pull request, ``None`` when it is not known here."""
    repository = next((row for row in store.repositories() if row.full_name.lower() == full_name.lower()), None)
    thread = None if repository is None else store.thread(repository.id, number)
    if repository is None or thread is None or thread.kind != "pull":
        return None
    verdict = store.last_verdict(repository.id, number=number)
    return PullPage(_row(repository, thread, verdict, web_url), None if verdict is None else verdict.verdict)


def _row(repository: RepositoryRow, thread: ThreadRow, verdict: VerdictRow | None, web_url: str) -> QueueRow:
    said: Mapping[str, Any] = {} if verdict is None else verdict.verdict
    lane: Lane = thread.lane if thread.lane in LANES else "unsure"
    return QueueRow(
        repo=repository.full_name,
        number=thread.number,
        title=thread.title or "(no title)",
        url=f"{web_url}/{repository.full_name}/pull/{thread.number}",
        author=thread.author,
        created_at=thread.created_at,
        waiting_since=thread.waiting_since,
        lane=lane,
        quick_win=thread.quick_win,
        draft=bool(thread.draft),
        reasons=_strongest(said),
        labels=tuple(thread.labels),
        p_agent=said.get("p_agent"),
        p_unreviewed=said.get("p_unreviewed"),
        additions=thread.additions,
        deletions=thread.deletions,
    )


def _strongest(verdict: Mapping[str, Any]) -> tuple[str, ...]:
    evidence = verdict.get("evidence", ())
    weighed = [one for one in evidence if abs(one["weight"]) >= SAYS_SOMETHING or one["family"] == "disclosure"]
    sentences = [one["sentence"] for one in weighed if one["value"]]
    if not sentences or verdict.get("lane") in {"burst", "exempt"}:
        sentences = [*verdict.get("reasons", ()), *sentences]
    return tuple(sentences[:REASONS_SHOWN])


def _longest_first(row: QueueRow) -> tuple[bool, float, str, int]:
    waiting = row.waiting_since
    return waiting is None, waiting if waiting is not None else row.created_at or 0.0, row.repo, row.number
