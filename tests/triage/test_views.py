"""What the pages, the API and the terminal show of the queue."""

from typing import Any

import pytest
from made_scores import pull

from models.learned.classifier import load
from models.recorded.database import Database
from models.recorded.deliveries import Arrival, Deliveries
from models.recorded.store import Store
from models.recorded.tables import ChangeRow, ThreadRow
from triage import views
from triage.decide import LANES
from triage.evaluate import evaluate
from triage.policy import DEFAULT
from triage.record import record_thread

NOW = 10_000_000.0


@pytest.fixture
def store(database: Database) -> Store:
    kept = Store(database)
    kept.see_repository(1, 5, "acme/widgets", private=False, archived=False)
    return kept


@pytest.fixture
def deliveries(database: Database) -> Deliveries:
    return Deliveries(database)


def save(store: Store, number: int, **change: Any) -> None:
    given = {"repository_id": 1, "installation_id": 5, "title": f"Title {number}", "author": "ann", "lane": "unsure"}
    store.save_thread(ThreadRow(number=number, **(given | change)))


def queue(store: Store, deliveries: Deliveries) -> views.Queue:
    return views.queue(store, deliveries, web_url="https://github.example", now=NOW)


def test_lanes_stand_in_their_order_and_the_longest_wait_first(store: Store, deliveries: Deliveries) -> None:
    save(store, 1, waiting_since=300.0)
    save(store, 2, waiting_since=100.0)
    save(store, 3, waiting_since=None, created_at=50.0)  # the author's turn: after those who wait
    save(store, 4, waiting_since=200.0, lane="live_person")
    lanes = queue(store, deliveries).lanes
    assert [lane.name for lane in lanes] == list(LANES)
    assert [[row.number for row in lane.rows] for lane in lanes][:2] == [[4], [2, 1, 3]]


def test_only_open_pull_requests_are_shown(store: Store, deliveries: Deliveries) -> None:
    save(store, 1, open=False)
    save(store, 2, kind="issue")
    save(store, 3, repository_id=99)
    save(store, 4, lane=None, title=None, author=None, labels=["bug"], draft=True)
    [row] = [row for lane in queue(store, deliveries).lanes for row in lane.rows]
    assert (row.number, row.lane, row.title, row.author) == (4, "unsure", "(no title)", None)
    assert (row.url, row.labels, row.draft) == ("https://github.example/acme/widgets/pull/4", ("bug",), True)
    assert (row.p_agent, row.reasons) == (None, ())


def test_a_row_shows_the_strongest_sentences_of_its_verdict(store: Store, deliveries: Deliveries) -> None:
    body = "\n".join(f"- **Part {n}**: all tests pass" for n in range(9))
    record_thread(
        store,
        ThreadRow(repository_id=1, number=7, installation_id=5),
        evaluate(pull(body=body), DEFAULT, load()),
        [],
        now=5.0,
    )
    [row] = [row for lane in queue(store, deliveries).lanes for row in lane.rows]
    assert len(row.reasons) == views.REASONS_SHOWN
    assert "list items" in row.reasons[0]
    page = views.pull(store, "ACME/widgets", 7, web_url="https://github.example")
    assert page is not None
    assert page.verdict is not None
    assert page.row.p_agent == page.verdict["p_agent"]


def test_the_exempt_are_shown_with_why(store: Store, deliveries: Deliveries) -> None:
    member = evaluate(pull({"association": "MEMBER"}), DEFAULT, load())
    record_thread(store, ThreadRow(repository_id=1, number=7, installation_id=5), member, [], now=5.0)
    [row] = queue(store, deliveries).lanes[list(LANES).index("exempt")].rows
    assert "member" in row.reasons[0]
    assert row.reasons[0] == member.decision.reasons[0]


@pytest.mark.parametrize(("name", "number"), [("acme/widgets", 8), ("acme/gadgets", 7), ("acme/widgets", 9)])
def test_an_unknown_pull_request_and_an_issue_have_no_page(store: Store, name: str, number: int) -> None:
    save(store, 7)
    save(store, 9, kind="issue")
    assert views.pull(store, name, number, web_url="x") is None


def test_health_tells_what_waits_what_failed_and_what_github_refused(store: Store, deliveries: Deliveries) -> None:
    arrivals = [Arrival(guid, "issues", "opened", 5, 1, f"thread:1:{n}", b"{}", 100.0) for n, guid in enumerate("ab")]
    deliveries.keep(arrivals, settle=0.0)
    claim = deliveries.claim("thread:1:0", "w", now=200.0, lease=10.0)
    assert claim is not None
    deliveries.give_up(claim, now=200.0, error="x")
    store.set_policy(1, policy_error=".github/triage.yml:1:7: expected one of ...")
    changes = [
        ChangeRow(repository_id=1, number=7, kind="add_label", target=one, detail="x", wanted_at=NOW)
        for one in ("likely_unreviewed", "burst", "disclosed")
    ]
    store.want(changes, ThreadRow(repository_id=1, number=7, installation_id=5))
    first, second, third = (one.id or 0 for one in store.wanted(1, 7))
    for key, error, at in (
        (first, "no permission", NOW),
        (second, "no permission", NOW),
        (third, "long ago", NOW - 2 * views.REFUSALS_SHOWN),
    ):
        store.refused(key, error, at)
    health = queue(store, deliveries).health
    assert (health.waiting, health.failed, health.oldest_at) == (1, 1, 100.0)
    assert health.policy_errors == ("acme/widgets: .github/triage.yml:1:7: expected one of ...",)
    assert health.refusals == ("acme/widgets: no permission (2 changes)",)
