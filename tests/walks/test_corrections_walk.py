"""A person's word on GitHub is final: what was taken off stays off, what was reopened is left alone."""

import pytest
from plugins_github import REPOSITORY
from walk_by_hand import BOT, REVIEW, STRICT, Desk, small, unread

WORDS = "I measured it on two machines and the second one needs the new value of `a`, so I kept it."


def test_a_label_that_a_person_took_off_stays_off(desk: Desk) -> None:
    desk.seed("mode: comment\nsensitivity: strict\n")
    number = desk.opened("newbie", **unread())
    desk.standin.act("unlabel", "max", number=number, label=REVIEW)
    desk.settle()
    assert desk.lane(number) == "unsure"
    assert "A maintainer took the label off." in desk.reasons(number)
    verdict_then = desk.store.corrections(REPOSITORY, number)[0].verdict_id
    [said] = desk.own_comments(number)
    assert "has left the end of the review queue" in said
    before = desk.written()
    for do, more in [("comment", {"body": "ok"}), ("push", {}), ("edit", {"title": "Other"}), ("draft", {})]:
        desk.standin.act(do, "newbie", number=number, **more)
        desk.settle()
    desk.standin.act("ready", "newbie", number=number)
    desk.wait(3 * 86400)
    assert desk.history(number) == [("labeled", REVIEW, BOT), ("unlabeled", REVIEW, "max")]
    assert desk.written() == before
    [word] = desk.store.corrections(REPOSITORY, number)
    assert (word.kind, word.label, word.by) == ("label_removed", "likely_unreviewed", "max")
    assert verdict_then is not None  # the verdict that it corrects


def test_a_label_that_was_taken_off_before_the_next_delivery_stays_off(desk: Desk) -> None:
    """The label, its echo, the removal and a push come in one heap."""
    desk.seed(STRICT)
    number = desk.open("newbie", **unread())
    desk.keep(desk.hear())
    desk.judge_due()
    desk.standin.act("unlabel", "max", number=number, label=REVIEW)
    desk.standin.act("push", "newbie", number=number)
    desk.settle()
    assert desk.labels(number) == []
    assert len(desk.store.corrections(REPOSITORY, number)) == 1


def test_a_maintainer_may_put_our_label_on_and_it_is_theirs(desk: Desk) -> None:
    desk.seed(STRICT)
    number = desk.opened("newbie", **unread())
    desk.standin.act("unlabel", "max", number=number, label=REVIEW)
    desk.settle()
    desk.standin.act("label", "max", number=number, label=REVIEW)
    desk.settle()
    desk.standin.act("push", "newbie", number=number, changed=[{"path": "a.py", "additions": 1, "patch": "@@ +1 @@"}])
    desk.standin.act("edit", "newbie", number=number, body=WORDS)
    desk.settle()
    assert desk.labels(number) == [REVIEW]
    assert [one.kind for one in desk.store.corrections(REPOSITORY, number)] == ["label_removed", "label_added"]


def test_reopened_by_a_maintainer_is_never_touched_again(desk: Desk) -> None:
    desk.seed(STRICT)
    number = desk.open("newbie", **unread())
    desk.standin.act("close", "max", number=number)
    desk.settle()
    desk.standin.act("reopen", "max", number=number)
    desk.settle()
    for do in ("push", "comment", "draft", "ready"):
        desk.standin.act(do, "newbie", number=number, body="Please.")
        desk.settle()
    assert desk.written() == []
    assert [one.kind for one in desk.store.corrections(REPOSITORY, number)] == ["reopened"]


def test_reopened_by_its_author_says_nothing(desk: Desk) -> None:
    desk.seed(STRICT)
    number = desk.open("newbie", **unread())
    desk.standin.act("close", "newbie", number=number)
    desk.settle()
    desk.standin.act("reopen", "newbie", number=number)
    desk.settle()
    assert desk.labels(number) == [REVIEW]
    assert desk.store.corrections(REPOSITORY, number) == []


def test_the_label_goes_when_what_it_stood_for_goes(desk: Desk) -> None:
    """The author takes the leftovers out and writes what they checked: it is taken off once and never comes back."""
    desk.seed(STRICT)
    number = desk.opened("newbie", **unread())
    desk.standin.act("push", "newbie", number=number, changed=small()["pull"]["files"])
    desk.standin.act("edit", "newbie", number=number, body=WORDS)
    desk.settle()
    assert desk.history(number) == [("labeled", REVIEW, BOT), ("unlabeled", REVIEW, BOT)]
    assert desk.store.corrections(REPOSITORY, number) == []  # our own doing is nobody's word
    desk.standin.act("push", "newbie", number=number, changed=unread()["pull"]["files"])
    desk.standin.act("edit", "newbie", number=number, body=unread()["body"])
    desk.settle()
    assert desk.labels(number) == []
    assert "only a maintainer moves it now" in desk.reasons(number)


@pytest.mark.parametrize("other", ["bug", "Triage: something else"])
def test_other_labels_are_nobodys_word_on_ours(desk: Desk, other: str) -> None:
    desk.seed(STRICT)
    number = desk.opened("newbie", **unread())
    for do in ("label", "unlabel"):
        desk.standin.act(do, "max", number=number, label=other)
        desk.settle()
    assert desk.labels(number) == [REVIEW]
    assert desk.store.corrections(REPOSITORY, number) == []
