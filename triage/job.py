"""What becomes of one subject once a worker holds it: judged and let go, put back, or given up; never lost."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import structlog

from models.recorded.database import DatabaseError, DatabaseUnavailable
from models.recorded.deliveries import Claim, Deliveries, LeaseLost
from triage.forge.port import ForgeError, Suspended, Unavailable
from triage.metrics import GITHUB_UP, JUDGE_SECONDS
from triage.walk import Outcome, Walk

log = structlog.get_logger(__name__)

FIRST_WAIT: Final = 5.0  # seconds before the second try; doubled with every further one
LONGEST_WAIT: Final = 600.0  # seconds
SUSPENDED_WAIT: Final = 3600.0  # seconds
MOST_DEATHS: Final = 8  # of workers, one after the other on the same subject
MOST_ATTEMPTS: Final = 8  # of our own faults; an unreachable forge is waited for without end


@dataclass(slots=True)
class Held:
    """A claim being judged now, and until when nobody else can take it (seconds since 1970)."""

    claim: Claim
    until: float


class Judge:
    """Judges claims under leases of ``lease`` seconds; whoever is to be judged next settles for ``settle`` seconds.

    ``wake`` rings for them, ``first_wait`` is the wait in seconds before a second try, ``clock`` gives seconds since
    1970. Threads may share one judge.
    """

    def __init__(
        self,
        deliveries: Deliveries,
        walk: Walk,
        *,
        lease: float,
        settle: float,
        wake: Callable[[Sequence[str]], None],
        first_wait: float = FIRST_WAIT,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._deliveries = deliveries
        self._walk = walk
        self._lease = lease
        self._settle = settle
        self._wake = wake
        self._first_wait = first_wait
        self._clock = clock
        self._held: dict[str, Held] = {}

    def judge(self, subject: str, owner: str) -> float | None:
        """Judge a subject if it waits and nobody holds it; returns when it wants to be judged again (seconds).

        Raises
        ------
        DatabaseError
            When the database cannot answer: the lease runs out and the sweep rings again.
        """
        now = self._clock()
        claim = self._deliveries.claim(subject, owner, now=now, lease=self._lease)
        if claim is None:
            return None
        if claim.deaths >= MOST_DEATHS:  # whatever it holds ends the process: it must not take the others along
            log.error("judging kills the worker", subject=subject, deliveries=[row.guid for row in claim.deliveries])
            self._deliveries.give_up(claim, now=now, error=f"{claim.deaths} workers died judging it")
            return None
        with JUDGE_SECONDS.time(), self._holding(claim, now + self._lease) as held:
            try:
                outcome = self._walk.walk(claim, lambda: self._hold(held))
                return self._let_go(claim, outcome)
            except DatabaseUnavailable:
                raise
            except LeaseLost:  # the one who took over finds everything recorded and changes nothing twice
                log.warning("lease lost", subject=claim.subject)
                return None
            except Exception as error:  # noqa: BLE001 - whatever it is, nothing of the claim may be lost
                return self._put_back(claim, error)

    @contextmanager
    def _holding(self, claim: Claim, until: float) -> Iterator[Held]:
        held = self._held[claim.token] = Held(claim, until)
        try:
            yield held
        finally:
            del self._held[claim.token]

    def _hold(self, held: Held) -> None:
        """Make sure that the claim is still ours; a worker that slept through its lease must not change anything."""
        if self._clock() < held.until:
            return
        if not self._renew(held):
            raise LeaseLost(held.claim.subject)

    def _renew(self, held: Held) -> bool:
        until = self._clock() + self._lease
        renewed = self._deliveries.renew(held.claim, until=until)
        held.until = until if renewed else 0.0
        return renewed

    def beat(self) -> None:
        """Renew the leases of what is being judged now, so that a lease can be short; call it thrice a lease."""
        for held in list(self._held.values()):
            try:
                self._renew(held)
            except DatabaseError as error:
                log.warning("lease not renewed", subject=held.claim.subject, reason=str(error))

    def _let_go(self, claim: Claim, outcome: Outcome) -> float | None:
        now = self._clock()
        words = {row.id: outcome.word for row in claim.deliveries}
        again = self._deliveries.finish(claim, words, now=now, nudges=outcome.nudges, nudge_due=now + self._settle)
        if outcome.nudges:
            self._wake([subject for subject, _ in outcome.nudges])
        return again

    def _put_back(self, claim: Claim, error: Exception) -> float | None:
        now = self._clock()
        ours = not isinstance(error, Unavailable | Suspended)
        told = isinstance(error, ForgeError | DatabaseError)  # their messages hold no secret and no body
        reason = f"{type(error).__name__}: {error}" if told else type(error).__name__
        about = {"subject": claim.subject, "deliveries": [row.guid for row in claim.deliveries], "reason": reason}
        if ours:
            log.error("judging failed", **about, exc_info=error)
        else:
            log.warning("judging waits", **about)
        # After an hour without GitHub the first fault of ours is not the last try: it must have come twice in a row.
        if ours and claim.attempts + 1 >= MOST_ATTEMPTS and claim.error == reason:
            self._deliveries.give_up(claim, now=now, error=reason)
            return None
        due_at = now + self._wait(claim, error)
        self._deliveries.give_back(claim, now=now, due_at=due_at, error=reason, counts=True)
        return due_at

    def _wait(self, claim: Claim, error: Exception) -> float:
        """Return how long to wait before the next try, in seconds."""
        if isinstance(error, Suspended):
            return SUSPENDED_WAIT
        growing = min(self._first_wait * 2.0 ** min(claim.attempts, 16), LONGEST_WAIT)
        if isinstance(error, Unavailable):
            GITHUB_UP.set(0)
            return max(growing, error.retry_after or 0.0)
        return growing
