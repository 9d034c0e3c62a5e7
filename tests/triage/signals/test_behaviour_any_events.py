"""Whatever happened in whatever order: no crash, a finite value, the same reading, and neutral words."""

import math
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from triage.evidence import Signal
from triage.facts import Activity, Author, ChangedFile, Commit, Facts, PullRequest, Repository, TimelineEvent
from triage.signals import burst, conversation, disclosure, identity, latency

SIGNALS: tuple[Signal, ...] = (
    *latency.SIGNALS,
    *burst.SIGNALS,
    *conversation.SIGNALS,
    *identity.SIGNALS,
    *disclosure.SIGNALS,
)
UNKIND = re.compile(r"(?i)\b(bots?|spam\w*|slop|suspicious|fake)\b")

START = datetime(2026, 11, 1, tzinfo=UTC)
# Often in the same second: an order must not come from chance.
TIMES = (st.integers(0, 5) | st.integers(0, 900) | st.integers(0, 2_000_000)).map(
    lambda s: START + timedelta(seconds=s)
)
LOGINS = st.sampled_from(["ada", "rev", "talbot", "abbot", "ci[bot]", None])
TEXTS = st.one_of(
    st.none(),
    st.text(max_size=120),
    st.sampled_from(["Done, thanks!", "I used Claude for `x_y`.", "> no\n\nyes?", "- [x] no AI", "\x00\u202e", "谢谢"]),
)
NUMBERS = st.none() | st.integers(1, 4)
EVENTS = st.builds(
    TimelineEvent,
    at=TIMES,
    kind=st.sampled_from(
        ["comment", "review", "review_comment", "commit", "edited", "ready_for_review", "closed", "labeled"]
    ),
    actor=LOGINS,
    actor_type=st.sampled_from(["User", "Bot", None]),
    is_author=st.sampled_from([True, False, None]),
    body=TEXTS,
    path=st.none() | st.just("a/b.py"),
    line=NUMBERS,
    thread=st.sampled_from([None, "t1", "t2"]),
    number=NUMBERS,
)
ACTS = st.builds(
    Activity,
    at=TIMES,
    kind=st.sampled_from(["pull_request", "comment", "review", "issue", "fork", "branch", "push"]),
    repo=st.sampled_from(["acme/widgets", "Ada/own", "other/p", None, ""]),
    own_repo=st.sampled_from([True, False, None]),
    number=NUMBERS,
    base=st.sampled_from([None, "main", "stack/1", "stack/2"]),
)
PULLS = st.none() | st.builds(
    PullRequest,
    body=TEXTS,
    created_at=st.none() | TIMES,
    head_ref=st.sampled_from([None, "", "codex/x", "x"]),
    files=st.none() | st.tuples(st.builds(ChangedFile, path=st.just("a/b.py"), patch=TEXTS)),
    commits=st.none()
    | st.tuples(st.builds(Commit, message=TEXTS, author_login=LOGINS, trailers=st.just({"Co-authored-by": ("x", "")}))),
)
FACTS = st.builds(
    Facts,
    as_of=st.none() | TIMES,
    subject=st.sampled_from(["pull_request", "commenter"]),
    repo=st.sampled_from([None, "acme/widgets", "ada/own"]),
    number=NUMBERS,
    author=st.builds(
        Author,
        login=LOGINS,
        type=st.sampled_from(["User", "Bot", None]),
        merged_here=st.none() | st.integers(-1, 10**6),
        marks=st.none() | st.just(("vouched", "x")),
        verified_domain=TEXTS,
    ),
    pull_request=PULLS,
    timeline=st.none() | st.lists(EVENTS, max_size=14).map(tuple),
    activity=st.none() | st.lists(ACTS, max_size=14).map(tuple),
    repository=st.builds(
        Repository,
        templates=st.none() | st.just(("## AI used?\n",)),
        disclosure_required=st.sampled_from([True, None]),
        ai_policy=TEXTS,
    ),
)


@settings(max_examples=300, deadline=None)
@given(facts=FACTS, data=st.data())
def test_any_events_give_a_finite_reading_that_no_order_changes(facts: Facts, data: st.DataObject) -> None:
    shuffled = replace(
        facts,
        timeline=None if facts.timeline is None else tuple(data.draw(st.permutations(facts.timeline))),
        activity=None if facts.activity is None else tuple(data.draw(st.permutations(facts.activity))),
    )
    for signal in SIGNALS:
        reading = signal.read(facts)
        assert reading.value is None or math.isfinite(reading.value), signal.name
        assert reading.value is None or reading.value == round(reading.value, 6), signal.name
        assert reading.n >= 0
        assert reading.sentence.endswith(".")
        assert signal.read(shuffled) == reading, signal.name
    assert burst.flood(facts, events=3, minutes=60) == burst.flood(shuffled, events=3, minutes=60)


@settings(max_examples=150, deadline=None)
@given(facts=FACTS)
def test_identity_only_clears(facts: Facts) -> None:
    for signal in identity.SIGNALS:
        value = signal.read(facts).value
        assert value is None or value >= 0.0


@settings(max_examples=150, deadline=None)
@given(facts=FACTS)
def test_no_sentence_calls_a_person_anything(facts: Facts) -> None:
    for signal in SIGNALS:
        assert UNKIND.search(signal.read(facts).sentence) is None, signal.name


def test_every_signal_is_named_as_its_function_and_listed_once() -> None:
    names = [signal.name for signal in SIGNALS]
    assert len(set(names)) == len(names)
    assert [signal.read.__name__ for signal in SIGNALS] == names
