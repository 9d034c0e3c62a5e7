"""The stand-in answers GraphQL with exactly what was selected."""

from typing import Any

import pytest
from plugins_github import Asking, StandIn

from standin.graphql_text import NotGraphQL, asked


def ask(asking: Asking, query: str, **variables: Any) -> dict[str, Any]:
    answer = asking.ask("POST", "/graphql", {"query": query, "variables": variables})
    assert answer.status_code == 200
    return answer.json()


def give_past(standin: StandIn) -> None:
    world = standin.state()
    ann = next(one for one in world["people"] if one["login"] == "ann")
    month = "2026-{:02}-01T00:00:00Z"
    ann["pulls"] = [
        {"repo": "x/y", "number": at, "created_at": month.format(at), "merged": at == 3} for at in (1, 2, 3)
    ]
    standin.seed(world)


def test_the_author_query_joins_the_past_and_this_world(standin: StandIn, asking: Asking) -> None:
    give_past(standin)
    query = """
    query($l: String!, $many: Int = 2) {
      user(login: $l) {
        createdAt
        pullRequests(last: $many) { totalCount nodes { ...sent repository { owner { login } } } }
      }
      merged: search(query: "repo:x/y author:ann is:pr is:merged", type: ISSUE) { issueCount }
      closed: search(query: "repo:x/y author:ann is:pr is:closed is:unmerged", type: ISSUE) { issueCount }
    }
    fragment sent on PullRequest { number state }
    """
    data = ask(asking, query, l="ANN")["data"]
    assert data["user"]["createdAt"] == "2020-02-02T00:00:00Z"
    assert data["user"]["pullRequests"] == {
        "totalCount": 4,
        "nodes": [
            {"number": 3, "state": "MERGED", "repository": {"owner": {"login": "x"}}},
            {"number": 1, "state": "OPEN", "repository": {"owner": {"login": "acme"}}},
        ],
    }
    assert (data["merged"], data["closed"]) == ({"issueCount": 1}, {"issueCount": 2})


def test_an_unknown_login_and_an_app_are_null_with_an_error(asking: Asking) -> None:
    for login in ("nobody", "livefirst[bot]", "acme"):
        answer = ask(asking, "query($l: String!) { user(login: $l) { login } }", l=login)
        assert answer["data"] == {"user": None}
        assert answer["errors"][0]["type"] == "NOT_FOUND"


def test_more_than_a_hundred_and_unknown_fields_are_errors(asking: Asking) -> None:
    for field in ("pullRequests(first: 101) { totalCount }", "pullRequests { totalCount }", "shoeSize"):
        answer = ask(asking, f'{{ user(login: "ann") {{ {field} }} }}')
        assert answer["data"] == {"user": None}
        assert answer["errors"]


def test_a_comment_is_collapsed_by_its_node(standin: StandIn, asking: Asking) -> None:
    number = standin.act("comment", "ann", number=1, body="Buy now.")["id"]
    query = "mutation($id: ID!) { minimizeComment(input: {subjectId: $id, classifier: OFF_TOPIC}) %s }"
    selected = query % "{ minimizedComment { isMinimized minimizedReason } }"
    answer = ask(asking, selected, id=f"IC_{number}")
    assert answer["data"]["minimizeComment"]["minimizedComment"] == {
        "isMinimized": True,
        "minimizedReason": "off-topic",
    }
    assert standin.thread("acme/widgets", 1)["comments"][0]["minimized"] == "OFF_TOPIC"
    weak = asking.ask(
        "POST",
        "/graphql",
        {"query": selected, "variables": {"id": f"IC_{number}"}},
        asking.installed(permissions={"issues": "read"}),
    )
    assert weak.json()["errors"][0]["type"] == "FORBIDDEN"


def test_graphql_needs_a_token(asking: Asking) -> None:
    assert asking.ask("POST", "/graphql", {"query": "{ viewer { login } }"}, {}).status_code == 401


@pytest.mark.parametrize("text", ["", "{ user(", "query { a ? }", "subscription { a }", "{ a { b }"])
def test_what_is_no_document_is_an_error_that_says_so(asking: Asking, text: str) -> None:
    with pytest.raises(NotGraphQL):
        asked(text, {})
    assert "errors" in ask(asking, text)
