"""Rounds of question and answer, and times as people write them."""

from datetime import UTC, datetime, timedelta

import pytest

from triage import pace
from triage.facts import Author, Facts, PullRequest, TimelineEvent, TimelineKind

START = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)


def _event(seconds: float, actor: str, kind: TimelineKind = "comment", **more: str) -> TimelineEvent:
    return TimelineEvent(START + timedelta(seconds=seconds), kind, actor, "User", is_author=actor == "ada", **more)


def _facts(*events: TimelineEvent, **more: object) -> Facts:
    return Facts(author=Author(login="ada", type="User"), timeline=events, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (59, "59 s"), (60, "60 s"), (480, "8 min"), (5000, "83 min"), (6000, "2 h"), (200_000, "2 days")],
)
def test_times_are_written_in_the_unit_people_use(seconds: float, text: str) -> None:
    assert pace.span(seconds) == text


def test_the_round_ends_when_the_other_speaks_again() -> None:
    facts = _facts(_event(0, "rev"), _event(5, "rev"), _event(100, "ada"), _event(110, "ada"), _event(200, "rev"))
    assert [answer.seconds for answer in pace.answers(facts)] == [95.0]


def test_closing_with_a_comment_is_one_question() -> None:
    facts = _facts(_event(0, "rev"), _event(0, "rev", "closed"), _event(500, "ada"))
    assert [answer.seconds for answer in pace.answers(facts)] == [500.0]


def test_an_own_word_in_the_same_second_answers_nothing() -> None:
    assert pace.answers(_facts(_event(0, "rev"), _event(0, "ada"))) == ()


def test_the_author_is_known_by_login_where_the_flag_is_missing() -> None:
    mine = TimelineEvent(START + timedelta(seconds=90), "comment", "Ada", "User")
    assert [answer.seconds for answer in pace.answers(_facts(_event(0, "rev"), mine))] == [90.0]


def test_now_is_the_latest_time_known() -> None:
    assert pace.now(Facts()) is None
    assert pace.now(_facts(_event(7, "rev"), pull_request=PullRequest(created_at=START))) == START + timedelta(
        seconds=7
    )
    assert pace.now(_facts(_event(7, "rev"), as_of=START)) == START


def test_what_a_person_wrote_is_without_quote_and_code() -> None:
    event = _event(0, "ada", body="> Why?\n\nBecause.\n\n```\nlog\n```")
    assert pace.words_of(event, _facts(event)) == "Because."
