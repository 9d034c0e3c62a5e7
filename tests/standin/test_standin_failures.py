"""The stand-in fails when, where and how often it is told to."""

from email.utils import parsedate_to_datetime
from threading import Thread
from typing import Any

import httpx
import pytest
from plugins_github import Asking, StandIn

R = "/repos/acme/widgets"


def test_a_fault_strikes_what_it_names_and_as_often_as_it_says(standin: StandIn, asking: Asking) -> None:
    token = asking.installed()
    standin.fail("server_error", path="*/labels*", method="GET", count=2, skip=1, status=503)
    statuses = [asking.ask("GET", f"{R}/labels", headers=token).status_code for _ in range(4)]
    assert statuses == [200, 503, 503, 200]
    assert asking.ask("GET", R, headers=token).status_code == 200
    standin.fail("unauthorized", count=None)
    assert [asking.ask("GET", R, headers=token).status_code for _ in range(3)] == [401, 401, 401]
    standin.heal()
    assert asking.ask("GET", R, headers=token).status_code == 200


@pytest.mark.parametrize(
    ("fault", "status", "header", "word"),
    [
        ({"shape": "forbidden"}, 403, "x-accepted-github-permissions", "not accessible"),
        ({"shape": "primary_limit"}, 403, "x-ratelimit-reset", "API rate limit exceeded"),
        ({"shape": "secondary_limit", "status": 429}, 429, "retry-after", "secondary rate limit"),
        ({"shape": "too_large"}, 422, "x-ratelimit-remaining", "too long"),
        ({"shape": "gone"}, 410, "x-ratelimit-remaining", "deleted"),
        ({"shape": "suspended"}, 403, "x-ratelimit-remaining", "suspended"),
        ({"shape": "graphql_limit"}, 200, "x-ratelimit-remaining", "RATE_LIMITED"),
        ({"shape": "not_json"}, 200, "x-ratelimit-remaining", "<html>"),
        ({"shape": "moved_301", "location": "http://127.0.0.1:1/x"}, 301, "location", "Moved"),
    ],
)
def test_every_shape_tells_what_github_would(
    standin: StandIn, asking: Asking, fault: dict[str, Any], status: int, header: str, word: str
) -> None:
    token = asking.installed()
    standin.fail(**fault)
    answer = asking.ask("GET", R, headers=token)
    assert (answer.status_code, word in answer.text) == (status, True)
    assert header in answer.headers


def test_only_the_primary_limit_says_that_nothing_remains(standin: StandIn, asking: Asking) -> None:
    token = asking.installed()
    for shape, remains in (("primary_limit", False), ("forbidden", True), ("secondary_limit", True)):
        standin.fail(shape)
        answer = asking.ask("GET", R, headers=token)
        assert (answer.headers["x-ratelimit-remaining"] != "0") == remains


def test_retry_after_is_seconds_a_date_or_absent(standin: StandIn, asking: Asking) -> None:
    token = asking.installed()
    told = []
    for form in ("seconds", "date", "absent"):
        standin.fail("secondary_limit", retry_form=form, retry_after=90)
        told.append(asking.ask("GET", R, headers=token).headers.get("retry-after"))
    assert told[0] == "90"
    assert parsedate_to_datetime(told[1]).tzinfo is not None
    assert told[2] is None


def test_connections_are_cut_before_and_within_an_answer(standin: StandIn, asking: Asking) -> None:
    token = asking.installed()
    for shape, words in (("cut", "without sending"), ("cut_body", "incomplete|without sending complete|peer closed")):
        standin.fail(shape)
        with pytest.raises(httpx.RemoteProtocolError, match=words):
            asking.ask("GET", R, headers=token)
    assert asking.ask("GET", R, headers=token).status_code == 200


def test_the_work_can_be_done_and_its_answer_lost(standin: StandIn, asking: Asking) -> None:
    token = asking.installed()
    standin.fail("server_error", method="POST", when="after")
    assert asking.ask("POST", f"{R}/issues/1/comments", {"body": "One."}, token).status_code == 502
    assert [one["body"] for one in standin.thread("acme/widgets", 1)["comments"]] == ["One."]
    standin.fail("server_error", method="POST", when="before")
    assert asking.ask("POST", f"{R}/issues/1/comments", {"body": "Two."}, token).status_code == 502
    assert len(standin.thread("acme/widgets", 1)["comments"]) == 1


def test_a_slow_answer_outlasts_an_impatient_reader_and_holds_nobody_else_up(standin: StandIn, asking: Asking) -> None:
    token = asking.installed()
    standin.fail("slow", path=R, seconds=30)
    lost: list[Exception] = []

    def wait() -> None:
        try:
            httpx.get(standin.url + R, headers=token, timeout=2)
        except httpx.ReadTimeout as error:
            lost.append(error)

    waiting = Thread(target=wait)
    waiting.start()
    assert asking.ask("GET", f"{R}/pulls/1", headers=token).status_code == 200
    waiting.join()
    assert len(lost) == 1


def test_a_github_that_is_down_comes_back_with_its_world(standin: StandIn, asking: Asking) -> None:
    url = standin.url
    asking.ask("POST", f"{R}/labels", {"name": "kept"})
    standin.stop()
    with pytest.raises(httpx.ConnectError):
        httpx.get(url + R)
    standin.start()
    assert standin.url == url
    assert asking.ask("GET", f"{R}/labels/kept").status_code == 200
