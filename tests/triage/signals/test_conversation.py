"""A person in the conversation is seen; terse people, other scripts and silence of a few days cost nothing."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from triage.facts import Author, ChangedFile, Commit, Facts, PullRequest, TimelineEvent, TimelineKind
from triage.signals import conversation

OPENED = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
QUESTION = "Could parse_header also accept a folded line? See RFC 5322, section 2.2.3."
FITTING = "It does now: parse_header joins folded lines first, and the new test covers the tab and the blank."
HOLLOW = "Thank you for the review! I have carefully addressed all of your valuable points and improved everything."


def _event(
    hours: float, actor: str | None, kind: TimelineKind = "comment", body: str | None = None, thread: str | None = None
) -> TimelineEvent:
    bot = actor is not None and actor.endswith("[bot]")
    return TimelineEvent(
        at=OPENED + timedelta(hours=hours),
        kind=kind,
        actor=actor,
        actor_type="Bot" if bot else "User",
        is_author=actor == "ada",
        body=body,
        thread=thread,
    )


def _facts(
    events: Sequence[TimelineEvent] | None = (),
    *,
    days: float = 30,
    commits: Sequence[Commit] | None = None,
    files: Sequence[ChangedFile] = (),
) -> Facts:
    return Facts(
        as_of=OPENED + timedelta(days=days),
        repo="acme/widgets",
        number=7,
        author=Author(login="ada", type="User"),
        pull_request=PullRequest(
            created_at=OPENED, commits=None if commits is None else tuple(commits), files=tuple(files)
        ),
        timeline=None if events is None else tuple(events),
    )


AGENT = Commit(message="Add parser\n\nCo-Authored-By: Claude <noreply@anthropic.com>", author_login="ada")
PERSON = Commit(message="Rename, after reading it again", author_login="ada")


@pytest.mark.parametrize(
    ("what", "facts", "value"),
    [
        ("an own commit after an agent's", _facts(commits=[AGENT, PERSON]), 1.0),
        ("an own commit before an agent's", _facts(commits=[PERSON, AGENT]), 0.0),
        ("another App's commit", _facts(commits=[AGENT, Commit(message="x", author_login="ci[bot]")]), 0.0),
        ("a later edit", _facts([_event(1, "ada", "edited")]), 1.0),
        ("an edit at once", _facts([_event(0.01, "ada", "edited")]), 0.0),
        ("a bot's edit", _facts([_event(1, "summary[bot]", "edited")]), 0.0),
        ("made ready", _facts([_event(2, "ada", "ready_for_review")]), 1.0),
        (
            "answered in thought",
            _facts([_event(1, "rev", "review", QUESTION), _event(9, "ada", "comment", FITTING)]),
            1.0,
        ),
        ("answered in 8 min", _facts([_event(1, "rev", "review", QUESTION), _event(1.13, "ada", body=FITTING)]), 0.0),
        ("nothing yet", _facts(), 0.0),
    ],
)
def test_the_own_hand_is_seen(what: str, facts: Facts, value: float) -> None:
    assert conversation.human_touch(facts).value == value, what


def test_the_own_hand_is_told_in_words() -> None:
    reading = conversation.human_touch(_facts([_event(1, "ada", "edited"), _event(2, "ada", "ready_for_review")]))
    assert reading.value == 2.0
    assert reading.sentence == (
        "Since the opening: the author edited the description 60 min after opening; a person made the draft ready."
    )


REMARK = _event(1, "rev", "review_comment", QUESTION, "t1")


@pytest.mark.parametrize(
    ("what", "events", "days", "value"),
    [
        ("an answer in the thread", [REMARK, _event(9, "ada", "review_comment", "Done.", "t1")], 2, 1.0),
        ("a commit", [REMARK, _event(30, "ada", "commit")], 3, 1.0),
        ("a word elsewhere only", [REMARK, _event(9, "ada", "review_comment", "Hm.", "t2")], 20, 0.0),
        ("silent for two weeks", [REMARK], 15, 0.0),
        ("silent for a week", [REMARK], 7, None),
        ("after a holiday", [REMARK, _event(24 * 10, "ada", body=FITTING)], 40, None),
        ("a review bot's remark", [_event(1, "helper[bot]", "review_comment", QUESTION, "t1")], 30, None),
        ("a ghost's remark", [_event(1, None, "review_comment", QUESTION, "t1")], 30, None),
        ("praise", [_event(1, "rev", "comment", "Nice work.")], 30, None),
        ("a bare approval", [_event(1, "rev", "review", "")], 30, None),
    ],
)
def test_remarks_are_taken_up_or_wait(what: str, events: list[TimelineEvent], days: float, value: float | None) -> None:
    assert conversation.feedback_addressed(_facts(events, days=days)).value == value, what


def test_a_thread_with_many_remarks_is_one() -> None:
    events = [REMARK, _event(2, "rev", "review_comment", "And the tab?", "t1"), _event(5, "ada", "commit")]
    assert conversation.feedback_addressed(_facts(events)).n == 1


@pytest.mark.parametrize(
    ("what", "question", "answer", "value"),
    [
        ("names the function", QUESTION, FITTING, 1.0),
        ("hollow agreement", QUESTION, HOLLOW, 0.0),
        ("done", QUESTION, "Done, thanks!", None),
        ("a short word that names it", QUESTION, "parse_header does", 1.0),
        (
            "a file of the diff",
            "Is that all?",
            "The rest is in src/reader/lines.py, it needed no change at all there.",
            1.0,
        ),
        (
            "the plain word for a name in code marks",
            "What happens in `decode` with an empty list?",
            "good question. I tried decode([]) this morning and it gives nothing back",
            1.0,
        ),
        ("an answer to praise", "Nice work.", HOLLOW, None),
        ("another script", QUESTION, "谢谢你的评论,我已经仔细看过并且全部修改好了,请再看一下", None),
        ("the same words in Chinese", "请说明这个缓存的作用?", "这个缓存的作用是避免重复读取文件,所以保留", 1.0),
        (
            "the same words in German",
            "Warum wird der Zwischenspeicher geleert?",
            "Der Zwischenspeicher wird geleert, weil alt.",
            1.0,
        ),
    ],
)
def test_answers_fit_or_are_neutral(what: str, question: str, answer: str, value: float | None) -> None:
    files = [ChangedFile("src/reader/lines.py", patch="@@ -1 +1 @@\n-a\n+joined = fold(raw)")]
    facts = _facts([_event(1, "rev", "comment", question), _event(9, "ada", "comment", answer)], files=files)
    assert conversation.reply_fit(facts).value == value, what


def test_a_commenters_answers_fit_too() -> None:
    events = (_event(1, "rev", "comment", QUESTION), _event(9, "ada", "comment", FITTING))
    facts = Facts(subject="commenter", author=Author(login="ada"), timeline=events)
    assert conversation.reply_fit(facts).value == 1.0


def test_the_same_text_again_and_again_is_one_thing() -> None:
    same = "I would love to work on this issue, please assign it to me and I will send a change soon number"
    events = [_event(i, "ada", body=f"{same} {i}") for i in range(6)]
    assert conversation.repeated_replies(_facts(events)).value == pytest.approx(5 / 6, abs=1e-6)


@pytest.mark.parametrize(
    ("who", "bodies"),
    [
        ("quick thanks", ["Done, thanks!"] * 20),
        (
            "a translator",
            [
                "Al primer capítol he traduït «thread» per «fil», com fa la resta del manual.",
                "Aquí no tinc clar si el programa parla de l'usuari o de l'administrador del sistema.",
                "He canviat les cometes i els guions segons la guia d'estil que em vas passar ahir.",
                "La darrera frase era massa llarga; ara en són dues i s'entén millor quan es llegeix.",
                "Falten encara els textos nous del menú, els faré demà al vespre si tinc una estona.",
            ],
        ),
    ],
)
def test_a_person_who_is_brief_or_varied_does_not_repeat(who: str, bodies: list[str]) -> None:
    value = conversation.repeated_replies(_facts([_event(i, "ada", body=body) for i, body in enumerate(bodies)])).value
    assert value in {None, 0.0}, who


def test_a_line_without_an_end_is_read_in_its_length() -> None:
    endless = "a" * 1_000_000
    files = [ChangedFile("x.py", patch="+" + endless)]
    facts = _facts([_event(1, "rev", body=endless + "?"), _event(2, "ada", body=endless)], files=files)
    assert conversation.reply_fit(facts).value is None


def test_without_a_timeline_everything_is_unknown() -> None:
    for signal in conversation.SIGNALS:
        assert signal.read(_facts(None)).value is None, signal.name
