"""Writing to GitHub over HTTP: what lands there, once, and what is said when it does not."""

import logging
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from standin.shapes import node
from standin.threads import Comment
from standin.world import Label
from triage.forge.live import LiveForge
from triage.forge.port import Forbidden, ForgeError, Gone, ReadOnly, Refused, RepositoryRef, Suspended, Unavailable

WIDGETS = RepositoryRef(70, 42, "acme/widgets")
OPENED = datetime(2026, 11, 30, 10, tzinfo=UTC)
NAME = "triage: author review not seen"
LOOK = ("#BFDADC", "No sign yet that the author read this before sending")
MARK = "<!-- livefirst -->"
TOKEN = "personal-token-of-maria"


@pytest.fixture
def by_token(github: Any) -> Iterator[LiveForge]:
    made = LiveForge.for_token(TOKEN, github.url, count=github.count)
    yield made
    made.close()


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triage.forge.asking.PAUSES", (0.0, 0.0))


# --- labels ---


def test_a_missing_label_is_made_with_colour_and_description(github: Any, forge: LiveForge) -> None:
    assert forge.add_label(WIDGETS, 7, NAME, *LOOK) == NAME
    made = github.repository.label(NAME)
    assert (made.color, made.description) == ("bfdadc", LOOK[1])
    assert github.thread.labels == ["bug", NAME]
    assert github.counted["label"] == 3
    forge.add_label(WIDGETS, 3, NAME, *LOOK)
    assert github.counted["label"] == 4  # known now: one request


def test_a_label_in_another_case_is_used_as_it_stands(github: Any, forge: LiveForge) -> None:
    github.repository.labels.append(Label("Triage: Author Review NOT Seen", "112233", "Ours"))
    assert forge.add_label(WIDGETS, 7, NAME, *LOOK) == "Triage: Author Review NOT Seen"
    assert github.thread.labels == ["bug", "Triage: Author Review NOT Seen"]
    assert [(one.color, one.description) for one in github.repository.labels[1:]] == [("112233", "Ours")]


def test_a_grey_label_of_the_maintainers_keeps_its_look(github: Any, forge: LiveForge) -> None:
    github.repository.labels.append(Label(NAME, "ededed", None))
    for number in (7, 3):
        forge.add_label(WIDGETS, number, NAME, *LOOK)
    assert (github.repository.label(NAME).color, github.repository.label(NAME).description) == ("ededed", None)


def test_a_label_made_meanwhile_by_another_worker_is_no_error(github: Any, forge: LiveForge) -> None:
    github.repository.labels.append(Label(NAME.upper(), "112233"))
    github.fail("not_found", "/repos/acme/widgets/labels/*", method="GET")
    assert forge.add_label(WIDGETS, 7, NAME, *LOOK) == NAME.upper()


def test_a_label_deleted_meanwhile_comes_back_with_its_look(github: Any, forge: LiveForge) -> None:
    forge.add_label(WIDGETS, 7, NAME, *LOOK)
    github.repository.labels = [Label("bug")]
    for thread in github.repository.threads:
        thread.labels = []
    assert forge.add_label(WIDGETS, 3, NAME, *LOOK) == NAME
    made = github.repository.label(NAME)
    assert (made.color, made.description) == ("bfdadc", LOOK[1])


def test_a_hundred_labels_are_refused_in_words_that_can_be_shown(github: Any, forge: LiveForge) -> None:
    names = [f"l{one}" for one in range(100)]
    github.repository.labels += [Label(one) for one in names]
    github.thread.labels = names
    with pytest.raises(Refused, match="422"):
        forge.add_label(WIDGETS, 7, NAME, *LOOK)


def test_a_label_is_put_on_once_when_the_answer_is_lost(github: Any, forge: LiveForge, no_pauses: None) -> None:
    github.fail("server_error", "*/issues/7/labels", when="after")
    forge.add_label(WIDGETS, 7, NAME, *LOOK)
    assert github.thread.labels == ["bug", NAME]


def test_only_the_named_label_is_taken_off(github: Any, forge: LiveForge) -> None:
    forge.add_label(WIDGETS, 7, NAME, *LOOK)
    forge.remove_label(WIDGETS, 7, NAME)
    assert github.thread.labels == ["bug"]
    forge.remove_label(WIDGETS, 7, NAME)  # absent: no error
    assert forge.present(WIDGETS, 7).labels == {"bug"}


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_a_dot_never_takes_every_label_off(github: Any, forge: LiveForge, name: str) -> None:
    with pytest.raises(Refused):
        forge.remove_label(WIDGETS, 7, name)
    with pytest.raises(Refused):
        forge.add_label(WIDGETS, 7, name, *LOOK)
    assert github.thread.labels == ["bug"]


@pytest.mark.parametrize("name", ["a/b", "q?x=1#y", "ü %41 +", "a;b", ":tada: 🎉"])
def test_names_with_signs_arrive_as_they_are(github: Any, forge: LiveForge, name: str) -> None:
    assert forge.add_label(WIDGETS, 7, name, *LOOK) == name
    assert github.thread.labels == ["bug", name]
    forge.remove_label(WIDGETS, 7, name)
    assert github.thread.labels == ["bug"]


def test_a_label_lands_in_the_renamed_repository(github: Any, forge: LiveForge) -> None:
    forge.add_label(RepositoryRef(70, 42, "acme/gadgets"), 7, NAME, *LOOK)
    assert github.thread.labels == ["bug", NAME]
    assert github.repository.label(NAME).color == "bfdadc"


# --- comments ---


def test_an_own_comment_is_posted_found_and_edited(github: Any, forge: LiveForge) -> None:
    assert forge.own_comment(WIDGETS, 7, MARK) is None
    key = forge.post_comment(WIDGETS, 7, f"{MARK}\nHello")
    assert forge.own_comment(WIDGETS, 7, MARK) == key
    forge.edit_comment(WIDGETS, key, f"{MARK}\nHello again")
    assert [one.body for one in github.thread.comments if one.by_app] == [f"{MARK}\nHello again"]


def test_a_comment_is_never_sent_twice(github: Any, forge: LiveForge) -> None:
    for shape in ("server_error", "cut", "cut_body", "not_json"):
        github.thread.comments = []
        github.fail(shape, "*/comments", method="POST", when="after")
        with pytest.raises(Unavailable):
            forge.post_comment(WIDGETS, 7, f"{MARK}\nHello")
        assert len(github.thread.comments) == 1, shape
        assert forge.own_comment(WIDGETS, 7, MARK) is not None  # so the next attempt finds it


def test_other_peoples_marks_are_not_ours(github: Any, forge: LiveForge, by_token: LiveForge) -> None:
    github.thread.comments = [
        Comment("someone", f"{MARK} I copied this", OPENED, 501),
        Comment("livefirst-fan", f"{MARK}", OPENED, 502),
        Comment("maria", f"> {MARK}\n\nWhat is this?", OPENED, 503),
    ]
    assert forge.own_comment(WIDGETS, 7, MARK) is None
    assert by_token.own_comment(WIDGETS, 7, MARK) is None
    github.thread.comments.append(Comment("Maria", f"{MARK} mine", OPENED, 504))
    assert by_token.own_comment(WIDGETS, 7, MARK) == 504


def test_an_own_comment_is_found_on_every_page(github: Any, forge: LiveForge) -> None:
    talk = [Comment("someone", f"c{one}", OPENED + timedelta(minutes=one), 2000 + one) for one in range(350)]
    for place in (0, 150, 349):
        github.thread.comments = [*talk]
        github.thread.comments[place] = Comment("livefirst[bot]", MARK, OPENED, 9000 + place, by_app=True)
        assert forge.own_comment(WIDGETS, 7, MARK) == 9000 + place


def test_a_comment_is_cut_to_65536_bytes_between_code_points(github: Any, forge: LiveForge) -> None:
    forge.post_comment(WIDGETS, 7, "x" + "é" * 40_000)
    body = github.thread.comments[-1].body
    assert len(body.encode()) == 65_535
    assert body.rstrip("é") == "x"


def test_a_comment_is_collapsed_as_off_topic(github: Any, forge: LiveForge) -> None:
    key = forge.post_comment(WIDGETS, 7, "hello")
    forge.minimize_comment(WIDGETS, node("IC", key))
    assert github.thread.comments[-1].minimized == "OFF_TOPIC"
    with pytest.raises(Gone):
        forge.minimize_comment(WIDGETS, "nothing")


# --- locks, checks, refusals ---


def test_a_thread_is_locked(github: Any, forge: LiveForge) -> None:
    forge.lock(WIDGETS, 7)
    assert github.thread.locked is True
    with pytest.raises(ReadOnly):
        forge.post_comment(WIDGETS, 7, "hello")


def test_an_archived_repository_is_read_only(github: Any, forge: LiveForge) -> None:
    github.repository.archived = True
    with pytest.raises(ReadOnly):
        forge.add_label(WIDGETS, 7, "bug", *LOOK)


def test_a_check_run_reports_on_the_commit(github: Any, forge: LiveForge) -> None:
    sha = github.thread.pull.head_sha
    forge.check_run(WIDGETS, sha, name="triage policy", ok=False, title="Line 3", summary="not a number")
    run = github.repository.check_runs[-1]
    assert (run.head_sha, run.name, run.status, run.conclusion, run.title) == (
        sha,
        "triage policy",
        "completed",
        "failure",
        "Line 3",
    )


def test_a_missing_permission_is_forbidden_even_on_the_last_request(github: Any, forge: LiveForge) -> None:
    github.world.rate_limit = 4  # token apart: the refusal carries x-ratelimit-remaining 0
    github.world.installations[0].permissions["issues"] = "read"
    github.world.installations[0].permissions["pull_requests"] = "read"
    with pytest.raises(Forbidden) as caught:
        forge.add_label(WIDGETS, 7, "bug", *LOOK)
    assert not isinstance(caught.value, ReadOnly | Suspended)


def test_permissions_not_granted_yet_leave_the_others(github: Any, forge: LiveForge) -> None:
    del github.world.installations[0].permissions["checks"]
    assert forge.present(WIDGETS, 7).open is True
    assert forge.add_label(WIDGETS, 7, NAME, *LOOK) == NAME
    with pytest.raises(Forbidden):
        forge.check_run(WIDGETS, "0" * 40, name="a", ok=True, title="b", summary="c")


# --- credentials ---


def test_a_token_refused_in_mid_job_is_renewed_once(github: Any, forge: LiveForge) -> None:
    forge.present(WIDGETS, 7)
    github.fail("unauthorized", "*/issues/7")
    assert forge.present(WIDGETS, 7).open is True
    assert github.counted["token"] == 2
    github.fail("unauthorized", "*/issues/7", count=None)
    with pytest.raises(Unavailable, match="credentials"):
        forge.present(WIDGETS, 7)
    assert github.counted["token"] == 3


def test_threads_share_a_token_and_no_connection(github: Any, forge: LiveForge) -> None:
    numbers = {7: "someone", 3: "three", 4: "four"}
    for number, label in numbers.items():
        github.repository.thread(number).labels = [label]
        github.repository.labels.append(Label(label))
    start = threading.Barrier(8)

    connections = []

    def ask(one: int) -> list[tuple[int, frozenset[str]]]:
        start.wait()
        asked = [list(numbers)[(one + turn) % 3] for turn in range(12)]
        found = [(number, forge.present(WIDGETS, number).labels) for number in asked]
        connections.append(forge._wires._mine.wire[1])  # PyGithub keeps the request on it while it is sent
        return found

    with ThreadPoolExecutor(8) as pool:
        answers = [pair for found in pool.map(ask, range(8)) for pair in found]
    assert [pair for pair in answers if pair[1] != {numbers[pair[0]]}] == []
    assert len(set(map(id, connections))) == 8
    assert github.counted == Counter(token=1, present=96)


def test_every_request_is_counted_by_its_kind(github: Any, forge: LiveForge) -> None:
    forge.opening(WIDGETS, 7, "someone")
    forge.present(WIDGETS, 7)
    forge.text(WIDGETS, "a")
    forge.guide(WIDGETS)
    forge.role(WIDGETS, "maria")
    forge.lock(WIDGETS, 7)
    counted = Counter({key: value for key, value in github.counted.items() if key != "token"})
    assert sum(counted.values()) == len(github.asked())
    assert set(counted) == {"files", "commits", "timeline", "author", "present", "text", "guide", "role", "lock"}


def test_a_key_that_does_not_sign_is_refused_without_being_shown() -> None:
    broken = "-----BEGIN RSA PRIVATE KEY-----\nc2VjcmV0\n-----END RSA PRIVATE KEY-----\n"
    with pytest.raises(ForgeError, match="LIVEFIRST_PRIVATE_KEY") as caught:
        LiveForge.for_app(9, broken, "http://127.0.0.1:1", count=print, web_url="https://github.com")
    assert "c2VjcmV0" not in repr(caught.value)


def test_no_secret_and_no_body_is_said_or_logged(
    github: Any, forge: LiveForge, by_token: LiveForge, pem: str, caplog: pytest.LogCaptureFixture, no_pauses: None
) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, logger="github")  # as PyGithub's own switch for debugging does
    said = []
    for shape in (
        "forbidden",
        "not_found",
        "server_error",
        "unauthorized",
        "suspended",
        "not_json",
        "cut",
        "too_large",
    ):
        for one in (forge, by_token):
            github.fail(shape, "*/issues/7/comments", count=None)
            with pytest.raises(ForgeError) as caught:
                one.post_comment(WIDGETS, 7, "a body of words")
            github.gate.faults.due.clear()
            said.append(f"{caught.value!r} {caught.value.__cause__!r}")
    forge.post_comment(WIDGETS, 7, "a body of words")
    told = "\n".join([*said, caplog.text])
    for secret in ("ghs_", TOKEN, "eyJ", pem.splitlines()[3], "Bearer", "a body of words"):
        assert secret not in told
