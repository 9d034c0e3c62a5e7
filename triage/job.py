"""What becomes of one subject once a worker holds it: judged and let go, put back, or given up; never lost."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import structlog

from models.recorded.database import DatabaseError
from models.recorded.deliveries import Claim, Deliveries, LeaseLost
from triage.forge.port import ForgeError, Suspended, Unavailable
from triage.metrics import GITHUB_UP, JUDGE_SECONDS
from triage.walk import Outcome, Walk

log = structlog.get_logger(__name__)

FIRST_WAIT: Final = 5.0  # seconds before the second try; doubled with every further one
LONGEST_WAIT: Final = 600.0  # seconds
SUSPENDED_WAIT: Final = 3600.0  # seconds
MOST_ATTEMPTS: Final = 8  # of our own faults; an unreachable forge is waited for without end


class Judge:
    """Judges claims under leases of ``lease`` seconds; whoever is to be judged next settles for ``settle`` seconds.

    ``wake`` rings for them, ``clock`` gives seconds since 1970. Threads may share one judge.
    """

    def __init__(
        self,
        deliveries: Deliveries,
        walk: Walk,
        *,
        lease: float,
        settle: float,
        wake: Callable[[Sequence[str]], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._deliveries = deliveries
        self._walk = walk
        self._lease = lease
        self._settle = settle
        self._wake = wake
        self._clock = clock
        self._held: dict[str, Claim] = {}

    def judge(self, subject: str, owner: str) -> float | None:
        """Judge a subject if it waits and nobody holds it; returns when it wants to be judged again (seconds).

        Raises
        ------
        DatabaseError
            When the database cannot answer: the lease runs out and the sweep rings again.
        """
        claim = self._deliveries.claim(subject, owner, now=self._clock(), lease=self._lease)
        if claim is None:
            return None
        with JUDGE_SECONDS.time(), self._holding(claim):
            try:
                outcome = self._walk.walk(claim)
            except DatabaseError:
                raise
            except Exception as error:  # noqa: BLE001 - whatever it is, nothing of the claim may be lost
                return self._put_back(claim, error)
            return self._let_go(claim, outcome)

    @contextmanager
    def _holding(self, claim: Claim) -> Iterator[None]:
        self._held[claim.token] = claim
        try:
            yield
        finally:
            del self._held[claim.token]

    def beat(self) -> None:
        """Renew the leases of what is being judged now, so that a lease can be short; call it thrice a lease."""
        for claim in list(self._held.values()):
            try:
                self._deliveries.renew(claim, until=self._clock() + self._lease)
            except DatabaseError as error:
                log.warning("lease not renewed", subject=claim.subject, reason=str(error))

    def _let_go(self, claim: Claim, outcome: Outcome) -> float | None:
        now = self._clock()
        words = {row.id: outcome.word for row in claim.deliveries}
        try:
            again = self._deliveries.finish(claim, words, now=now, nudges=outcome.nudges, nudge_due=now + self._settle)
        except LeaseLost:  # the one who took over finds everything recorded and changes nothing twice
            log.warning("lease lost", subject=claim.subject)
            return None
        if outcome.nudges:
            self._wake([subject for subject, _ in outcome.nudges])
        return again

    def _put_back(self, claim: Claim, error: Exception) -> float | None:
        now = self._clock()
        ours = not isinstance(error, Unavailable | Suspended)
        reason = f"{type(error).__name__}: {error}" if isinstance(error, ForgeError) else type(error).__name__
        told = {"subject": claim.subject, "deliveries": [row.guid for row in claim.deliveries], "reason": reason}
        if ours:
            log.error("judging failed", **told, exc_info=error)
        else:
            log.warning("judging waits", **told)
        if ours and claim.attempts + 1 >= MOST_ATTEMPTS:
            self._deliveries.give_up(claim, now=now, error=reason)
            return None
        due_at = now + _wait(claim, error)
        self._deliveries.give_back(claim, now=now, due_at=due_at, error=reason, counts=True)
        return due_at


def _wait(claim: Claim, error: Exception) -> float:
    """Return how long to wait before the next try, in seconds."""
    if isinstance(error, Suspended):
        return SUSPENDED_WAIT
    growing = min(FIRST_WAIT * 2.0 ** min(claim.attempts, 16), LONGEST_WAIT)
    if isinstance(error, Unavailable):
        GITHUB_UP.set(0)
        return max(growing, error.retry_after or 0.0)
    return growing
