"""Every explanation is exact: the parts add up to what was decided, within the caps, and identity never accuses."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_scores import classifier, pull

from models.learned.classifier import CONTRIBUTION_CAP, FAMILY_CAP, load
from triage.evidence import FAMILIES, HEADS
from triage.facts import Activity, Author, ChangedFile, Facts, TimelineEvent
from triage.score import Score, logistic, score
from triage.signals import ALL

OPENED = datetime(2026, 11, 30, 9, tzinfo=UTC)
WEIGHTS = st.one_of(st.none(), st.floats(-5, 5).map(lambda one: round(one, 3)))
TERMS = st.fixed_dictionaries(
    {
        signal.name: st.fixed_dictionaries({"agent": WEIGHTS, "unreviewed": WEIGHTS, "mean": st.floats(-1, 1)})
        for signal in ALL
    }
)


def busy() -> Facts:
    """Make facts in which most signals can be read."""
    events = []
    for turn in range(8):
        asked = OPENED + timedelta(minutes=30 * (turn + 1))
        words = f"I looked at part {turn} of core.py and changed the value, because the test of the parser needs it."
        events.append(TimelineEvent(asked, "comment", "max", "User", False, f"And part {turn} of core.py?", number=7))
        events.append(TimelineEvent(asked + timedelta(minutes=7), "comment", "someone", "User", True, words, number=7))
    times = [OPENED - timedelta(hours=hours) for hours in range(40)]
    activity = tuple(Activity(at, "pull_request", f"other/r{n}", False, n) for n, at in enumerate(times))
    body = "\n".join(["## Summary", *(f"- **Part {n}**: all tests pass for `thing_{n}`." for n in range(8))])
    facts = pull(
        {"merged_here": 2, "marks": ("vouched",), "verified_domain": "work:example.com"},
        body=body,
        created_at=OPENED,
        additions=3,
        deletions=1,
        head_ref="claude/fix",
        files=(ChangedFile("PLAN.md", "added", 1, 0, "@@ -0,0 +1 @@\n+x"), ChangedFile("a.py", "modified", 2, 1, "")),
        commits=(),
    )
    return replace(facts, as_of=OPENED + timedelta(days=1), timeline=tuple(events), activity=activity)


def adds_up(found: Score) -> None:
    """Assert that the shown parts are all that there is."""
    for head, total in (("agent", found.agent), ("unreviewed", found.unreviewed)):
        intercept = getattr(found.classifier, f"intercept_{head}")
        parts = math.fsum([intercept, *(getattr(one, head) for one in found.contributions)])
        assert abs(parts - total) < 1e-9
        families = math.fsum([intercept, *(found.family(family, head) for family in FAMILIES)])
        assert abs(families - total) < 1e-9
        p = found.p_agent if head == "agent" else found.p_unreviewed
        if abs(total) < 6:
            assert abs(math.log(p / (1 - p)) - total) < 1e-9
        assert 0.0 <= p <= 1.0


def test_most_signals_are_read_here() -> None:
    """Else the tests below would say little."""
    assert sum(one.reading.value is not None for one in score(busy(), load()).contributions) > len(ALL) * 0.7


def test_the_shipped_weights_add_up() -> None:
    adds_up(score(busy(), load()))
    adds_up(score(pull(), load()))
    adds_up(score(Facts(), load()))


@settings(max_examples=60, deadline=None)
@given(TERMS, st.floats(-3, 3), st.floats(-3, 3))
def test_whatever_the_weights_the_parts_add_up_within_the_caps(
    terms: dict[str, dict[str, Any]], agent: float, unreviewed: float
) -> None:
    made = classifier(*({"signal": name, **term} for name, term in terms.items()), intercept=(round(agent, 6), 0.1))
    found = score(FACTS, made)
    adds_up(found)
    for one in found.contributions:
        assert abs(one.agent) <= CONTRIBUTION_CAP
        assert abs(one.unreviewed) <= CONTRIBUTION_CAP
        if one.signal.family == "identity":  # whatever was learned, identity only clears
            assert one.agent <= 0.0
            assert one.unreviewed <= 0.0
        for head in HEADS:
            if head not in one.signal.heads or one.reading.value is None:
                assert getattr(one, head) == 0.0
    for family in FAMILIES:
        for head in HEADS:
            assert abs(found.family(family, head)) <= FAMILY_CAP + 1e-5


FACTS = busy()


def test_a_family_at_its_cap_is_shared_out_in_proportion() -> None:
    names = ["reply_pace", "fast_reply_tail", "pace_spread"]
    made = classifier(*({"signal": name, "agent": 50.0} for name in names))
    found = score(FACTS, made)
    parts = {one.signal.name: one.agent for one in found.contributions if one.signal.name in names}
    assert sum(parts.values()) == pytest.approx(FAMILY_CAP, abs=1e-5)
    assert set(parts.values()) == {1.0}  # three times two nats, halved
    adds_up(found)


def test_unknown_weighs_nothing_and_is_not_zero() -> None:
    made = classifier({"signal": "reply_pace", "agent": 2.0, "mean": -1.0})
    [unread] = [one for one in score(pull(), made).contributions if one.signal.name == "reply_pace"]
    assert (unread.reading.value, unread.agent) == (None, 0.0)
    assert score(pull(), made).value("reply_pace") is None


def test_weights_for_another_meaning_of_a_signal_are_not_counted() -> None:
    term = {"signal": "stray_files", "agent": 1.0, "unreviewed": 1.0}
    for revision, counted in ((1, True), (2, False)):
        found = score(FACTS, classifier({**term, "revision": revision}))
        [one] = [one for one in found.contributions if one.signal.name == "stray_files"]
        assert one.reading.value == 1.0
        assert (one.counted, one.agent != 0.0) == (counted, counted)


def test_a_signal_without_a_term_is_shown_and_not_counted() -> None:
    [one] = [one for one in score(FACTS, classifier()).contributions if one.signal.name == "stray_files"]
    assert (one.reading.value, one.counted, one.weight) == (1.0, False, 0.0)


def test_a_young_account_with_a_free_mailbox_and_no_merged_work_reads_as_nobody_known() -> None:
    """Nothing about who a person is adds a nat to either question."""
    nobody = replace(FACTS, author=Author(login="someone", type="User"))
    young = replace(
        FACTS,
        author=Author(
            login="someone",
            type="User",
            created_at=OPENED,
            merged_here=0,
            closed_here=9,
            marks=(),
            association="NONE",
            verified_domain="free:example.org",
        ),
    )
    assert (score(young, load()).agent, score(young, load()).unreviewed) == (
        score(nobody, load()).agent,
        score(nobody, load()).unreviewed,
    )


def test_a_commenter_has_only_the_signals_of_a_commenter_and_no_reference() -> None:
    found = score(replace(FACTS, subject="commenter", pull_request=None), load())
    assert found.human_p_value is None
    assert {one.signal.name for one in found.contributions} == {
        signal.name for signal in ALL if "commenter" in signal.subjects
    }


@given(st.floats(-700, 700))
def test_a_probability_is_one_at_every_log_odds(log_odds: float) -> None:
    p = logistic(log_odds)
    assert 0.0 <= p <= 1.0
    assert logistic(-log_odds) == pytest.approx(1.0 - p, abs=1e-12)
