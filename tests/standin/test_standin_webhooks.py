"""The stand-in sends what GitHub would send, signed, in GitHub's shapes, and remembers what became of it."""

import hashlib
import hmac
import json
from typing import Any

import pytest
from githubkit import webhooks
from plugins_github import SECRET, Asking, Listener, StandIn

R = "/repos/acme/widgets"
ACTS = [
    ("open_pull", {"title": "Add b", "body": "For c."}, "pull_request", "opened"),
    ("open_issue", {"title": "Ask", "body": "Why?"}, "issues", "opened"),
    ("comment", {"number": 1, "body": "Hello."}, "issue_comment", "created"),
    ("review", {"number": 1, "body": "Hm.", "state": "COMMENTED"}, "pull_request_review", "submitted"),
    ("review_comment", {"number": 1, "body": "Here?"}, "pull_request_review_comment", "created"),
    ("push", {"number": 1}, "pull_request", "synchronize"),
    ("edit", {"number": 1, "body": "More.", "title": "New"}, "pull_request", "edited"),
    ("draft", {"number": 1}, "pull_request", "converted_to_draft"),
    ("ready", {"number": 1}, "pull_request", "ready_for_review"),
    ("label", {"number": 1, "label": "bug"}, "pull_request", "labeled"),
    ("lock", {"number": 1}, "pull_request", "locked"),
    ("close", {"number": 1}, "pull_request", "closed"),
    ("merge", {"number": 1}, "pull_request", "closed"),
    ("reopen", {"number": 1}, "pull_request", "reopened"),
    ("checks", {"number": 1, "conclusion": "failure"}, "check_suite", "completed"),
    ("write_files", {"files": {".github/triage.yml": "version: 1\n", "README.md": None}}, "push", None),
]


def bodies(listener: Listener) -> list[tuple[str, dict[str, Any]]]:
    return [(headers["x-github-event"], json.loads(body)) for headers, body in listener.heard]


@pytest.mark.parametrize(("do", "what", "event", "action"), ACTS, ids=[one[0] for one in ACTS])
def test_an_act_sends_a_delivery_of_githubs_shape(
    asking: Asking, listener: Listener, standin: StandIn, do: str, what: dict[str, Any], event: str, action: str | None
) -> None:
    standin.act(do, "max", **what)
    standin.settled()
    found = [(headers, body) for headers, body in listener.heard if headers["x-github-event"] == event]
    headers, body = found[-1]
    assert headers["x-hub-signature-256"] == "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    sent = json.loads(body)
    assert sent.get("action") == action
    assert sent["sender"]["login"] == "max"
    assert sent["installation"]["id"] == 70
    webhooks.parse_obj(event, sent)


def test_what_the_app_does_comes_back_as_the_work_of_its_bot(
    asking: Asking, listener: Listener, standin: StandIn
) -> None:
    asking.ask("POST", f"{R}/issues/1/labels", {"labels": ["hold"]})
    asking.ask("POST", f"{R}/issues/1/labels", {"labels": ["HOLD"]})
    comment = asking.ask("POST", f"{R}/issues/1/comments", {"body": "One."}).json()
    asking.ask("PATCH", f"{R}/issues/comments/{comment['id']}", {"body": "Two."})
    asking.ask("DELETE", f"{R}/issues/1/labels/hold")
    standin.settled()
    heard = bodies(listener)
    assert [(event, body["action"]) for event, body in heard] == [
        ("label", "created"),
        ("pull_request", "labeled"),
        ("issue_comment", "created"),
        ("issue_comment", "edited"),
        ("pull_request", "unlabeled"),
    ]
    for event, body in heard:
        assert (body["sender"]["login"], body["sender"]["type"]) == ("livefirst[bot]", "Bot")
        webhooks.parse_obj(event, body)
    assert heard[2][1]["comment"]["performed_via_github_app"]["slug"] == "livefirst"
    assert heard[2][1]["issue"]["pull_request"]["url"].endswith("/pulls/1")
    assert heard[3][1]["changes"] == {"body": {"from": "One."}}


def test_only_the_events_of_the_app_are_sent(asking: Asking, listener: Listener, standin: StandIn) -> None:
    world = standin.state()
    world["app"]["events"] = ["issue_comment"]
    standin.seed(world)
    standin.act("label", "max", number=1, label="bug")
    standin.act("comment", "ann", number=1, body="Hello.")
    standin.settled()
    assert [event for event, _ in bodies(listener)] == ["issue_comment"]


def test_a_failed_delivery_is_listed_and_sent_again_under_its_guid(
    asking: Asking, listener: Listener, standin: StandIn
) -> None:
    listener.status = 503
    standin.act("comment", "ann", number=1, body="One.")
    standin.settled()
    listener.status = 202
    standin.act("comment", "ann", number=1, body="Two.")
    standin.settled()
    app = asking.app()
    page = asking.ask("GET", "/app/hook/deliveries?per_page=1", headers=app)
    assert [one["status"] for one in page.json()] == ["OK"]
    older = standin.client.get(page.links["next"]["url"], headers=app).json()
    failed = asking.ask("GET", "/app/hook/deliveries?status=failure", headers=app).json()
    assert failed == older
    assert (failed[0]["status_code"], failed[0]["redelivery"]) == (503, False)
    again = asking.ask("POST", f"/app/hook/deliveries/{failed[0]['id']}/attempts", headers=app)
    assert again.status_code == 202
    standin.settled()
    newest = asking.ask("GET", "/app/hook/deliveries", headers=app).json()[0]
    assert (newest["guid"], newest["redelivery"], newest["status"]) == (failed[0]["guid"], True, "OK")
    guids = [headers["x-github-delivery"] for headers, _ in listener.heard]
    assert guids[0] == guids[2] != guids[1]


def test_an_app_that_is_away_is_noted_and_nothing_stops(asking: Asking, listener: Listener, standin: StandIn) -> None:
    world = standin.state()
    world["app"]["webhook_url"] = "http://127.0.0.1:9/"
    standin.seed(world)
    standin.act("comment", "ann", number=1, body="One.")
    assert [one["status"] for one in standin.settled()] == ["failed to connect to host"]
    assert standin.thread("acme/widgets", 1)["comments"][0]["body"] == "One."


def test_any_body_can_be_delivered(asking: Asking, listener: Listener, standin: StandIn) -> None:
    standin._ask("POST", "deliver/installation", {"action": "suspend", "installation": {"id": 70}})
    standin.settled()
    assert bodies(listener) == [("installation", {"action": "suspend", "installation": {"id": 70}})]
