"""How much do the readings say, in nats, to each of the two questions?

Additive, so that every explanation is exact: log-odds = intercept + the sum of the contributions. Contributions are
rounded to 1e-6 nat before they are summed, so that what is shown is what was added.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from models.learned.classifier import FAMILY_CAP, Classifier, Term
from triage.evidence import FAMILIES, Family, Head, Reading, Signal
from triage.facts import Facts
from triage.signals import ALL

NAT_DIGITS: Final = 6
P_DIGITS: Final = 12  # finer than any use, coarser than the difference between two C libraries' exp


@dataclass(frozen=True, slots=True)
class Contribution:
    """One signal's reading with the nats it adds to each head, after the caps. ``counted`` is false in the shadow."""

    signal: Signal
    reading: Reading
    agent: float
    unreviewed: float
    counted: bool

    @property
    def weight(self) -> float:
        """The nats to the signal's first head: the one number where one is shown."""
        return self.agent if "agent" in self.signal.heads else self.unreviewed


@dataclass(frozen=True, slots=True)
class Score:
    """Two log-odds in nats with all that they were added from."""

    contributions: tuple[Contribution, ...]
    agent: float
    unreviewed: float
    human_p_value: float | None
    classifier: Classifier

    @property
    def p_agent(self) -> float:
        """How likely an agent wrote it."""
        return logistic(self.agent)

    @property
    def p_unreviewed(self) -> float:
        """How likely no person reviewed it."""
        return logistic(self.unreviewed)

    def family(self, family: Family, head: Head) -> float:
        """Return one family's nats to one head."""
        members = (one for one in self.contributions if one.signal.family == family)
        return nats(math.fsum(one.agent if head == "agent" else one.unreviewed for one in members))

    @property
    def families(self) -> Mapping[Family, float]:
        """Each family's nats to the head that it moves most."""
        return {
            family: max(self.family(family, "agent"), self.family(family, "unreviewed"), key=abs) for family in FAMILIES
        }

    def value(self, signal: str) -> float | None:
        """Return one signal's value, ``None`` when unknown or not read for this subject."""
        return next((one.reading.value for one in self.contributions if one.signal.name == signal), None)


def nats(value: float) -> float:
    """Round to the grid that contributions are added on; never minus zero."""
    return round(value, NAT_DIGITS) + 0.0


def logistic(log_odds: float) -> float:
    """Turn log-odds in nats into a probability."""
    if log_odds >= 0:
        return round(1.0 / (1.0 + math.exp(-log_odds)), P_DIGITS)
    odds = math.exp(log_odds)
    return round(odds / (1.0 + odds), P_DIGITS)


def score(facts: Facts, classifier: Classifier) -> Score:
    """Read every signal that fits the subject and add up what the classifier gives for it."""
    read = [(signal, signal.read(facts)) for signal in ALL if facts.subject in signal.subjects]
    raw = [_contribution(signal, reading, classifier.terms.get(signal.name)) for signal, reading in read]
    sums = {family: _sums([one for one in raw if one.signal.family == family]) for family in FAMILIES}
    contributions = tuple(_capped(one, *sums[one.signal.family]) for one in raw)
    agent = nats(math.fsum([classifier.intercept_agent, *(one.agent for one in contributions)]))
    unreviewed = nats(math.fsum([classifier.intercept_unreviewed, *(one.unreviewed for one in contributions)]))
    # The reference holds pull requests only: there is no honest number for a commenter.
    human = classifier.human.p_value(agent) if facts.subject == "pull_request" else None
    return Score(contributions, agent, unreviewed, human, classifier)


def _contribution(signal: Signal, reading: Reading, term: Term | None) -> Contribution:
    # Weights learned for another meaning of the signal are no weights.
    counted = term is not None and term.revision == signal.revision and bool(signal.heads)
    if term is None or not counted or reading.value is None:
        return Contribution(signal, reading, 0.0, 0.0, counted)
    agent, unreviewed = term.contributions(reading.value)
    agent = agent if "agent" in signal.heads else 0.0
    unreviewed = unreviewed if "unreviewed" in signal.heads else 0.0
    if signal.family == "identity":  # identity only clears, never accuses
        agent, unreviewed = min(agent, 0.0), min(unreviewed, 0.0)
    return Contribution(signal, reading, nats(agent), nats(unreviewed), counted)


def _sums(members: list[Contribution]) -> tuple[float, float]:
    return math.fsum(one.agent for one in members), math.fsum(one.unreviewed for one in members)


def _capped(one: Contribution, agent_sum: float, unreviewed_sum: float) -> Contribution:
    """Shrink a family that passes its cap in proportion, so that the shown parts still add up."""
    agent, unreviewed = _shrink(one.agent, agent_sum), _shrink(one.unreviewed, unreviewed_sum)
    return Contribution(one.signal, one.reading, agent, unreviewed, one.counted)


def _shrink(part: float, total: float) -> float:
    return part if abs(total) <= FAMILY_CAP else nats(part * FAMILY_CAP / abs(total))
