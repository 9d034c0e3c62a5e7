"""Bodies into events: GitHub's own examples, our own shapes for what they lack, and anything at all."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from payloads.shapes import (
    AT,
    LATER,
    NEWCOMER,
    NUMBER,
    REPOSITORY_ID,
    ROBOT,
    SHA,
    SHAPES,
    body,
    comment,
    issue,
    label,
    pull,
    push,
    repository,
)

from triage.events import HANDLED, Checks, Event, NotJson, Person, parse

THREAD = f"thread:{REPOSITORY_ID}:{NUMBER}"
OPENED_AT = 1796032800.0  # 2026-11-30T10:00:00Z
LATER_AT = OPENED_AT + 510


def read(event: str, shape: Any) -> Event | None:
    return parse(event, json.dumps(shape).encode())


def known(name: str) -> Event:
    event = read(*SHAPES[name])
    assert event is not None
    return event


# --- our own shapes ---------------------------------------------------------------


@pytest.mark.parametrize("name", SHAPES)
def test_githubs_own_models_accept_our_shapes(name: str) -> None:
    from githubkit.webhooks import parse_obj  # noqa: PLC0415 - four seconds of import, for this test alone

    event, shape = SHAPES[name]
    parse_obj(event, shape)  # type: ignore[call-overload]  # the event is a word of a table here


@pytest.mark.parametrize(
    ("name", "why", "key", "kind"),
    [
        ("opened from a fork", "opened", f"pull:{REPOSITORY_ID}:7", "pull_request"),
        ("edited", "edited", f"edited:{REPOSITORY_ID}:7:{LATER_AT:.0f}", "edited"),
        ("closed, its fork deleted", "closed", f"closed:{REPOSITORY_ID}:7:{LATER_AT:.0f}", "closed"),
        ("pushed to, its author's account deleted", "pushed", f"push:{REPOSITORY_ID}:7:{SHA}", "commit"),
        ("comment on a pull request", "said", "comment:6001", "comment"),
        ("review without words", "said", "review:7001", "review"),
        ("answer to an inline comment", "said", "review_comment:8002", "review_comment"),
        ("issue opened through an App", "opened", f"issue:{REPOSITORY_ID}:7", "issue"),
        (
            "label taken off",
            "unlabelled",
            f"unlabeled:{REPOSITORY_ID}:7:triage: author review not seen:{LATER_AT:.0f}",
            "unlabeled",
        ),
    ],
)
def test_an_act_has_githubs_own_identity(name: str, why: str, key: str, kind: str) -> None:
    event = known(name)
    assert (event.why, event.subject, event.installation_id) == (why, THREAD, 55)
    assert [(act.key, act.kind) for act in event.acts] == [(key, kind)]


def test_a_pull_request_is_read_whole() -> None:
    thread = known("opened from a fork").thread
    assert thread is not None
    assert (thread.kind, thread.number, thread.open, thread.merged, thread.draft) == ("pull", 7, True, False, False)
    assert (thread.title, thread.body) == ("Round the total, not the parts", "The total was off by a cent.")
    assert thread.author == Person(501, "newcomer", "User")
    assert (thread.head_ref, thread.head_sha, thread.base_ref) == ("rounding", SHA, "main")
    assert (thread.additions, thread.deletions, thread.changed_files, thread.labels) == (3, 1, 1, ())
    assert (thread.created_at, thread.updated_at) == (OPENED_AT, LATER_AT)


def test_what_a_body_does_not_tell_is_unknown() -> None:
    """A comment's body shows the pull request as an issue: no branches, no sizes."""
    thread = known("comment on a pull request").thread
    assert thread is not None
    assert thread.kind == "pull"
    assert (thread.head_sha, thread.base_ref, thread.additions, thread.changed_files) == (None, None, None, None)


def test_no_description_is_known_to_be_empty() -> None:
    thread = known("opened without a description").thread
    assert thread is not None
    assert thread.body == ""
    review = known("review without words").acts[0]
    assert review.body == ""


def test_a_deleted_account_is_nobody() -> None:
    said = known("comment of a deleted account")
    assert said.acts[0].actor is None
    pushed = known("pushed to, its author's account deleted")
    assert pushed.thread is not None
    assert pushed.thread.author is None


def test_a_deleted_fork_leaves_the_branch() -> None:
    closed = known("closed, its fork deleted")
    assert closed.thread is not None
    assert (closed.thread.head_ref, closed.thread.open, closed.thread.merged) == ("rounding", False, True)


def test_who_acted_is_told_from_who_wrote() -> None:
    """A label that an App puts on is the App's act on the newcomer's pull request."""
    event = known("labelled by this App")
    assert event.sender == Person(ROBOT["id"], "github-actions[bot]", "Bot")
    assert event.acts[0].actor == event.sender
    assert event.acts[0].association is None
    assert event.label == "triage: author review not seen"
    assert event.thread is not None
    assert event.thread.author == Person(501, "newcomer", "User")
    assert event.thread.labels == ("triage: author review not seen",)


def test_the_actors_association_is_the_one_of_the_words() -> None:
    assert known("answer to an inline comment").acts[0].association == "FIRST_TIME_CONTRIBUTOR"
    assert known("opened by a first timer").acts[0].association == "FIRST_TIMER"


def test_an_answer_shares_the_thread_of_what_it_answers() -> None:
    answer = known("answer to an inline comment").acts[0]
    assert (answer.thread, answer.path, answer.line) == ("8001", "src/total.py", 12)


def test_an_app_is_named_where_it_wrote_for_somebody() -> None:
    thread = known("issue opened through an App").thread
    assert thread is not None
    assert thread.app_author == "coding-agent"
    plain = known("comment on a pull request").thread
    assert plain is not None
    assert plain.app_author is None


def test_a_private_repository_is_known_as_one() -> None:
    assert known("opened in a private repository").repository.private
    assert not known("opened from a fork").repository.private


# --- repositories -----------------------------------------------------------------


def test_a_push_is_ours_when_it_touches_the_policy_of_the_default_branch() -> None:
    event = known("push of a policy")
    assert (event.why, event.subject, event.thread) == ("policy", f"repository:{REPOSITORY_ID}", None)
    assert event.paths == (".github/triage.yml",)
    assert read("push", push(paths={"removed": [".github/triage.yml"]})) is not None


@pytest.mark.parametrize(
    "shape",
    [
        push(paths={"modified": ["README.md"]}),
        push(ref="refs/heads/other", paths={"modified": [".github/triage.yml"]}),
        push(ref="refs/tags/main", paths={"modified": [".github/triage.yml"]}),
        push(commits=None),
    ],
)
def test_any_other_push_is_not_ours(shape: Any) -> None:
    assert read("push", shape) is None


def test_a_forced_push_may_have_dropped_the_policy() -> None:
    event = read("push", push(forced=True))
    assert event is not None
    assert event.why == "policy"


@pytest.mark.parametrize(
    ("conclusion", "outcome"),
    [
        ("success", "success"),
        ("skipped", "success"),
        ("timed_out", "failure"),
        ("action_required", "pending"),
        (None, None),
        ("brand_new", None),
    ],
)
def test_checks_are_told_with_their_commit(conclusion: str | None, outcome: str | None) -> None:
    suite = {"id": 9001, "head_sha": SHA, "conclusion": conclusion, "updated_at": LATER}
    event = read("check_suite", body("completed", ROBOT, check_suite=suite))
    assert event is not None
    assert (event.why, event.subject) == ("checked", f"repository:{REPOSITORY_ID}")
    assert event.checks == Checks(SHA, outcome)  # type: ignore[arg-type]  # a word of the table above
    expected = [] if outcome is None else [(f"checked:9001:{LATER_AT:.0f}", outcome, SHA)]
    assert [(act.key, act.body, act.base) for act in event.acts] == expected


# --- what is not ours, and what is wrong --------------------------------------------


@pytest.mark.parametrize(
    "event", ["ping", "star", "installation", "discussion_comment", "brand_new", "", "PULL_REQUEST"]
)
def test_other_events_are_not_ours(event: str) -> None:
    assert read(event, body("created", NEWCOMER, comment=comment(), issue=issue(of_pull=True))) is None


def test_other_actions_are_not_ours() -> None:
    assert read("pull_request", body("brand_new", NEWCOMER, pull_request=pull())) is None
    assert read("issue_comment", body("deleted", NEWCOMER, issue=issue(of_pull=True), comment=comment())) is None


@pytest.mark.parametrize(
    ("event", "shape"),
    [
        ("pull_request", body("opened", NEWCOMER)),
        ("pull_request", body("opened", NEWCOMER, pull_request=pull(number=None))),
        ("pull_request", body("opened", NEWCOMER, pull_request=pull(number=True))),
        ("pull_request", body("opened", NEWCOMER, pull_request=pull(number=-3))),
        ("pull_request", body("opened", NEWCOMER, pull_request=pull(number=2**40))),
        ("pull_request", body("labeled", NEWCOMER, pull_request=pull())),
        ("pull_request", {**body("opened", NEWCOMER, pull_request=pull()), "repository": None}),
        ("pull_request", body("opened", NEWCOMER, repo=repository(id="12"), pull_request=pull())),
        ("issue_comment", body("created", NEWCOMER, issue=issue(of_pull=True))),
        ("issue_comment", body("created", NEWCOMER, issue=issue(of_pull=True), comment=comment(id=2**70))),
        ("check_suite", body("completed", NEWCOMER, check_suite={"id": 1})),
        ("issues", {"action": ["opened"]}),
    ],
)
def test_a_body_that_lacks_what_its_event_needs_is_not_ours(event: str, shape: Any) -> None:
    assert read(event, shape) is None


def test_a_field_of_another_type_is_unknown_and_the_rest_is_read() -> None:
    wrong = {
        "title": 7,
        "user": "newcomer",
        "draft": "no",
        "additions": "3",
        "created_at": 12,
        "labels": [{"name": None}],
        "head": [],
    }
    event = read("pull_request", body("edited", NEWCOMER, pull_request=pull(**wrong)))
    assert event is not None
    assert event.thread is not None
    thread = event.thread
    assert [thread.title, thread.author, thread.draft, thread.additions, thread.created_at, thread.labels] == [None] * 6
    assert (thread.head_sha, thread.deletions, thread.updated_at) == (None, 1, LATER_AT)


def test_a_time_without_a_zone_is_utc_and_one_with_a_zone_is_that_instant() -> None:
    said = [comment(created_at=at) for at in ("2026-11-30T10:00:00", "2026-11-30T12:00:00+02:00", AT)]
    events = [read("issue_comment", body("created", NEWCOMER, issue=issue(of_pull=True), comment=one)) for one in said]
    assert [event.acts[0].at for event in events if event] == [OPENED_AT] * 3


def test_an_act_without_a_time_is_none() -> None:
    shape = body("created", NEWCOMER, issue=issue(of_pull=True), comment=comment(created_at=None))
    event = read("issue_comment", shape)
    assert event is not None
    assert event.acts == ()


def test_text_is_what_a_database_can_hold() -> None:
    """PostgreSQL refuses U+0000 in text: the delivery would fail for ever."""
    shape = body("created", NEWCOMER, issue=issue(of_pull=True, title="a\0b"), comment=comment(body="c\0d"))
    event = read("issue_comment", shape)
    assert event is not None
    assert event.thread is not None
    assert (event.thread.title, event.acts[0].body) == ("a\ufffdb", "c\ufffdd")


@pytest.mark.parametrize("words", [r"\u0000", r"a \\u0000 b", "\0\0", "\\\0", r"\x00"])
def test_only_the_character_is_replaced_not_its_name(words: str) -> None:
    shape = body("created", NEWCOMER, issue=issue(of_pull=True), comment=comment(body=words))
    event = read("issue_comment", shape)
    assert event is not None
    assert event.acts[0].body == words.replace("\0", "\ufffd")


def test_the_character_itself_is_no_json() -> None:
    with pytest.raises(NotJson):
        parse("ping", b'{"action": "a\0b"}')


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b'{"action": "opened"',
        b"payload=%7B%7D",
        b"[]",
        b"null",
        b'"text"',
        b"\xff\xfe{\x00}\x00",
        b'{"action": "\xff"}',
        b'{"action": "\\ud800"}',
        b'{"action": NaN}{}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"9" * 10_000,
    ],
)
def test_what_is_no_object_of_json_is_refused_whatever_the_event(raw: bytes) -> None:
    for event in ("pull_request", "ping"):
        with pytest.raises(NotJson, match=r"^not JSON: "):
            parse(event, raw)


def test_a_refusal_repeats_nothing_of_the_body() -> None:
    with pytest.raises(NotJson) as refused:
        parse("pull_request", b'{"action": "a-secret-word", "x": }')
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "raw",
    [
        json.dumps(body("edited", NEWCOMER, pull_request=pull(body="a" * 24_000_000))).encode(),
        json.dumps(body("edited", NEWCOMER, pull_request=pull(body="> " * 12_000_000))).encode(),
        json.dumps(body("edited", NEWCOMER, pull_request=pull(labels=[label()] * 100_000))).encode(),
        b'{"x":[' + b"1," * 12_000_000 + b"1]}",
    ],
    ids=["one line", "quotes", "labels", "numbers"],
)
def test_the_largest_bodies_take_under_a_second_of_processor_time(raw: bytes) -> None:
    """The best of three: what else runs on the machine only ever makes it slower."""
    spent = []
    for _ in range(3):
        began = time.thread_time()
        parse("pull_request", raw)
        spent.append(time.thread_time() - began)
    assert min(spent) < 1.0


# --- anything at all ----------------------------------------------------------------

EVENTS = st.sampled_from([*HANDLED, "ping", "\N{SNOWMAN}"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(EVENTS, st.binary(max_size=300))
def test_any_bytes_are_an_event_nothing_or_a_refusal(event: str, raw: bytes) -> None:
    try:
        found = parse(event, raw)
    except NotJson:
        return
    assert found is None or isinstance(found, Event)


@given(st.sampled_from(sorted(SHAPES)), st.data())
def test_any_value_in_any_place_is_an_event_or_nothing(name: str, data: st.DataObject) -> None:
    """One place of a good body is overwritten, at any depth: what comes out can be stored and sorted by time."""
    event, shape = SHAPES[name]
    changed = json.loads(json.dumps(shape))
    here = changed
    while True:
        key = data.draw(st.sampled_from(sorted(here)))
        if not isinstance(here[key], dict) or not here[key] or data.draw(st.booleans()):
            break
        here = here[key]
    here[key] = data.draw(ANYTHING)
    raw = json.dumps(changed).encode(errors="surrogatepass")
    try:
        found = parse(event, raw)
    except NotJson:  # a lone surrogate is no text
        return
    if found is None:
        return
    assert found.subject.startswith(("thread:", "repository:"))
    assert 0 < found.repository.id < 2**63
    for act in found.acts:
        assert isinstance(act.at, float)
        assert "\0" not in (act.body or "")
        assert act.actor is None or 0 < act.actor.id < 2**63
