"""The maintainers' pages: who sees them, what they say, and that nothing of a stranger runs in them."""

import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from models.recorded.database import Database
from models.recorded.deliveries import Trouble
from triage.decide import LANES
from triage.views import TITLES, FloodRow, Health, PullPage, Queue, QueueLane, QueueRow

from .conftest import AS_OF, TOKEN, Household, Server, configured, serving

HOSTILE = '<script>alert("x")</script>\u202e" onload=x'
WHOLE = {
    "schema": 1,
    "repo": "acme/widgets",
    "number": 7,
    "lane": "unsure",
    "p_agent": 0.41,
    "p_unreviewed": None,
    "evidence": [
        {"signal": "bullet_share", "family": "verbosity", "value": 0.6, "weight": 0.8, "sentence": f"60 % {HOSTILE}"},
        {"signal": "merged_here", "family": "identity", "value": 3, "weight": -1.25, "sentence": "3 merged here."},
    ],
    "unknown": ["reply_pace"],
    "model": "seed-1",
    "policy": "sha256:abc",
}
PAGES = ("/", "/queue", "/pulls/acme/widgets/7")
API = ("/api/queue", "/api/pulls/acme/widgets/7")


def row(**fields: Any) -> QueueRow:
    plain: dict[str, Any] = {
        "repo": "acme/widgets",
        "number": 7,
        "title": "Round the total",
        "url": "https://github.com/acme/widgets/pull/7",
        "author": "newcomer",
        "created_at": AS_OF - 3 * 86400,
        "waiting_since": AS_OF - 2 * 3600,
        "lane": "unsure",
        "quick_win": False,
        "draft": False,
        "reasons": (),
        "labels": (),
        "p_agent": 0.41,
        "p_unreviewed": None,
        "additions": 3,
        "deletions": 1,
    }
    return QueueRow(**plain | fields)


def queue(*rows: QueueRow, health: Health | None = None) -> Queue:
    lanes = tuple(QueueLane(lane, TITLES[lane], tuple(one for one in rows if one.lane == lane)) for lane in LANES)
    return Queue(AS_OF, lanes, health or Health(0, 0, None))


@pytest.fixture
def signed_in(door: Server) -> Server:
    answer = door.client.get("/login", params={"token": TOKEN})
    assert answer.status_code == 303
    return door


class Outline(HTMLParser):
    """The tags, texts and links of a page, in order."""

    VOID = frozenset({"meta", "link", "br", "img", "input", "hr"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.headings: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == [], f"never closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)
        if tag in {"h1", "h2", "h3"}:
            self.headings.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1] == tag, f"{tag} closes {self.open[-1]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if {"h1", "h2", "h3"} & set(self.open):
            self.headings[-1] += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


# --- signing in -----------------------------------------------------------------


@pytest.mark.parametrize("path", PAGES)
def test_a_page_without_a_session_says_how_to_sign_in(door: Server, path: str) -> None:
    answer = door.client.get(path)
    assert answer.status_code == 401
    assert "one-time link" in answer.text
    assert "Round the total" not in answer.text


@pytest.mark.parametrize("path", API)
def test_the_api_without_a_session_answers_json(door: Server, path: str) -> None:
    answer = door.client.get(path)
    assert answer.status_code == 401
    assert "sign in" in answer.json()["error"]


def test_the_link_opens_a_session_once(door: Server) -> None:
    answer = door.client.get("/login", params={"token": TOKEN})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/queue")
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Max-Age=43200" in cookie
    assert "Secure" not in cookie  # plain HTTP on loopback: the browser would drop it
    assert door.client.get("/queue").status_code == 200
    door.client.cookies.clear()
    again = door.client.get("/login", params={"token": TOKEN})
    assert again.status_code == 401
    assert "restart the server" in again.text
    assert door.client.get("/queue").status_code == 401


@pytest.mark.parametrize("token", ["", "guessed", TOKEN + "x", TOKEN[:-1], "\N{SNOWMAN}"])
def test_another_token_opens_nothing_and_uses_nothing_up(door: Server, token: str) -> None:
    assert door.client.get("/login", params={"token": token}).status_code == 401
    assert door.client.get("/login", params={"token": TOKEN}).status_code == 303


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Real-IP"])
def test_the_link_does_not_work_through_a_proxy(door: Server, header: str) -> None:
    """A proxy on this machine makes every caller look local."""
    answer = door.client.get("/login", params={"token": TOKEN}, headers={header: "203.0.113.9"})
    assert answer.status_code == 401
    assert door.client.get("/login", params={"token": TOKEN}).status_code == 303


@pytest.mark.parametrize("cookie", ["", "guessed", "\xe9", TOKEN])
def test_a_made_up_cookie_is_no_session(signed_in: Server, cookie: str) -> None:
    answer = signed_in.client.get("/queue", headers={"Cookie": f"livefirst_session={cookie}".encode("latin-1")})
    assert answer.status_code == 401


def test_the_cookie_is_for_https_alone_where_the_page_is(database: Database) -> None:
    house = Household(database, configured(public_url="https://triage.example.com"))
    with serving(house) as running:
        answer = running.client.get("/login", params={"token": TOKEN})
        assert "Secure" in answer.headers["Set-Cookie"]


def test_without_a_token_nobody_gets_in(database: Database) -> None:
    house = Household(database, configured())
    house.sign_in_token = None
    with serving(house) as running:
        for token in ("", "None", TOKEN):
            assert running.client.get("/login", params={"token": token}).status_code == 401
        assert running.client.get("/queue").status_code == 401


# --- what the pages say -----------------------------------------------------------


def test_the_queue_lists_lanes_in_order_with_what_a_maintainer_needs(signed_in: Server) -> None:
    signed_in.house.shown = queue(
        row(lane="exempt", number=1),
        row(lane="live_person", number=2, quick_win=True, labels=("bug",), reasons=("Answers in hours.", "Asks back.")),
        row(lane="burst", number=3),
        row(lane="unsure", number=4, author=None, created_at=None, waiting_since=None, additions=None),
    )
    page = signed_in.client.get("/queue").text
    outline = Outline(page)
    headings = [" ".join(heading.split()) for heading in outline.headings]
    lanes = [heading for heading in headings if heading[:-2] in TITLES.values()]
    assert lanes == [f"{TITLES[lane]} {count}" for lane, count in zip(LANES, (1, 1, 0, 0, 1, 1), strict=True)]
    links = [one.get("href") for one in outline.all("a")]
    assert "https://github.com/acme/widgets/pull/7" in links
    assert (
        links.index("/pulls/acme/widgets/2")
        < links.index("/pulls/acme/widgets/4")
        < links.index("/pulls/acme/widgets/1")
    )
    for told in ("quick win", "bug", "Answers in hours.", "Asks back.", "by <bdi>newcomer</bdi>", "a deleted account"):
        assert told in page
    assert "3 d ago" in page
    assert ">2 h</time>" in page


def test_bursts_are_collapsed_and_open_without_a_script(signed_in: Server) -> None:
    signed_in.house.shown = queue(row(lane="burst", number=3))
    page = signed_in.client.get("/queue").text
    details = re.search(r"<details>(.*?)</details>", page, re.DOTALL)
    assert details is not None
    assert "/pulls/acme/widgets/3" in details[1]


def test_floods_are_named_with_where_they_hit(signed_in: Server) -> None:
    """A maintainer sees who did how much in how short a time, and on which threads; the name is no markup."""
    flood = FloodRow("acme/widgets", "<b>ann</b>", 40, (3, 5), AS_OF - 700, AS_OF)
    signed_in.house.shown = replace(signed_in.house.shown, floods=(flood,))
    page = signed_in.client.get("/queue").text
    assert "&lt;b&gt;ann&lt;/b&gt;</bdi>: 40 acts in 11 min in acme/widgets, on #3, #5" in page


def test_an_empty_queue_says_what_comes_next(signed_in: Server) -> None:
    assert "No open pull request has been seen yet" in signed_in.client.get("/").text
    signed_in.house.shown = queue(row())
    assert "No open pull request has been seen yet" not in signed_in.client.get("/").text


def test_the_page_says_that_github_is_out_of_reach_and_work_waits(signed_in: Server) -> None:
    trouble = Trouble("Unavailable: GitHub does not answer", 3, AS_OF - 1800)
    broken = "acme/widgets: .github/triage.yml:3:1: unknown key"
    signed_in.house.shown = queue(health=Health(12, 1, AS_OF - 1800, (trouble,), (broken,)))
    page = " ".join(signed_in.client.get("/queue").text.split())
    assert "3 threads wait for" in page
    assert "GitHub does not answer" in page
    assert "12 deliveries wait to be judged, the oldest for 30 min" in page
    assert "1 deliveries could not be judged" not in page
    assert "1 delivery could not be judged" in page
    assert broken in page
    signed_in.house.shown = queue()
    assert "banner" not in signed_in.client.get("/queue").text


def test_a_pull_request_shows_every_sentence_and_weight(signed_in: Server) -> None:
    signed_in.house.pulls["acme", "widgets", 7] = PullPage(row(), WHOLE)
    page = signed_in.client.get("/pulls/acme/widgets/7").text
    Outline(page)
    for told in (
        "41%",
        "unknown",
        "bullet share",
        "+0.80",
        "-1.25",
        "3 merged here.",
        "reply pace",
        "seed-1",
        "sha256:abc",
    ):
        assert told in page


def test_a_pull_request_that_was_not_judged_says_so(signed_in: Server) -> None:
    signed_in.house.pulls["acme", "widgets", 7] = PullPage(row(), None)
    assert "Not judged yet" in signed_in.client.get("/pulls/acme/widgets/7").text


@pytest.mark.parametrize("number", ["8", "0", "-1", str(2**70)])
def test_an_unknown_pull_request_is_404(signed_in: Server, number: str) -> None:
    assert signed_in.client.get(f"/pulls/acme/widgets/{number}").status_code == 404
    answer = signed_in.client.get(f"/api/pulls/acme/widgets/{number}")
    assert (answer.status_code, list(answer.json())) == (404, ["error"])


def test_the_api_tells_the_same_read_model(signed_in: Server) -> None:
    signed_in.house.shown = queue(row(labels=("bug",)))
    signed_in.house.pulls["acme", "widgets", 7] = PullPage(row(), WHOLE)
    told = signed_in.client.get("/api/queue").json()
    assert [lane["name"] for lane in told["lanes"]] == list(LANES)
    assert told["lanes"][1]["rows"][0]["labels"] == ["bug"]
    assert told["lanes"][1]["rows"][0]["p_unreviewed"] is None
    assert signed_in.client.get("/api/pulls/acme/widgets/7").json()["verdict"] == WHOLE


def test_nothing_of_a_stranger_is_markup(signed_in: Server) -> None:
    strange = row(title=HOSTILE, author=HOSTILE, labels=(HOSTILE,), reasons=(HOSTILE,))
    signed_in.house.shown = queue(strange, health=Health(0, 0, None, (Trouble(HOSTILE, 1, None),), (HOSTILE,)))
    signed_in.house.pulls["acme", "widgets", 7] = PullPage(strange, {**WHOLE, "unknown": [HOSTILE]})
    for path in (*PAGES, f"/pulls/{HOSTILE.replace('/', '')}/widgets/7"):
        page = signed_in.client.get(path).text
        outline = Outline(page)
        assert outline.all("script") == []
        assert not [name for _, attributes in outline.tags for name in attributes if name.startswith("on")]


def test_a_fault_of_ours_is_a_sealed_page_without_details(signed_in: Server) -> None:
    def broken() -> Queue:
        raise RuntimeError("words of a stranger")

    signed_in.house.queue = broken  # type: ignore[method-assign]  # a fault that no part of the house explains
    alone = {"Connection": "close"}  # the server ends the connection of a fault
    page = signed_in.client.get("/queue", headers=alone)
    assert page.status_code == 500
    assert "stranger" not in page.text
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert page.headers["Cache-Control"] == "no-store"
    answer = signed_in.client.get("/api/queue", headers=alone)
    assert (answer.status_code, list(answer.json())) == (500, ["error"])


# --- what holds for every page ------------------------------------------------------


@pytest.mark.parametrize("path", [*PAGES, *API, "/login", "/healthz", "/readyz", "/nowhere", "/static/page.css"])
def test_every_page_is_sealed(door: Server, path: str) -> None:
    headers = door.client.get(path).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert (headers.get("Cache-Control") == "no-store") != path.startswith("/static")


def test_pages_work_by_keyboard_without_a_script(signed_in: Server) -> None:
    signed_in.house.shown = queue(*(row(lane=lane, number=number) for number, lane in enumerate(LANES, 1)))
    signed_in.house.pulls["acme", "widgets", 7] = PullPage(row(), WHOLE)
    for path in PAGES:
        outline = Outline(signed_in.client.get(path).text)
        assert outline.all("a")[0]["href"] == "#main"
        assert outline.all("main")[0]["id"] == "main"
        assert len(outline.all("h1")) == 1
        assert outline.all("html")[0]["lang"] == "en"
        assert not [attributes for _, attributes in outline.tags if "style" in attributes]
        named = [attributes["id"] for _, attributes in outline.tags if "id" in attributes]
        assert len(named) == len(set(named))
        targets = [str(one["href"])[1:] for one in outline.all("a") if str(one["href"]).startswith("#")]
        assert set(targets) <= set(named)


def test_nothing_is_loaded_from_elsewhere(signed_in: Server) -> None:
    outline = Outline(signed_in.client.get("/queue").text)
    loaded = [one.get("href") for one in outline.all("link")] + [one.get("src") for one in outline.all("img")]
    assert loaded == ["/static/mark.svg", "/static/page.css"]
    css = signed_in.client.get("/static/page.css")
    assert css.status_code == 200
    assert "url(" not in css.text
    assert "prefers-color-scheme: dark" in css.text


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/openapi.json", "/static/../app.py", "/static/%2e%2e/app.py"])
def test_there_is_nothing_else_to_see(door: Server, path: str) -> None:
    assert door.client.get(path).status_code == 404


# --- for machines -------------------------------------------------------------------


def test_health_and_figures(door: Server) -> None:
    assert door.client.get("/healthz").json() == {"status": "alive"}
    assert door.client.get("/readyz").json() == {"status": "ready", "failing": []}
    figures = door.client.get("/metrics")
    assert figures.headers["Content-Type"].startswith("text/plain")
    for name in (
        "livefirst_deliveries_total",
        "livefirst_backlog 0.0",
        "livefirst_verdicts_total",
        "livefirst_github_requests_total",
        "livefirst_delivery_seconds_bucket",
        "livefirst_judge_seconds_bucket",
    ):
        assert name in figures.text


@pytest.fixture
def vanished(tmp_path: Path) -> Iterator[Server]:
    """Serve a household, signed in, whose database then goes away."""
    folder = tmp_path / "data"
    folder.mkdir()
    database = Database.open(f"sqlite:///{folder / 'livefirst.db'}")
    database.migrate()
    house = Household(database, configured())

    def gone() -> Queue:
        house.deliveries.backlog()
        return queue()

    house.queue = gone  # type: ignore[method-assign]  # the page must ask the database
    with serving(house) as running:
        running.client.get("/login", params={"token": TOKEN})
        assert running.client.get("/queue").status_code == 200
        database.close()
        folder.rename(tmp_path / "elsewhere")
        yield running
        (tmp_path / "elsewhere").rename(folder)
    database.close()


def test_a_database_that_is_gone_is_told_and_found_again(vanished: Server, tmp_path: Path) -> None:
    client = vanished.client
    assert client.get("/healthz").status_code == 200
    ready = client.get("/readyz")
    assert (ready.status_code, ready.json()["failing"]) == (503, ["database"])
    page = client.get("/queue")
    assert page.status_code == 503
    assert "database" in page.text
    assert client.get("/api/queue").status_code == 503
    figures = client.get("/metrics")
    assert figures.status_code == 200
    assert "livefirst_backlog NaN" in figures.text
    (tmp_path / "elsewhere").rename(tmp_path / "data")
    assert client.get("/readyz").status_code == 200
    assert client.get("/queue").status_code == 200
    (tmp_path / "data").rename(tmp_path / "elsewhere")
