"""Facts, policy and classifier to a verdict: the pure heart in one function."""

from dataclasses import dataclass
from typing import Any

from models.learned.classifier import Classifier
from triage.decide import Decision, Standing, decide
from triage.facts import Facts
from triage.policy import Policy
from triage.score import NAT_DIGITS, Contribution, Score, score

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One judged subject: what was seen, what it says, where it stands, and under which policy and weights."""

    facts: Facts
    score: Score
    decision: Decision
    policy: str
    model: str


def evaluate(facts: Facts, policy: Policy, classifier: Classifier, standing: Standing | None = None) -> Evaluation:
    """Judge one pull request or commenter.

    Deterministic: the same facts, policy, classifier and standing give the same evaluation, whenever and wherever.
    """
    scored = score(facts, classifier)
    decision = decide(facts, scored, policy, standing)
    return Evaluation(facts, scored, decision, policy.fingerprint, classifier.name)


def verdict(evaluation: Evaluation) -> dict[str, Any]:
    """Write an evaluation as the JSON of product.md 6, strongest evidence first.

    ``weight`` is the nats to the signal's first head, ``heads`` those to both; with ``intercept`` the latter add up to
    ``log_odds`` exactly. ``families`` holds each family's sum for the head that it moves most.
    """
    facts, scored, decision = evaluation.facts, evaluation.score, evaluation.decision
    known = [one for one in scored.contributions if one.reading.value is not None]
    known.sort(key=lambda one: (-abs(one.weight), one.signal.name))
    return {
        "schema": SCHEMA,
        "subject": facts.subject,
        "repo": facts.repo,
        "number": facts.number,
        "author": facts.author.login,
        "lane": decision.lane,
        "quick_win": decision.quick_win,
        "p_agent": scored.p_agent,
        "human_p_value": None if scored.human_p_value is None else round(scored.human_p_value, NAT_DIGITS),
        "p_unreviewed": scored.p_unreviewed,
        "log_odds": {"agent": scored.agent, "unreviewed": scored.unreviewed},
        "intercept": {
            "agent": scored.classifier.intercept_agent,
            "unreviewed": scored.classifier.intercept_unreviewed,
        },
        "families": dict(scored.families),
        "labels": sorted(decision.labels),
        "reasons": list(decision.reasons),
        "evidence": [_evidence(one) for one in known],
        "unknown": sorted(one.signal.name for one in scored.contributions if one.reading.value is None),
        "calibration": scored.classifier.human.note,
        "model": evaluation.model,
        "policy": evaluation.policy,
    }


def _evidence(one: Contribution) -> dict[str, Any]:
    value = one.reading.value
    return {
        "signal": one.signal.name,
        "family": one.signal.family,
        "value": None if value is None else round(value, NAT_DIGITS),
        "weight": one.weight,
        "heads": {"agent": one.agent, "unreviewed": one.unreviewed},
        "n": one.reading.n,
        "sentence": one.reading.sentence,
        "quote": one.reading.quote,
        "counted": one.counted,
    }


def readings(evaluation: Evaluation) -> dict[str, Any]:
    """Write every reading with its revision: what training may learn from, as it was when the decision was made."""
    return {
        one.signal.name: {"revision": one.signal.revision, "value": one.reading.value, "n": one.reading.n}
        for one in evaluation.score.contributions
    }
