"""Many workers on one PostgreSQL: one takes over what another held when it died, and nothing is done twice."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from plugins_github import AppKey, Listener, StandIn
from walk_load import DISCLOSED, LABEL, Post, labelling, labels_put_on, until

pytestmark = [
    pytest.mark.parametrize(
        "database_url", [pytest.param("postgres", marks=pytest.mark.postgres)], indirect=True, ids=["postgres"]
    )
]
LABELS = "*/issues/*/labels"


class Crew:
    """`triage serve` with one thread that judges, and `triage work` processes beside it."""

    def __init__(self, livefirst: Any, home: Path) -> None:
        self.livefirst, self._home = livefirst, home
        self.workers: list[subprocess.Popen[bytes]] = []

    def work(self) -> "subprocess.Popen[bytes]":
        """Start a worker and wait until it works."""
        log = self._home / f"work{len(self.workers)}.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                [sys.executable, "-m", "triage", "work"],
                stdout=out,
                stderr=subprocess.STDOUT,
                env={**os.environ, **self.livefirst.env},
            )
        self.workers.append(process)
        until(lambda: "Working." in log.read_text() or process.poll() is not None, "the worker to work", log.read_text)
        assert process.poll() is None, log.read_text()
        return process

    def ask(self, question: str, *values: object) -> list[tuple[Any, ...]]:
        """Ask the database."""
        address = "postgresql://" + self.livefirst.env["LIVEFIRST_DATABASE_URL"].partition("://")[2]
        with psycopg.connect(address) as connection:
            return connection.execute(question, values).fetchall()

    def holder(self) -> int | None:
        """Return the id of the process that holds a lease."""
        rows = self.ask("SELECT lease_owner FROM subject WHERE lease_owner IS NOT NULL")
        return int(rows[0][0].split(":")[1]) if rows else None

    def stop(self) -> None:
        for process in self.workers:
            if process.poll() is None:
                process.kill()
            process.wait()


@pytest.fixture(params=["postgres", pytest.param("redis", marks=pytest.mark.redis)])
def queue_url(request: pytest.FixtureRequest) -> str | None:
    return request.getfixturevalue("redis_url") if request.param == "redis" else None


@pytest.fixture
def crew(livefirst: Any, queue_url: str | None, tmp_path: Path, standin: StandIn) -> Iterator[Crew]:
    livefirst.env |= {"LIVEFIRST_WORKERS": "1", "LIVEFIRST_LEASE_SECONDS": "2", "LIVEFIRST_SWEEP_SECONDS": "0.5"}
    if queue_url is not None:
        livefirst.env["LIVEFIRST_QUEUE_URL"] = queue_url
    made = Crew(livefirst, tmp_path)
    yield made
    standin.heal()
    made.stop()


@pytest.fixture
def opened(crew: Crew, standin: StandIn, listener: Listener, app_key: AppKey) -> Callable[[], int]:
    """Return what opens a disclosed pull request and delivers it."""
    standin.seed(labelling(app_key, listener))
    post = Post(standin, listener)

    def open_one() -> int:
        parcel = post.act("open_pull", "ann", title="Fix b", body=DISCLOSED)
        assert crew.livefirst.post(parcel.event, parcel.body, parcel.guid).status_code == 202
        return max(one["number"] for one in standin.state()["repositories"][0]["threads"])

    return open_one


def done(crew: Crew) -> bool:
    return {one["state"] for one in crew.livefirst.deliveries()} == {"done"}


@pytest.mark.parametrize("when", ["before", "after"])
def test_another_takes_over_what_a_dead_one_held(
    crew: Crew, standin: StandIn, opened: Callable[[], int], when: str
) -> None:
    """Whoever waits for GitHub to put a label on is killed: the label stands already, or not yet."""
    crew.livefirst.start()
    crew.work()
    standin.fail("slow", path=LABELS, method="POST", seconds=4, when=when, count=1)
    number = opened()
    until(lambda: any(one["fault"] == "slow" for one in standin.requests(method="POST")), "the slow answer")
    dead = next(one for one in (crew.livefirst.process, *crew.workers) if one.pid == crew.holder())
    assert labels_put_on(standin, number) == ([LABEL] if when == "after" else [])
    os.kill(dead.pid, signal.SIGKILL)
    dead.wait(10)
    until(lambda: done(crew), "the other to take over", lambda: crew.livefirst.log)
    assert labels_put_on(standin, number) == [LABEL]
    assert crew.holder() is None
    posted = [one for one in standin.requests(method="POST") if one["path"].endswith(f"/issues/{number}/labels")]
    assert len(posted) == (1 if when == "after" else 2)


@pytest.mark.parametrize("victim", ["serve", "work"])
def test_sigterm_finishes_the_job_in_hand(crew: Crew, standin: StandIn, opened: Callable[[], int], victim: str) -> None:
    crew.livefirst.start()
    process = crew.livefirst.process if victim == "serve" else crew.work()
    for _ in range(20):  # the server may take the job: until the worker has it
        standin.fail("slow", path=LABELS, method="POST", seconds=2, when="before", count=1)
        number = opened()
        until(lambda: any(one["fault"] == "slow" for one in standin.requests(method="POST")), "the slow answer")
        if crew.holder() == process.pid:
            break
        until(lambda: done(crew), "the server to finish")
        standin.forget_requests()
    else:
        pytest.fail("the worker never took a job")
    if victim == "work":
        crew.livefirst.kill()  # it cannot have finished the job
    process.terminate()
    assert process.wait(25) == (0 if victim == "work" else -signal.SIGTERM)  # uvicorn ends as the signal would have
    assert done(crew)
    assert labels_put_on(standin, number) == [LABEL]
    assert crew.holder() is None


def test_an_idle_worker_ends_at_once(crew: Crew, opened: Callable[[], int]) -> None:
    crew.livefirst.start()
    worker = crew.work()
    worker.terminate()
    assert worker.wait(20) == 0
    number = opened()
    until(lambda: done(crew), "the server to judge alone")
    assert number == 2


def test_work_is_shared_and_nothing_is_judged_twice(crew: Crew, standin: StandIn, opened: Callable[[], int]) -> None:
    crew.livefirst.start()
    for _ in range(2):
        crew.work()
    standin.fail("slow", path=LABELS, method="POST", seconds=0.2, count=None)
    numbers = [opened() for _ in range(12)]
    until(lambda: done(crew), "everything", lambda: crew.livefirst.log)
    for number in numbers:
        assert labels_put_on(standin, number) == [LABEL]
    posted = standin.requests("/repos/{owner}/{repo}/issues/{number}/labels", "POST")
    assert len(posted) == len(numbers)
