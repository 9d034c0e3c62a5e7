"""Fast answers are found by repetition; people who sit there together, and quick thanks, are not."""

import json
import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from triage.facts import Author, Facts, TimelineEvent, TimelineKind
from triage.signals import latency

START = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
LONG = (
    "I moved the check into the reader, because the caller cannot know whether the header was cut off. A test shows it."
)


def _event(
    minutes: float, actor: str, body: str = LONG, kind: TimelineKind = "comment", **more: object
) -> TimelineEvent:
    kind_of_account = "Bot" if actor.endswith("[bot]") else "User"
    made = TimelineEvent(
        at=START + timedelta(minutes=minutes),
        kind=kind,
        actor=actor,
        actor_type=kind_of_account,
        is_author=actor == "ada",
        body=body,
    )
    return TimelineEvent(**{**{name: getattr(made, name) for name in made.__slots__}, **more})


def _facts(events: Sequence[TimelineEvent], login: str = "ada", account: str = "User") -> Facts:
    return Facts(repo="acme/widgets", number=7, author=Author(login=login, type=account), timeline=tuple(events))


def _talk(gaps: Sequence[float], body: str = LONG, kind: TimelineKind = "comment") -> list[TimelineEvent]:
    """Let a reviewer speak once a day and the author answer after so many minutes."""
    days = [(day * 1440.0, gap) for day, gap in enumerate(gaps)]
    return [
        event
        for day, gap in days
        for event in (_event(day, "rev", "Why is this here?", "review"), _event(day + gap, "ada", body, kind))
    ]


def test_an_agent_that_answers_every_review_in_seven_to_nine_minutes_is_found() -> None:
    facts = _facts(_talk([7, 8.2, 9, 7.5, 8]))
    pace, tail = latency.reply_pace(facts), latency.fast_reply_tail(facts)
    assert pace.value == pytest.approx(5 * 2 / (1 + 4 * 0.065), abs=1e-6)
    assert tail.value is not None
    assert tail.value > 3
    assert tail.sentence == "5 of 5 answers to other people came after one to ten minutes (7 min to 9 min)."
    assert pace.sentence == "The author answered other people 5 times: in 7 min to 9 min."


def test_one_quick_answer_is_worth_the_likelihood_ratio_of_the_catalogue_at_most() -> None:
    value = latency.reply_pace(_facts(_talk([8.45]))).value
    assert value == 2.0
    assert latency.fast_reply_tail(_facts(_talk([8.45]))).value is None


@pytest.mark.parametrize(
    ("who", "gaps"),
    [
        ("people at the same table", [0.2, 0.3, 0.5, 0.4, 0.3]),
        ("a volunteer after work", [480, 600, 1300, 200, 900]),
        ("a student between lectures", [45, 300, 1200]),
    ],
)
def test_a_live_person_reads_as_a_person(who: str, gaps: list[float]) -> None:
    facts = _facts(_talk(gaps))
    value = latency.reply_pace(facts).value
    assert value is not None, who
    assert value < 0, who
    assert latency.fast_reply_tail(facts).value == 0.0


def test_quick_thanks_are_nearly_left_out() -> None:
    facts = _facts(_talk([3, 5, 6, 4, 7, 8, 5, 6], "Done, thanks!"))
    value = latency.reply_pace(facts).value
    assert value is not None
    assert value <= 0.5
    assert latency.fast_reply_tail(facts).value is None
    assert latency.instant_reply(_facts(_talk([0.1, 0.1, 0.1], "Done, thanks!"))).value == 0.0


def test_many_replies_to_one_review_are_one_answer() -> None:
    events = [_event(0, "rev", "Please change these.", "review"), *(_event(8 + i, "ada") for i in range(6))]
    assert latency.reply_pace(_facts(events)).n == 1


def test_the_written_answer_counts_and_not_the_quick_word_before_it() -> None:
    events = [_event(0, "rev", "Why?", "review"), _event(2, "ada", "Will look"), _event(600, "ada")]
    reading = latency.reply_pace(_facts(events))
    assert reading.sentence == "The author answered other people once: in 10 h."
    assert reading.value is not None
    assert reading.value < 0


def test_an_answer_in_an_older_review_thread_does_not_answer_the_newest_word() -> None:
    events = [
        _event(0, "rev", "Name?", "review_comment", thread="t1"),
        _event(500, "rev", "And this?", "review_comment", thread="t2"),
        _event(508, "ada", LONG, "review_comment", thread="t1"),
    ]
    assert latency.reply_pace(_facts(events)).sentence.endswith("in 8 h.")


@pytest.mark.parametrize("bot", ["dependabot[bot]", "review-helper[bot]"])
def test_bots_never_trigger(bot: str) -> None:
    events = [event for day in range(5) for event in (_event(day * 1440, bot), _event(day * 1440 + 8, "ada"))]
    assert latency.reply_pace(_facts(events)).value is None


@pytest.mark.parametrize("login", ["talbot", "abbot", "robotics-lab"])
def test_people_called_like_a_bot_are_people(login: str) -> None:
    events = [_event(0, login, "Why?"), _event(500, "ada")]
    assert latency.reply_pace(_facts(events)).n == 1


def test_an_apps_own_replies_are_no_replies() -> None:
    assert latency.reply_pace(_facts(_talk([8, 8, 8]), account="Bot")).value is None


@pytest.mark.parametrize("kind", ["labeled", "unlabeled", "closed"])
def test_a_label_or_a_close_is_no_question(kind: TimelineKind) -> None:
    assert latency.reply_pace(_facts([_event(0, "rev", "", kind), _event(8, "ada")])).value is None


def test_a_deleted_account_neither_asks_nor_crashes() -> None:
    ghost = TimelineEvent(at=START, kind="comment", body="Why?")
    assert latency.reply_pace(_facts([ghost, _event(8, "ada")])).value is None


def test_pushes_count_by_half() -> None:
    pushed = latency.reply_pace(_facts(_talk([8, 8, 8, 8], "", "commit"))).value
    told = latency.reply_pace(_facts(_talk([8, 8, 8, 8]))).value
    assert pushed is not None
    assert told is not None
    assert pushed < told * 0.6


def test_a_batch_of_prepared_remarks_is_not_typed_fast() -> None:
    remarks = [_event(1 + i / 120, "ada", LONG * 3, "review_comment") for i in range(6)]
    reading = latency.reply_rate(_facts([_event(0, "rev", "Please answer all.", "review"), *remarks]))
    assert reading.value is None


@pytest.mark.parametrize(("replies", "value"), [(1, 0.0), (2, 2.0), (4, 4.0)])
def test_two_long_texts_in_no_time_fire(replies: int, value: float) -> None:
    assert latency.reply_rate(_facts(_talk([0.1] * replies, LONG * 3))).value == value


def test_a_pasted_log_is_not_typed() -> None:
    log = "It fails:\n```\n" + "E assert 1 == 2\n" * 200 + "```\n"
    assert latency.reply_rate(_facts(_talk([0.2, 0.2, 0.2], log))).value is None


def test_alike_times_are_told_from_unlike_ones() -> None:
    alike = latency.pace_spread(_facts(_talk([7, 8, 8, 9, 7.5]))).value
    unlike = latency.pace_spread(_facts(_talk([1, 400, 20, 1300, 90]))).value
    assert alike is not None
    assert alike > 1.2
    assert unlike == 0.0
    assert latency.pace_spread(_facts(_talk([7, 8, 8, 9]))).value is None


def test_long_answers_within_seconds_are_instant() -> None:
    assert latency.instant_reply(_facts(_talk([0.1, 0.15, 300, 500]))).value == 0.5
    assert latency.instant_reply(_facts(_talk([0.1]))).value is None


def test_without_a_timeline_everything_is_unknown() -> None:
    for signal in latency.SIGNALS:
        reading = signal.read(Facts())
        assert reading.value is None, signal.name
        assert reading.sentence.startswith("Unknown: ")


@pytest.mark.parametrize(("k", "n"), [(0, 4), (1, 4), (3, 3), (7, 12), (40, 40)])
def test_the_tail_is_the_exact_sum(k: int, n: int) -> None:
    """The same probability as a product of Polya's urn: draws that reinforce themselves."""
    size = (1 - 0.065) / 0.065
    a, b = 0.136 * size, 0.864 * size

    def mass(i: int) -> float:
        up = math.prod(a + j for j in range(i)) * math.prod(b + j for j in range(n - i))
        return math.comb(n, i) * up / math.prod(a + b + j for j in range(n))

    expected = sum(mass(i) for i in range(k, n + 1))
    assert latency.beta_binomial_tail(k, n, 0.136, 0.065) == pytest.approx(expected, rel=1e-9)


def test_a_commenters_threads_are_read_apart() -> None:
    events = [
        _event(0, "rev", "Why?", number=1),
        _event(3, "kim", "And here?", number=2),
        _event(500, "ada", number=2),
        _event(510, "ada", number=1),
    ]
    facts = Facts(subject="commenter", repo="acme/widgets", author=Author(login="ada"), timeline=tuple(events))
    assert latency.reply_pace(facts).n == 2


def test_a_reading_is_written_as_json() -> None:
    for signal in latency.SIGNALS:
        reading = signal.read(_facts(_talk([7, 8, 0.1, 9, 1300])))
        assert json.loads(json.dumps(reading.value, allow_nan=False)) == reading.value
