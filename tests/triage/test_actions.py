"""Wanted minus present: what is planned, and only what is ours is ever taken back."""

from typing import Any

import pytest

from models.recorded.store import INTERRUPTED, SUPERSEDED
from models.recorded.tables import ActRow, ChangeRow, ThreadRow
from triage.actions import COLOURS, DESCRIPTIONS, MARKER, REFUSED_FOR, let_go, plan
from triage.decide import LABEL_KINDS, LabelKind
from triage.policy import DEFAULT, Labels, Policy, parse

NOW = 1_000_000.0
NAME = DEFAULT.labels.likely_unreviewed
LABEL, COMMENT = parse("mode: label"), parse("mode: comment")


def thread(**change: Any) -> ThreadRow:
    return ThreadRow(repository_id=1, number=7, installation_id=5, **change)


def planned(policy: Policy, row: ThreadRow, *kinds: LabelKind, **more: Any) -> list[tuple[str, str]]:
    return [(one.kind, one.target) for one in plan(policy, row, frozenset(kinds), now=NOW, **more)]


def test_a_wanted_label_is_put_on_and_a_standing_one_left() -> None:
    assert planned(LABEL, thread(), "likely_unreviewed") == [("add_label", "likely_unreviewed")]
    ours = thread(labels=[NAME], labelled={"likely_unreviewed": NAME})
    assert planned(LABEL, ours, "likely_unreviewed") == []
    assert planned(LABEL, ours) == [("remove_label", "likely_unreviewed")]


def test_a_persons_label_of_that_name_in_any_case_is_theirs() -> None:
    theirs = thread(labels=[str(NAME).upper()])
    assert planned(LABEL, theirs, "likely_unreviewed") == []
    assert planned(LABEL, theirs) == []


def test_a_label_that_the_policy_names_anew_is_exchanged() -> None:
    ours = thread(labels=["old"], labelled={"likely_unreviewed": "old"})
    renamed = [("remove_label", "likely_unreviewed"), ("add_label", "likely_unreviewed")]
    assert planned(LABEL, ours, "likely_unreviewed") == renamed
    off = parse("mode: label\nlabels: {likely_unreviewed: null}")
    assert planned(off, ours, "likely_unreviewed") == [("remove_label", "likely_unreviewed")]


@pytest.mark.parametrize("change", [{"open": False}, {"reopened": True}])
def test_hands_are_kept_off(change: dict[str, Any]) -> None:
    ours = thread(labels=[NAME], labelled={"likely_unreviewed": NAME}, **change)
    assert planned(COMMENT, ours) == planned(COMMENT, thread(**change), *LABEL_KINDS) == []


def test_observe_plans_nothing() -> None:
    assert planned(DEFAULT, thread(), *LABEL_KINDS) == []


def test_what_a_person_took_off_is_not_planned() -> None:
    assert planned(LABEL, thread(kept_off=["likely_unreviewed"]), "likely_unreviewed", "burst") == [
        ("add_label", "burst")
    ]


def test_labels_without_a_name_are_never_put_on() -> None:
    assert planned(LABEL, thread(), "disclosed", "live_person", "over_limit") == []


def test_the_comment_comes_and_changes_with_the_label() -> None:
    assert planned(COMMENT, thread(), "likely_unreviewed")[1:] == [("comment", "")]
    assert planned(COMMENT, thread(locked=True), "likely_unreviewed")[1:] == []
    assert planned(COMMENT, thread(), "burst")[1:] == []
    ours = {"labels": [NAME], "labelled": {"likely_unreviewed": NAME}}
    assert planned(COMMENT, thread(**ours, comment_id=4))[1:] == [("comment", "")]
    assert planned(COMMENT, thread(**ours))[1:] == []
    assert planned(COMMENT, thread(**ours, comment_id=4), "likely_unreviewed") == []


def test_what_is_said_in_public_is_neutral_and_carries_the_marker() -> None:
    said = [one.detail for one in plan(COMMENT, thread(), frozenset({"likely_unreviewed"}), now=NOW)][1:]
    assert all(one.startswith(MARKER) for one in said)
    assert len(DESCRIPTIONS) == len(COLOURS) == len(LABEL_KINDS) == len(Labels.model_fields)
    for text in [*said, *DESCRIPTIONS.values(), *filter(None, DEFAULT.labels.model_dump().values())]:
        assert not {"bot", "spam", "slop", "suspicious", "fake", "ai"} & set(text.lower().replace(".", " ").split())
    assert all(len(one) <= 100 for one in DESCRIPTIONS.values())  # GitHub's bound


# --- a flood ----------------------------------------------------------------------------


def act(node: str | None, kind: str = "comment") -> ActRow:
    return ActRow(key=f"{kind}:{node}", installation_id=5, repository_id=1, number=7, kind=kind, at=NOW, node=node)


HELD = [act("n1"), act("n2", "review_comment"), act("n3", "review"), act(None)]


def test_a_floods_comments_are_collapsed_and_nothing_else() -> None:
    minimize = parse("mode: label\nburst: {action: minimize}")
    assert planned(minimize, thread(), "burst", held=HELD) == [
        ("add_label", "burst"),
        ("minimize", "n1"),
        ("minimize", "n2"),
    ]
    assert planned(minimize, thread(), held=HELD) == []
    assert planned(minimize, thread(kept_off=["burst"]), "burst", held=HELD) == []
    assert planned(LABEL, thread(), "burst", held=HELD) == [("add_label", "burst")]
    assert planned(parse("mode: label\nburst: {action: none}"), thread(), "burst", held=HELD) == []


def test_a_thread_that_is_locked_is_not_locked_again() -> None:
    lock = parse("mode: label\nburst: {action: lock}")
    assert planned(lock, thread(), "burst", held=HELD) == [("add_label", "burst"), ("lock", "")]
    assert planned(lock, thread(locked=True), "burst", held=HELD) == [("add_label", "burst")]


# --- what was wanted before ---------------------------------------------------------------


def past(
    kind: str, target: str, state: str, *, detail: str = "", error: str | None = None, ago: float = 0.0
) -> ChangeRow:
    return ChangeRow(
        repository_id=1,
        number=7,
        kind=kind,
        target=target,
        detail=detail,
        state=state,
        wanted_at=NOW - ago,
        made_at=NOW - ago,
        error=error,
    )


def test_what_github_refused_is_tried_again_after_a_day() -> None:
    def refused(ago: float, error: str = "no permission") -> list[ChangeRow]:
        return [past("add_label", "likely_unreviewed", "refused", detail=str(NAME), error=error, ago=ago)]

    assert planned(LABEL, thread(), "likely_unreviewed", past=refused(60.0)) == []
    assert len(planned(LABEL, thread(), "likely_unreviewed", past=refused(REFUSED_FOR))) == 1
    assert len(planned(LABEL, thread(), "likely_unreviewed", "burst", past=refused(60.0))) == 1
    for error in (INTERRUPTED, SUPERSEDED):  # GitHub never refused these
        assert len(planned(LABEL, thread(), "likely_unreviewed", past=refused(60.0, error))) == 1
    other = parse('mode: label\nlabels: {likely_unreviewed: "another name"}')
    assert len(planned(other, thread(), "likely_unreviewed", past=refused(60.0))) == 1


@pytest.mark.parametrize("state", ["made", "wanted", "refused"])
def test_a_comment_is_collapsed_and_a_thread_locked_once(state: str) -> None:
    before = [past("minimize", "n1", state, ago=9e6), past("lock", "", state, ago=9e6)]
    on = thread(labels=[DEFAULT.labels.burst], labelled={"burst": DEFAULT.labels.burst})
    minimize, lock = (parse(f"mode: label\nburst: {{action: {one}}}") for one in ("minimize", "lock"))
    assert planned(minimize, on, "burst", held=HELD, past=before) == [("minimize", "n2")]
    assert planned(lock, on, "burst", held=HELD, past=before) == []


def test_a_label_stops_being_ours_before_it_is_taken_off() -> None:
    row = thread(labels=[NAME, "b"], labelled={"likely_unreviewed": NAME, "burst": "b"})
    let_go(row, plan(LABEL, row, frozenset({"burst"}), now=NOW))
    assert "likely_unreviewed" not in row.labelled
