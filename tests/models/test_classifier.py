"""The classifier against its definitions, counted out the slow way."""

import math
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from made_scores import classifier

from models.learned.classifier import CONTRIBUTION_CAP, HumanScores, Term, WeightsError, load, needed, parse
from triage.signals import ALL

PEOPLE = st.lists(st.integers(-8, 8).map(lambda step: step / 4), min_size=1, max_size=400)
ALPHAS = st.sampled_from([0.001, 0.005, 0.01, 0.05, 0.2])


def human(people: Iterable[float]) -> HumanScores:
    return classifier(people=tuple((one, 1) for one in people)).human


@given(PEOPLE, st.integers(-10, 10).map(lambda step: step / 4))
def test_the_p_value_counts_people_at_least_so_agent_like(people: list[float], score: float) -> None:
    above = sum(one >= score for one in people)
    assert human(people).p_value(score) == (1 + above) / (len(people) + 1)


@given(PEOPLE, ALPHAS)
@example([0.0] * 299, 0.01)
@example([0.0] * 298, 0.01)
def test_the_threshold_is_the_lowest_score_that_keeps_the_promise(people: list[float], alpha: float) -> None:
    """At it the p-value is at most alpha, at every person's score below it is more; so few people promise nothing."""
    known = human(people)
    threshold = known.threshold(alpha)
    if (1 - alpha) ** len(people) > 0.05:
        assert threshold is None
        return
    assert threshold is not None
    assert known.p_value(threshold) <= alpha
    assert all(known.p_value(one) > alpha for one in people if one < threshold)


@given(PEOPLE)
def test_scores_that_are_counted_together_or_apart_are_the_same(people: list[float]) -> None:
    together = classifier(people=tuple((one, people.count(one)) for one in sorted(set(people)))).human
    for score in {*people, -9.0, 9.0}:
        assert together.p_value(score) == human(people).p_value(score)


def test_how_many_people_a_promise_needs() -> None:
    """The figures of Tong, Feng and Li for a promise that is broken in at most one calibration set of twenty."""
    assert [needed(alpha) for alpha in (0.01, 0.005, 0.001)] == [299, 598, 2995]


@given(st.floats(-1e6, 1e6), st.floats(-50, 50), st.floats(0.01, 10), st.floats(-5, 5))
def test_one_signal_never_says_more_than_its_cap(value: float, mean: float, scale: float, weight: float) -> None:
    term = Term("bullet_share", 1, -10.0, 10.0, mean, scale, weight, None, "made")
    agent, unreviewed = term.contributions(value)
    assert abs(agent) <= CONTRIBUTION_CAP
    assert unreviewed == 0.0
    assert term.contributions(10.0) == term.contributions(1e9)  # beyond the range it says no more


def test_the_weights_that_ship_give_every_term_its_reason_and_signal() -> None:
    shipped = load()
    signals = {signal.name: signal for signal in ALL}
    assert shipped.terms.keys() <= signals.keys()
    for name, term in shipped.terms.items():
        assert term.reason
        assert term.revision == signals[name].revision
        for head in ("agent", "unreviewed"):
            assert getattr(term, head) is None or head in signals[name].heads, (name, head)
    assert shipped.human.n >= needed(0.001)
    assert math.isfinite(shipped.intercept_agent)


def changed(**change: Any) -> dict[str, Any]:
    given = {
        "name": "x",
        "intercept": {"agent": 0.0, "unreviewed": 0.0},
        "terms": [],
        "human_scores": {"counts": [[0.0, 1]], "note": ""},
    }
    return given | change


TERM = {"signal": "a", "revision": 1, "low": 0, "high": 1, "mean": 0, "agent": 1, "unreviewed": None, "reason": "r"}


@pytest.mark.parametrize(
    "terms", [[{**TERM, "scale": 0}], [{**TERM, "scale": 1, "low": 2}], [{**TERM, "scale": 1}, {**TERM, "scale": 1}]]
)
def test_weights_that_make_no_sense_are_refused(terms: list[dict[str, Any]]) -> None:
    with pytest.raises(ValueError, match=r"scale|two terms"):
        parse(changed(terms=terms))


def test_absent_weights_are_named() -> None:
    with pytest.raises(WeightsError, match=r"weights/none-such\.json"):
        load("none-such")
