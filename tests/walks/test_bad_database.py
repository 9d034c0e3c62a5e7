"""A database that is locked, full or gone, and a GitHub that is down, as seen over HTTP.

503 and nothing acknowledged, the page and /readyz say what fails, and everything goes on without a restart.
"""

import contextlib
import resource
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from plugins_github import AppKey, Listener, StandIn
from sqlalchemy.engine import make_url
from walk_load import DISCLOSED, LABEL, Parcel, Post, labelling, labels_put_on, until

only_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
only_postgres = pytest.mark.parametrize(
    "database_url", [pytest.param("postgres", marks=pytest.mark.postgres)], indirect=True
)


class Walk:
    """A running server, and somebody who acts on its GitHub."""

    def __init__(self, livefirst: Any, standin: StandIn, post: Post) -> None:
        self.livefirst, self.standin, self.post = livefirst, standin, post

    def send(self, parcel: Parcel) -> httpx.Response:
        """Deliver."""
        answer: httpx.Response = self.livefirst.post(parcel.event, parcel.body, parcel.guid)
        return answer

    def opened(self) -> tuple[int, Parcel]:
        """Let ann open a disclosed pull request; returns its number and the delivery."""
        parcel = self.post.act("open_pull", "ann", title="Fix b", body=DISCLOSED)
        return max(one["number"] for one in self.standin.state()["repositories"][0]["threads"]), parcel

    def failing(self) -> list[str]:
        """Return the parts that /readyz names."""
        answer = self.livefirst.client.get(f"{self.livefirst.url}/readyz")
        assert (answer.status_code == 503) is bool(answer.json()["failing"])
        failing: list[str] = answer.json()["failing"]
        return failing

    def refuses(self, parcel: Parcel) -> None:
        """Assert that a delivery is not taken, that GitHub is told to come again, and that nothing else is told."""
        answer = self.send(parcel)
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "30"
        assert answer.json() == {"error": "not stored: send it again later"}

    def takes_again(self, parcel: Parcel) -> None:
        """Assert that a delivery that was refused is taken, without a restart, as if it came for the first time."""
        until(lambda: self.send(parcel).status_code == 202, "the database to answer again", lambda: self.livefirst.log)
        until(lambda: not self.failing(), "/readyz to be content")

    def judged(self, *parcels: Parcel) -> None:
        """Assert that deliveries are done, each stored once."""

        def done() -> bool:
            listed = [(one["guid"], one["state"]) for one in self.livefirst.deliveries()]
            return all(listed.count((parcel.guid, "done")) == 1 for parcel in parcels)

        until(done, "everything to be judged", lambda: self.livefirst.log)
        guids = [one["guid"] for one in self.livefirst.deliveries()]
        assert len(guids) == len(set(guids))


@pytest.fixture
def walk(livefirst: Any, standin: StandIn, listener: Listener, app_key: AppKey) -> Walk:
    standin.seed(labelling(app_key, listener))
    return Walk(livefirst, standin, Post(standin, listener))


def postgres(walk: Walk) -> Any:
    """Connect to the server's PostgreSQL, to its maintenance database."""
    address = make_url(walk.livefirst.env["LIVEFIRST_DATABASE_URL"]).set(drivername="postgresql", database="postgres")
    return psycopg.connect(address.render_as_string(hide_password=False), autocommit=True)


def database_name(walk: Walk) -> str:
    return str(make_url(walk.livefirst.env["LIVEFIRST_DATABASE_URL"]).database)


@contextlib.contextmanager
def locked(walk: Walk, home: Path) -> Iterator[None]:
    """Hold the database from another connection."""
    url = walk.livefirst.env["LIVEFIRST_DATABASE_URL"]
    if url.startswith("sqlite"):
        with contextlib.closing(sqlite3.connect(home / "livefirst.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            yield
        return
    address = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(address) as other:
        other.execute("LOCK TABLE delivery IN ACCESS EXCLUSIVE MODE")
        yield
        other.rollback()


def test_a_locked_database_refuses_and_then_takes(walk: Walk, tmp_path: Path) -> None:
    walk.livefirst.start()
    first, second = walk.opened(), walk.opened()
    assert walk.send(first[1]).status_code == 202
    with locked(walk, tmp_path):
        walk.refuses(second[1])
        if walk.livefirst.env["LIVEFIRST_DATABASE_URL"].startswith("sqlite"):
            assert walk.failing() == ["database"]
        assert walk.livefirst.client.get(f"{walk.livefirst.url}/healthz").status_code == 200
    assert second[1].guid not in {one["guid"] for one in walk.livefirst.deliveries()}
    walk.takes_again(second[1])
    walk.judged(first[1], second[1])
    for number in (first[0], second[0]):
        assert labels_put_on(walk.standin, number) == [LABEL]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount two megabytes of disk."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("only root can mount a small disk; the next test bounds the size of files instead")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(file: Path) -> None:
    with contextlib.suppress(OSError), file.open("wb", buffering=0) as stuffing:
        while True:
            stuffing.write(b"\0" * 4096)


@only_sqlite
def test_a_full_disk_refuses_and_takes_when_there_is_room(walk: Walk, small_disk: Path) -> None:
    walk.livefirst.env["LIVEFIRST_DATABASE_URL"] = f"sqlite:///{small_disk / 'livefirst.db'}"
    walk.livefirst.start()
    first, second = walk.opened(), walk.opened()
    assert walk.send(first[1]).status_code == 202
    fill(small_disk / "stuffing")
    big = second[1]._replace(body=second[1].body[:-1] + b', "more": "' + b"x" * 300_000 + b'"}')
    walk.refuses(big)
    (small_disk / "stuffing").unlink()
    walk.takes_again(big)
    walk.judged(first[1], big)
    assert labels_put_on(walk.standin, second[0]) == [LABEL]
    walk.livefirst.stop()


@only_sqlite
def test_a_disk_that_takes_no_more_bytes_refuses(walk: Walk, tmp_path: Path) -> None:
    walk.livefirst.start()
    first, second = walk.opened(), walk.opened()
    assert walk.send(first[1]).status_code == 202
    walk.judged(first[1])
    process = walk.livefirst.process.pid
    bounds = resource.prlimit(process, resource.RLIMIT_FSIZE)
    size = (tmp_path / "livefirst.db-wal").stat().st_size
    resource.prlimit(process, resource.RLIMIT_FSIZE, (size, bounds[1]))
    big = second[1]._replace(body=second[1].body[:-1] + b', "more": "' + b"x" * 2_000_000 + b'"}')
    walk.refuses(big)
    resource.prlimit(process, resource.RLIMIT_FSIZE, bounds)
    walk.takes_again(big)
    walk.judged(first[1], big)


@only_sqlite
def test_a_database_file_that_is_moved_away_and_back(walk: Walk, tmp_path: Path) -> None:
    walk.livefirst.env["LIVEFIRST_SETTLE_SECONDS"] = "3"  # the first is still waiting when the file goes
    walk.livefirst.start()
    first, second = walk.opened(), walk.opened()
    assert walk.send(first[1]).status_code == 202
    away = tmp_path / "away"
    away.mkdir()
    names = [file.name for file in tmp_path.glob("livefirst.db*") if not file.name.startswith("livefirst.db.queue")]
    for name in names:
        (tmp_path / name).rename(away / name)
    walk.refuses(second[1])
    assert walk.failing() == ["database"]
    assert not (tmp_path / "livefirst.db").exists(), "no empty database may take its place"
    for name in names:
        (away / name).rename(tmp_path / name)
    walk.takes_again(second[1])
    walk.judged(first[1], second[1])
    assert labels_put_on(walk.standin, first[0]) == [LABEL]


@only_sqlite
def test_a_strange_file_in_its_place_is_not_written_to(walk: Walk, tmp_path: Path) -> None:
    walk.livefirst.start()
    _, parcel = walk.opened()
    for file in tmp_path.glob("livefirst.db*"):
        if not file.name.startswith("livefirst.db.queue"):
            file.unlink()
    with contextlib.closing(sqlite3.connect(tmp_path / "livefirst.db")) as other:
        other.execute("CREATE TABLE theirs (a)")
    walk.refuses(parcel)
    assert walk.failing() == ["database"]
    with contextlib.closing(sqlite3.connect(tmp_path / "livefirst.db")) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("theirs",)]


@only_postgres
def test_a_postgres_that_ends_every_connection_and_lets_nobody_in(walk: Walk) -> None:
    walk.livefirst.env["LIVEFIRST_SETTLE_SECONDS"] = "3"
    walk.livefirst.start()
    first, second = walk.opened(), walk.opened()
    assert walk.send(first[1]).status_code == 202
    name = database_name(walk)
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
    with postgres(walk) as other:
        other.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        other.execute(end, [name])
        walk.refuses(second[1])
        assert walk.failing() == ["database"]
        other.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
        walk.takes_again(second[1])
        walk.judged(first[1], second[1])
        for _ in range(3):  # and again while nothing is wanted: the next delivery finds dead connections
            number, parcel = walk.opened()
            other.execute(end, [name])
            walk.takes_again(parcel)
            walk.judged(parcel)
            assert labels_put_on(walk.standin, number) == [LABEL]


# --- GitHub -----------------------------------------------------------------------


def away(standin: StandIn) -> None:
    standin.stop()


def unwell(standin: StandIn) -> None:
    standin.fail("server_error", path="/*", count=None)


@pytest.mark.parametrize("ails", [away, unwell])
def test_a_github_that_is_down_is_waited_for(walk: Walk, ails: Callable[[StandIn], None]) -> None:
    walk.livefirst.env["LIVEFIRST_RETRY_SECONDS"] = "0.1"
    walk.livefirst.start()
    opened = [walk.opened() for _ in range(5)]
    ails(walk.standin)
    for _, parcel in opened:
        assert walk.send(parcel).status_code == 202
    until(lambda: bool(walk.livefirst.page("/api/queue").json()["health"]["troubles"]), "the page to tell of it")
    health = walk.livefirst.page("/api/queue").json()["health"]
    assert health["waiting"] == 5
    assert health["failed"] == 0
    assert all("GitHub" in trouble["reason"] for trouble in health["troubles"])
    assert "GitHub" in walk.livefirst.page("/queue").text
    assert walk.failing() == []
    until(lambda: min(one["attempts"] for one in walk.livefirst.deliveries()) >= 3, "several tries of each")
    assert {one["state"] for one in walk.livefirst.deliveries()} == {"waiting"}
    if ails is away:
        walk.standin.start()
    walk.standin.heal()
    walk.judged(*(parcel for _, parcel in opened))
    for number, _ in opened:
        assert labels_put_on(walk.standin, number) == [LABEL]
    assert walk.livefirst.page("/api/queue").json()["health"]["troubles"] == []
