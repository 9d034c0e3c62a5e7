"""GitHub's JSON as facts: whatever is missing is unknown, and nothing crashes."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.forge import translate
from triage.forge.invitation import ai_policy, contributors, vouched
from triage.forge.port import RepositoryRef

WIDGETS = RepositoryRef(70, 42, "acme/widgets")
AT = "2026-11-30T10:00:00Z"
FIELDS = re.findall(
    r"\w+",
    "filename patch commit author committer date email message event actor user created_at comments login pullRequests "
    "nodes totalCount repository owner here labels name createdAt merged body id in_reply_to_id type state issueCount",
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.just(AT),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(FIELDS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_translated(value: Any) -> None:
    remarks = {"event": "line-commented", "comments": value}
    items = translate.objects([value, {"event": value, "created_at": AT}, remarks])
    translate.files(items)
    translate.commits(items)
    translate.timeline(items, "someone")
    translate.author({"user": value, "here": value, "merged": value}, "someone", WIDGETS)
    translate.author(value, "someone", WIDGETS)
    for one in items:
        translate.present(one)
        translate.role(one)
    translate.carries(value, "mark")


def test_kinds_of_the_timeline_are_ours() -> None:
    names = ["commented", "reviewed", "renamed", "closed", "reopened", "ready_for_review", "labeled", "unlabeled"]
    other = ["subscribed", "mentioned", "merged", "head_ref_force_pushed", "cross-referenced", "convert_to_draft"]
    items = [{"event": name, "created_at": AT, "actor": {"login": "x", "type": "Bot"}} for name in names + other]
    found = translate.timeline(items, "X")
    assert [one.kind for one in found] == [
        "comment",
        "review",
        "edited",
        "closed",
        "reopened",
        "ready_for_review",
        "labeled",
        "unlabeled",
    ]
    assert {(one.is_author, one.actor_type) for one in found} == {(True, "Bot")}


def test_a_commit_is_at_its_committers_time_by_nobody_known() -> None:
    item = {"event": "committed", "author": {"date": "2020-01-01T00:00:00Z"}, "committer": {"date": AT}, "message": "m"}
    (event,) = translate.timeline([item], "someone")
    assert (event.kind, event.at, event.actor, event.is_author, event.body) == (
        "commit",
        translate.time(AT),
        None,
        None,
        "m",
    )


def test_answers_share_the_thread_of_the_remark_that_they_answer() -> None:
    remarks = [
        {"id": 5, "created_at": AT, "user": {"login": "maria"}, "path": "a.py", "line": 3, "body": "why"},
        {
            "id": 6,
            "created_at": AT,
            "user": None,
            "path": "a.py",
            "original_line": 3,
            "in_reply_to_id": 5,
        },
    ]
    found = translate.timeline([{"event": "line-commented", "comments": remarks}], None)
    assert [(one.kind, one.actor, one.path, one.line, one.thread) for one in found] == [
        ("review_comment", "maria", "a.py", 3, "5"),
        ("review_comment", None, "a.py", 3, "5"),
    ]


@pytest.mark.parametrize(
    ("message", "found"),
    [
        (None, None),
        ("", {}),
        ("Fix: this is a subject", {}),
        ("Fix\n\nNote: words\n\nmore words", {}),
        ("Fix\r\n\r\nBody\r\n\r\nReviewed-by: A <a@b>\r\n", {"Reviewed-by": "A <a@b>"}),
        ("Fix\n\nA-by: 1\nA-by: 2\nhttps://example.org", {"A-by": ("1", "2")}),
    ],
)
def test_trailers_stand_in_the_last_paragraph(message: str | None, found: dict[str, Any] | None) -> None:
    assert translate.trailers(message) == found


def _pulls(total: int, *states: str, key: int | None = 42) -> dict[str, Any]:
    repository = {"databaseId": key, "nameWithOwner": "ACME/Widgets", "owner": {"login": "acme"}}
    nodes = [{"createdAt": AT, "state": state, "repository": repository} for state in states]
    return {"user": {"createdAt": AT, "pullRequests": {"totalCount": total, "nodes": nodes}}}


def test_counts_are_exact_or_unknown() -> None:
    def counts(data: dict[str, Any]) -> tuple[int | None, int | None]:
        known = translate.author(data, "someone", WIDGETS)
        assert known is not None
        return known.merged_here, known.closed_here

    here = {"here": {"databaseId": 42, "nameWithOwner": "acme/widgets"}}
    search = {"merged": {"issueCount": 9}, "closed": {"issueCount": 8}}
    assert counts(_pulls(3, "MERGED", "CLOSED", "OPEN")) == (1, 1)
    assert counts(_pulls(3, "MERGED", "CLOSED", "OPEN", key=None)) == (1, 1)
    assert counts(_pulls(3, "MERGED", "CLOSED", "OPEN", key=43)) == (0, 0)
    assert counts(_pulls(300, "MERGED")) == (None, None)
    assert counts(_pulls(300, "MERGED") | search) == (None, None)
    assert counts(_pulls(300, "MERGED") | search | here) == (9, 8)
    assert counts(_pulls(300, "MERGED") | {"merged": None} | here) == (None, None)
    assert translate.author({"user": None} | search | here, "someone", WIDGETS) is None


def test_a_custom_role_counts_as_what_it_is_built_on() -> None:
    assert translate.role({"role_name": "release-captain", "permission": "write"}) == "write"
    assert translate.role({"role_name": "maintain", "permission": "write"}) == "maintain"
    assert translate.role({"role_name": "release-captain"}) is None


@pytest.mark.parametrize(("limit", "found"), [(0, ""), (1, "a"), (2, "a"), (3, "aé"), (99, "aé")])
def test_a_text_is_cut_between_code_points(limit: int, found: str) -> None:
    assert translate.cut("aé", limit) == found


def test_paragraphs_about_ai_are_found_and_others_are_not() -> None:
    text = "Use the user agent.\n\nAid the maintainer.\n\nDisclose AI use.\r\n\r\nNo ChatGPT.\n\nDisclose AI use."
    assert ai_policy([text]) == "Disclose AI use.\n\nNo ChatGPT."
    assert ai_policy(["Maintain the agenda.", ""]) is None
    assert len(ai_policy([f"AI {one} " + "x" * 500 for one in "abcdef"]) or "") <= 2000


def test_vouch_lists_clear_only_whom_they_name() -> None:
    text = "ann # nice\n-bob bad\n\n# carl\ngithub:Dan met at a fair\ngitlab:eve\n@fay\n"
    assert vouched(text) == {"ann", "dan", "fay"}
    text = "@ann, bob@example.org, https://github.com/acme/widgets [x](https://github.com/Carl)"
    assert contributors(text, "github.com") == {"ann", "carl"}
    assert contributors("https://notgithub.com/ann https://git.example.com/Bob", "git.example.com") == {"bob"}
