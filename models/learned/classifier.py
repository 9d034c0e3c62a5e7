"""Which weights turn readings into two log-odds, and how people's pull requests score under them.

The classifier ships as JSON and is applied in plain Python, so that loading it runs no code and every contribution can
be read off a line.
"""

import json
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import accumulate
from typing import Any, Final

CONTRIBUTION_CAP: Final = 2.0  # nats, of one signal to one head
FAMILY_CAP: Final = 3.0  # nats, of one family to one head

# A promise of at most alpha false positives, broken in at most one calibration set of twenty: the highest of n scores
# is such a threshold when (1 - alpha)^n <= 0.05 (Tong, Feng and Li 2018, Neyman-Pearson order statistics).
_TOLERATED: Final = 0.05


class WeightsError(ValueError):
    """Weights that cannot be used; the message names the file and the entry."""


@dataclass(frozen=True, slots=True)
class Term:
    """One signal's part: ``weight * (clip(value, low, high) - mean) / scale`` nats to each head that has a weight.

    ``reason`` is the figure or the rule that a hand-set weight rests on, or where a learned one came from.
    """

    signal: str
    revision: int
    low: float
    high: float
    mean: float
    scale: float
    agent: float | None
    unreviewed: float | None
    reason: str

    def contributions(self, value: float) -> tuple[float, float]:
        """Return the nats that a value adds to (agent, unreviewed), each within the cap of one signal."""
        standard = (min(max(value, self.low), self.high) - self.mean) / self.scale
        return _capped(self.agent, standard), _capped(self.unreviewed, standard)


def _capped(weight: float | None, standard: float) -> float:
    if weight is None:
        return 0.0
    return min(max(weight * standard, -CONTRIBUTION_CAP), CONTRIBUTION_CAP)


@dataclass(frozen=True, slots=True)
class HumanScores:
    """Agent log-odds of people's pull requests: the reference that "reads more agent-like than" is said against.

    ``scores`` ascend, ``at_least[i]`` counts the people at or above ``scores[i]``. ``note`` says what the table holds.
    """

    scores: tuple[float, ...]
    at_least: tuple[int, ...]
    n: int
    note: str

    def p_value(self, score: float) -> float:
        """Return the conformal p-value (1 + people at least as agent-like) / (n + 1) of a log-odds in nats."""
        index = bisect_left(self.scores, score)
        above = self.at_least[index] if index < len(self.scores) else 0
        return (1 + above) / (self.n + 1)

    def threshold(self, alpha: float) -> float | None:
        """Return the lowest log-odds whose p-value is at most alpha, ``None`` when so few people cannot carry it."""
        if self.n < needed(alpha):
            return None
        allowed = math.floor(alpha * (self.n + 1)) - 1
        for score, above in zip(self.scores, self.at_least, strict=True):
            if above <= allowed:
                return score
        return math.nextafter(self.scores[-1], math.inf) if allowed >= 0 else None


def needed(alpha: float) -> int:
    """Return how many people's pull requests a promise needs: 299 for 1 %, 598 for 0.5 %, 2,995 for 0.1 %."""
    return math.ceil(math.log(_TOLERATED) / math.log1p(-alpha))


@dataclass(frozen=True, slots=True)
class Classifier:
    """Two additive heads over the signals' readings, with the human scores that calibrate the first."""

    name: str
    intercept_agent: float
    intercept_unreviewed: float
    terms: Mapping[str, Term]
    human: HumanScores


@cache
def load(name: str = "seed") -> Classifier:
    """Read the weights that ship under ``name``.

    Raises
    ------
    WeightsError
        When they are absent or malformed.
    """
    try:
        text = files("models.learned").joinpath("weights", f"{name}.json").read_text(encoding="utf-8")
        return parse(json.loads(text))
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise WeightsError(f"weights/{name}.json: {type(error).__name__}: {error}") from None


def parse(data: Mapping[str, Any]) -> Classifier:
    """Build a classifier from the JSON of a weights file."""
    terms = [Term(**term) for term in data["terms"]]
    if any(not term.scale > 0 or term.low > term.high for term in terms):
        raise ValueError("a term needs scale > 0 and low <= high")
    by_signal = {term.signal: term for term in terms}
    if len(by_signal) != len(terms):
        raise ValueError("a signal has two terms")
    people: Counter[float] = Counter()
    for score, count in data["human_scores"]["counts"]:  # a score in two rows would seem rarer than it is
        people[float(score)] += int(count)
    counts = sorted(people.items())
    at_least = list(accumulate(count for _, count in reversed(counts)))[::-1]
    human = HumanScores(
        scores=tuple(score for score, _ in counts),
        at_least=tuple(at_least),
        n=sum(count for _, count in counts),
        note=str(data["human_scores"]["note"]),
    )
    intercept = data["intercept"]
    return Classifier(
        name=str(data["name"]),
        intercept_agent=float(intercept["agent"]),
        intercept_unreviewed=float(intercept["unreviewed"]),
        terms=by_signal,
        human=human,
    )
