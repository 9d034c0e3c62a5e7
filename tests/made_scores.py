"""Scores and classifiers made for tests, so that no test of a rule depends on the weights that ship."""

from dataclasses import replace
from typing import Any, Final

from models.learned.classifier import Classifier, parse
from triage.evidence import Family, Head, Reading, Signal
from triage.facts import Author, Facts, PullRequest
from triage.score import Contribution, Score, nats

BOTH: Final[tuple[Head, ...]] = ("agent", "unreviewed")
# 3,000 people: 1 % and 0.5 % allow ten of them and begin at 1 nat, 0.1 % allows one and begins at 2.
PEOPLE: Final = ((0.0, 2990), (1.0, 9), (2.0, 1))


def classifier(
    *terms: dict[str, Any],
    people: tuple[tuple[float, int], ...] = PEOPLE,
    intercept: tuple[float, float] = (-0.8, -0.5),
) -> Classifier:
    """Make a classifier; a term may leave out everything but its signal and its weights."""
    given = {"revision": 1, "low": -100.0, "high": 100.0, "mean": 0.0, "scale": 1.0, "agent": None, "unreviewed": None}
    return parse(
        {
            "name": "made",
            "intercept": {"agent": intercept[0], "unreviewed": intercept[1]},
            "terms": [{**given, "reason": "made for a test", **term} for term in terms],
            "human_scores": {"counts": [list(one) for one in people], "note": "made for a test"},
        }
    )


def said(
    family: Family, agent: float = 0.0, unreviewed: float = 0.0, *, name: str | None = None, value: float | None = 1.0
) -> Contribution:
    """Make one contribution of a family."""
    signal = Signal(name or f"{family}_said", family, BOTH, "A", lambda _: Reading(value, 1, "Made for a test."))
    return Contribution(signal, Reading(value, 1, "Made for a test."), agent, unreviewed, counted=True)


def scored(*contributions: Contribution, by: Classifier | None = None) -> Score:
    """Add contributions up."""
    made = by or classifier()
    agent = nats(made.intercept_agent + sum(one.agent for one in contributions))
    unreviewed = nats(made.intercept_unreviewed + sum(one.unreviewed for one in contributions))
    return Score(tuple(contributions), agent, unreviewed, made.human.p_value(agent), made)


def pull(author: dict[str, Any] | None = None, **change: Any) -> Facts:
    """Make the facts of a pull request by somebody whom nobody exempts."""
    someone = replace(Author(login="someone", type="User", association="NONE", merged_here=0), **(author or {}))
    sent = replace(PullRequest(title="Fix a", body="It was 1.", draft=False), **change)
    return Facts(repo="acme/widgets", number=7, author=someone, pull_request=sent)
