"""The door over real HTTP: what is stored, what is refused and how, and what the log says."""

import json
import sqlite3
import struct
import threading
from collections.abc import Iterator
from contextlib import closing
from socket import SO_LINGER, SOL_SOCKET
from typing import Any

import pytest
import structlog
from payloads.shapes import NEWCOMER, REPOSITORY_ID, SHAPES, body, comment, issue
from plugins_node import Node

from triage.events import HANDLED
from triage.metrics import DELIVERIES
from webhooks.receive import MAX_BODY

from .conftest import OLD_SECRET, SECRET, Household, Server, configured, serving, signature

COMMENT = SHAPES["comment on a pull request"][1]
LIMIT = 25 * 1024 * 1024


@pytest.fixture
def lines() -> Iterator[list[Any]]:
    """Catch what is logged."""
    with structlog.testing.capture_logs() as caught:
        yield caught


def counted(outcome: str) -> float:
    return DELIVERIES.labels(outcome=outcome)._value.get()


# --- stored ---------------------------------------------------------------------


def test_a_delivery_is_on_disk_when_202_is_said(server: Server) -> None:
    answer = server.deliver("issue_comment", COMMENT, guid="first")
    assert (answer.status_code, answer.json()) == (202, {"status": "accepted"})
    assert server.kept() == [("first", "issue_comment", "waiting")]
    row = server.house.deliveries.listed()[0]
    assert (row.action, row.installation_id, row.repository_id) == ("created", 55, REPOSITORY_ID)
    assert row.subject == f"thread:{REPOSITORY_ID}:7"
    assert server.house.woken == [row.subject]


def test_the_body_is_kept_byte_for_byte(server: Server) -> None:
    raw = b' {"odd":  "spacing", ' + json.dumps(COMMENT).encode()[1:] + b"\n"
    assert server.deliver("issue_comment", raw).status_code == 202
    row = server.house.deliveries.listed()[0]
    claim = server.house.deliveries.claim(row.subject, "test", now=row.received_at + 100, lease=30)
    assert claim is not None
    assert claim.deliveries[0].body == raw


def test_the_same_delivery_twice_is_stored_once(server: Server) -> None:
    answers = [server.deliver("issue_comment", COMMENT, guid="same").json()["status"] for _ in range(2)]
    assert answers == ["accepted", "accepted"]  # not judged yet: a redelivery goes through
    assert len(server.kept()) == 1


def test_a_delivery_that_was_judged_is_a_duplicate(server: Server) -> None:
    server.deliver("issue_comment", COMMENT, guid="same")
    row = server.house.deliveries.listed()[0]
    claim = server.house.deliveries.claim(row.subject, "test", now=row.received_at + 100, lease=30)
    assert claim is not None
    server.house.deliveries.finish(claim, {row.id: "unsure"}, now=row.received_at + 101)
    answer = server.deliver("issue_comment", COMMENT, guid="same")
    assert (answer.status_code, answer.json()) == (202, {"status": "duplicate"})


def test_a_stale_delivery_is_stored_like_any_other(door: Server) -> None:
    old = comment(created_at="2019-05-15T15:20:37Z", updated_at="2019-05-15T15:20:37Z")
    answer = door.deliver("issue_comment", body("created", NEWCOMER, issue=issue(of_pull=True), comment=old))
    assert answer.json() == {"status": "accepted"}


def test_the_secret_that_is_being_rotated_out_still_verifies(door: Server) -> None:
    assert door.deliver("issue_comment", COMMENT, secret=OLD_SECRET).status_code == 202


@pytest.mark.parametrize("event", ["ping", "star", "brand_new_event"])
def test_an_event_that_is_not_used_is_ignored_and_not_stored(door: Server, event: str) -> None:
    answer = door.deliver(event, COMMENT)
    assert (answer.status_code, answer.json()) == (202, {"status": "ignored"})
    assert door.kept() == []


def test_many_senders_at_once_lose_nothing(server: Server) -> None:
    answers: list[int] = []

    def send(sender: int) -> None:
        answers.extend(
            server.deliver("issue_comment", COMMENT, guid=f"{sender}-{number}").status_code for number in range(10)
        )

    threads = [threading.Thread(target=send, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [202] * 80
    assert len(server.kept()) == 80


# --- refused --------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Hub-Signature-256": None},
        {"X-Hub-Signature-256": ""},
        {"X-Hub-Signature-256": signature(b"another body")},
        {"X-Hub-Signature-256": None, "X-Hub-Signature": signature(json.dumps(COMMENT).encode(), algorithm="sha1")},
        {"X-Hub-Signature-256": None, "X-GitHub-Event": None},
    ],
    ids=["unsigned", "empty", "mis-signed", "sha1 only", "unsigned and without an event"],
)
def test_what_is_not_signed_is_refused_before_it_is_read(door: Server, headers: dict[str, str | None]) -> None:
    answer = door.deliver("issue_comment", COMMENT, headers=headers)
    assert answer.status_code == 401
    assert "X-Hub-Signature-256" in answer.json()["error"]
    assert door.kept() == []


def test_another_secret_is_refused(door: Server) -> None:
    assert door.deliver("issue_comment", COMMENT, secret="guessed").status_code == 401


def test_a_cut_body_does_not_verify(door: Server) -> None:
    raw = json.dumps(COMMENT).encode()
    answer = door.deliver("issue_comment", raw[:-20], headers={"X-Hub-Signature-256": signature(raw)})
    assert answer.status_code == 401


def test_without_a_secret_nothing_gets_in(tmp_path: Any, database: Any) -> None:
    with serving(Household(database, configured(webhook_secret=None))) as running:
        assert running.deliver("issue_comment", COMMENT, secret="").status_code == 401


@pytest.mark.parametrize(
    ("raw", "headers", "said"),
    [
        (b"{}", {"X-GitHub-Event": None}, "X-GitHub-Event"),
        (b"{}", {"X-GitHub-Event": ""}, "X-GitHub-Event"),
        (b"{}", {"X-GitHub-Delivery": None}, "X-GitHub-Delivery"),
        (b"{}", {"X-GitHub-Delivery": "x" * 101}, "X-GitHub-Delivery"),
        (b"{}", {"X-GitHub-Delivery": "a\tb"}, "X-GitHub-Delivery"),
        (
            b"payload=%7B%7D",
            {"Content-Type": "application/x-www-form-urlencoded"},
            "set the webhook's content type to application/json",
        ),
        (b"{}", {"Content-Type": "text/plain"}, "set the webhook's content type to application/json"),
        (b'{"action": "created"', {}, "not JSON"),
        (b"payload=%7B%7D", {"Content-Type": None}, "not JSON"),
        (b"", {}, "not JSON"),
        (b"[]", {}, "not JSON"),
        (b'{"action": "\xff"}', {}, "not JSON"),
        ('{"action": "created"}'.encode("utf-16"), {}, "not JSON"),
        (b'{"a":' * 5000, {}, "not JSON"),
    ],
)
def test_what_cannot_be_read_is_refused_and_says_the_mend(
    door: Server, raw: bytes, headers: dict[str, str | None], said: str
) -> None:
    answer = door.deliver("issue_comment", raw, headers=headers)
    assert answer.status_code == 400
    assert said in answer.json()["error"]
    assert door.kept() == []


@pytest.mark.parametrize("kind", [None, "application/json", "application/json; charset=utf-8", "Application/JSON"])
def test_json_by_any_spelling_is_json(door: Server, kind: str | None) -> None:
    assert door.deliver("issue_comment", COMMENT, headers={"Content-Type": kind}).status_code == 202


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_only_post_is_a_delivery(door: Server, method: str) -> None:
    assert door.client.request(method, "/webhooks/github").status_code == 405


# --- too large ------------------------------------------------------------------


def test_the_limit_is_githubs() -> None:
    assert MAX_BODY == LIMIT


@pytest.mark.parametrize("length", [str(LIMIT + 1), "9" * 5000])
def test_a_body_that_says_it_is_too_large_is_refused_unread(door: Server, length: str) -> None:
    with door.connect() as connection:
        connection.sendall(f"POST /webhooks/github HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n".encode())
        answer = connection.recv(4096)
    # A length that no number holds is refused by the server before the door sees it.
    assert answer.startswith((b"HTTP/1.1 413", b"HTTP/1.1 400"))
    assert len(length) > 100 or answer.startswith(b"HTTP/1.1 413")


def test_a_stream_that_grows_too_large_is_refused(door: Server) -> None:
    chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    with door.connect() as connection:
        connection.sendall(b"POST /webhooks/github HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(25):
            connection.sendall(chunk)
        connection.sendall(b"1\r\n \r\n")  # one byte more than 25 MB
        answer = connection.recv(4096)
    assert answer.startswith(b"HTTP/1.1 413")


def test_the_largest_body_that_github_sends_is_kept(door: Server) -> None:
    empty = len(json.dumps({**COMMENT, "pad": ""}).encode())
    raw = json.dumps({**COMMENT, "pad": "a" * (LIMIT - empty)}).encode()
    assert len(raw) == LIMIT
    assert door.deliver("issue_comment", raw).status_code == 202
    assert len(door.kept()) == 1


def test_bodies_sent_at_once_share_a_limit_and_give_it_back(door: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is known to be GitHub while a body is still coming: together they must not fill the memory."""
    size = len(json.dumps(COMMENT).encode())
    monkeypatch.setattr("webhooks.receive.MAX_HELD", size)
    for _ in range(3):
        assert door.deliver("issue_comment", COMMENT).status_code == 202
    monkeypatch.setattr("webhooks.receive.MAX_HELD", size - 1)
    answer = door.deliver("issue_comment", COMMENT)
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) > 0


# --- trouble ----------------------------------------------------------------------


def test_a_sender_that_hangs_up_harms_nobody(door: Server, lines: list[Any]) -> None:
    before = counted("hung_up")
    connection = door.connect()
    connection.sendall(b"POST /webhooks/github HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc")
    connection.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))  # reset, not a polite end
    while not door.client.get("/healthz").is_success:
        pass
    connection.close()
    while counted("hung_up") == before:
        assert door.client.get("/healthz").status_code == 200
    assert door.deliver("issue_comment", COMMENT).status_code == 202
    assert [line["outcome"] for line in lines if line["event"] == "delivery"] == ["hung_up", "accepted"]


def test_what_could_not_be_stored_is_503_and_can_be_sent_again(door: Server, lines: list[Any]) -> None:
    door.house.inbox.stop()
    answer = door.deliver("issue_comment", COMMENT)
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) > 0
    assert "error" in answer.json()
    door.house.inbox.start()
    assert door.deliver("issue_comment", COMMENT).json() == {"status": "accepted"}
    assert [line["outcome"] for line in lines if line["event"] == "delivery"] == ["not_kept", "accepted"]


def test_a_locked_database_is_503_and_works_again_without_a_restart(door: Server) -> None:
    path = door.house.settings.database_url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")  # held longer than anybody waits for it
        answer = door.deliver("issue_comment", COMMENT, guid="locked-out")
        other.execute("ROLLBACK")
    assert answer.status_code == 503
    assert door.deliver("issue_comment", COMMENT, guid="locked-out").json() == {"status": "accepted"}
    assert door.kept() == [("locked-out", "issue_comment", "waiting")]


# --- the log ------------------------------------------------------------------------


def test_one_line_a_delivery_says_what_became_of_it(door: Server, lines: list[Any]) -> None:
    door.deliver("issue_comment", COMMENT, guid="told")
    door.deliver("star", {"action": "deleted"}, guid="star-1")
    door.deliver("issue_comment", COMMENT, guid="forged", secret="guessed")
    door.deliver("issue_comment", b"{", guid="cut")
    told = [line for line in lines if line["event"] == "delivery"]
    assert [(line["github_event"], line["action"], line["delivery"], line["outcome"]) for line in told] == [
        ("issue_comment", "created", "told", "accepted"),
        ("star", "deleted", "star-1", "ignored"),
        ("issue_comment", None, "forged", "unsigned"),
        ("issue_comment", None, "cut", "malformed"),
    ]
    assert told[0]["bytes"] == len(json.dumps(COMMENT).encode())
    assert all(line["milliseconds"] >= 0 for line in told)


def test_no_line_holds_a_secret_a_signature_or_a_body(door: Server, lines: list[Any]) -> None:
    marked = body("created", NEWCOMER, issue=issue(of_pull=True), comment=comment(body="words of a stranger"))
    raw = json.dumps(marked).encode()
    sent: list[dict[str, str | None]] = [
        {},
        {"X-Hub-Signature-256": "sha256=deadbeef"},
        {"X-GitHub-Delivery": "words of a stranger" * 20},
        {"Content-Type": "text/words of a stranger"},
    ]
    for headers in sent:
        door.deliver("issue_comment", raw, headers=headers)
    door.deliver("issue_comment", b'{"words of a stranger": ')
    door.house.inbox.stop()
    door.deliver("issue_comment", raw)
    assert len([line for line in lines if line["event"] == "delivery"]) == 6
    written = json.dumps(lines, default=repr)
    for word in ("stranger", "deadbeef", SECRET, OLD_SECRET, signature(raw)[10:40]):
        assert word not in written


def test_every_outcome_is_counted(door: Server) -> None:
    before = {outcome: counted(outcome) for outcome in ("accepted", "ignored", "unsigned", "malformed")}
    door.deliver("issue_comment", COMMENT)
    door.deliver("ping", {})
    door.deliver("issue_comment", COMMENT, secret="guessed")
    door.deliver("issue_comment", b"{")
    assert {outcome: counted(outcome) - was for outcome, was in before.items()} == dict.fromkeys(before, 1.0)


# --- GitHub's own examples ------------------------------------------------------------


@pytest.mark.node
def test_each_of_githubs_329_examples_gets_its_answer(door: Server, node: Node) -> None:
    """Ladder 1: nothing that GitHub publishes is refused, and exactly the events that we use are stored."""
    index = node.modules / "@octokit/webhooks-examples/api.github.com/index.json"
    groups = json.loads(index.read_text(encoding="utf-8"))
    examples = [(group["name"], shape) for group in groups for shape in group["examples"]]
    assert len(examples) == 329
    wrong = []
    for number, (event, shape) in enumerate(examples):
        used = shape.get("action") in HANDLED.get(event, ())
        answer = door.deliver(event, shape, guid=f"example-{number}")
        expected = (202, {"status": "accepted" if used else "ignored"})
        if (answer.status_code, answer.json()) != expected:
            wrong.append((event, shape.get("action"), answer.status_code, answer.text))
    assert wrong == []
    stored = {guid for guid, _, _ in door.kept()}
    assert len(stored) == sum(shape.get("action") in HANDLED.get(event, ()) for event, shape in examples) == 47


@pytest.mark.parametrize("name", SHAPES)
def test_each_of_our_shapes_is_stored(door: Server, name: str) -> None:
    assert door.deliver(*SHAPES[name]).json() == {"status": "accepted"}
