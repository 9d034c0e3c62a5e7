"""Rows to facts: what is known stands there, and what is not known is never zero."""

from typing import Any

import pytest

from models.recorded.database import Database
from models.recorded.store import Store
from models.recorded.tables import ActRow, PersonRow, RepositoryRow, ThreadRow
from triage import dossier
from triage.facts import Activity, ChangedFile, Commit, Facts
from triage.policy import DEFAULT, parse

NOW = 1_000_000_000.0
ANN, MAX = 3, 2


@pytest.fixture
def store(database: Database) -> Store:
    kept = Store(database)
    kept.see_repository(1, 5, "acme/widgets", private=False, archived=False)
    kept.see_repository(2, 5, "Ann/own", private=False, archived=False)
    kept.see_person(ANN, "ann", "User")
    return kept


def repository(store: Store, number: int = 1) -> RepositoryRow:
    found = store.repository(number)
    assert found is not None
    return found


def ann(store: Store) -> PersonRow:
    found = store.person(ANN)
    assert found is not None
    return found


def thread(**change: Any) -> ThreadRow:
    given = {"repository_id": 1, "number": 7, "installation_id": 5, "author_id": ANN, "author": "ann"}
    return ThreadRow(**(given | change))


def act(key: str, kind: str = "comment", *, who: int | None = ANN, ago: float = 10.0, **change: Any) -> ActRow:
    given = {"installation_id": 5, "repository_id": 1, "number": 7, "at": NOW - ago, "actor_id": who, "actor": "x"}
    return ActRow(key=key, kind=kind, **(given | change))


def facts(store: Store, row: ThreadRow | None = None, **policy: Any) -> Facts:
    return dossier.pull_request(store, repository(store), DEFAULT, row or thread(), now=NOW)


def test_what_was_never_read_is_unknown(store: Store) -> None:
    found = facts(store)
    pull = found.pull_request
    assert pull is not None
    for value in (pull.files, pull.commits, pull.checks, pull.additions, pull.draft, pull.truncated, pull.created_at):
        assert value is None
    assert (found.author.merged_here, found.author.created_at, found.author.marks) == (None, None, None)
    assert (found.repository.templates, found.repository.ai_policy, found.repository.baseline) == (None, None, None)
    assert found.activity == ()
    assert facts(store, thread(author_id=None, author=None)).activity is None


def test_files_and_commits_come_back_as_they_were_stored(store: Store) -> None:
    file = ChangedFile("a.py", "modified", 1, 2, "@@ -1 +1 @@")
    commit = Commit("Fix a", dossier.moment(5.0), None, "ann", "x.org", {"Signed-off-by": ("a", "b")})
    stored = thread(
        files=[dossier.file_to_store(file)],
        commits=[{**dossier.commit_to_store(commit), "trailers": {"S": ["a", "b"]}}],
    )
    store.save_thread(stored)
    kept = store.thread(1, 7)
    assert kept is not None
    pull = facts(store, kept).pull_request
    assert pull is not None
    assert pull.files == (file,)
    assert pull.commits is not None
    assert (pull.commits[0].message, pull.commits[0].authored_at) == ("Fix a", dossier.moment(5.0))


@pytest.mark.parametrize(("told", "seen", "merged"), [(None, 0, None), (None, 2, 2), (5, 2, 5), (1, 2, 2), (0, 0, 0)])
def test_merged_work_seen_here_is_a_lower_bound(store: Store, told: int | None, seen: int, merged: int | None) -> None:
    for number in range(20, 20 + seen):
        store.save_thread(thread(number=number, merged=True, open=False))
    assert facts(store, thread(merged_here=told)).author.merged_here == merged


def test_the_timeline_tells_whose_each_act_is(store: Store) -> None:
    acts = [
        act("1", "pull_request", ago=90),
        act("2", who=MAX, ago=80),
        act("3", ago=70),
        act("4", who=None, ago=60),
        act("5", "checked", ago=50),
        act("6", "commit", ago=40),
    ]
    store.add_acts(acts)
    timeline = facts(store).timeline
    assert timeline is not None
    assert [(one.kind, one.is_author) for one in timeline] == [
        ("comment", False),
        ("comment", True),
        ("comment", None),
        ("commit", True),
    ]


def test_activity_is_what_was_seen_anywhere_and_what_one_query_told_without_doubles(store: Store) -> None:
    store.add_acts(
        [
            act("1", "pull_request", base="main"),
            act("2", "comment", repository_id=2, number=3, ago=20),
            act("3", "review_comment", ago=5),
            act("4", "comment", installation_id=6),  # another installation's
            act("5", "comment", ago=dossier.LOOKS_BACK + 1),
            act("6", "comment", who=MAX),
        ]
    )
    known = Activity(dossier.moment(NOW - 10) or _never(), "pull_request", "acme/widgets", False, 7, "main")
    other = Activity(dossier.moment(NOW - 99) or _never(), "pull_request", "far/away", False, 1, "main")
    store.set_history(ANN, None, [dossier.activity_to_store(one) for one in (known, other)], NOW)
    found = facts(store).activity
    assert found is not None
    assert [(one.kind, one.repo, one.own_repo) for one in found] == [
        ("pull_request", "far/away", False),
        ("comment", "Ann/own", True),
        ("pull_request", "acme/widgets", False),
    ]


def _never() -> Any:
    raise AssertionError


@pytest.mark.parametrize(
    ("ended", "together"),
    [
        ([], None),
        ([("a", "success", "s1")], "success"),
        ([("a", "success", "s1"), ("b", "failure", "s1")], "failure"),
        ([("a", "failure", "s1"), ("a", "success", "s1")], "success"),  # run again
        ([("a", "success", "s1"), ("b", "pending", "s1")], "pending"),
        ([("a", "failure", "s0")], None),  # of an older commit
    ],
)
def test_checks_speak_together_for_the_newest_commit(ended: list[tuple[str, str, str]], together: str | None) -> None:
    acts = [
        act(f"checked:{n}", "checked", thread=suite, body=outcome, base=sha)
        for n, (suite, outcome, sha) in enumerate(ended)
    ]
    assert dossier.checks(thread(head_sha="s1"), acts) == together


def test_marks_come_from_the_vouch_list(store: Store) -> None:
    store.set_guide(1, {"templates": ["t"], "ai_policy": "Say so.", "vouched": ["Ann"]}, NOW)
    found = facts(store)
    assert found.author.marks == ("vouched",)
    assert (found.repository.templates, found.repository.ai_policy) == (("t",), "Say so.")
    assert facts(store, thread(author="eve")).author.marks == ()
    required = dossier.pull_request(store, repository(store), parse("disclosure: {required: true}"), thread(), now=NOW)
    assert required.repository.disclosure_required is True


def test_a_commenters_timeline_holds_the_questions_that_were_answered(store: Store) -> None:
    store.add_acts(
        [
            act("1", who=MAX, ago=90),
            act("2", ago=80, association="NONE"),
            act("3", who=MAX, number=8, ago=70),  # a thread that ann was never on
            act("4", repository_id=2, number=1, ago=60),  # another repository
            act("5", ago=50, association="CONTRIBUTOR"),
        ]
    )
    found = dossier.commenter(store, repository(store), DEFAULT, ann(store), now=NOW)
    assert (found.subject, found.pull_request, found.number) == ("commenter", None, None)
    assert found.author.association == "CONTRIBUTOR"  # as of the newest word
    assert found.timeline is not None
    assert [(one.is_author, one.number) for one in found.timeline] == [(False, 7), (True, 7), (True, 7)]
    assert len(found.activity or ()) == 3
