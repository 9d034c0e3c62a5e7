"""SIGKILL at random moments under load, on both databases: 202 is kept, judged once, and GitHub is changed once."""

import random
import threading
import time
from collections import Counter
from typing import Any, Final

import pytest
from plugins_github import AppKey, Listener, StandIn
from walk_load import DISCLOSED, LABEL, Courier, Parcel, Post, labelling, until

KILLS: Final = 20
SENDERS: Final = 6
PULLS: Final = 3  # opened in each life of the server
COMMENTS: Final = 3  # on each of them
SECRET: Final = "walks-secret"
LONGEST_LIFE: Final = 2.5  # seconds after the server answers

pytestmark = pytest.mark.timeout(280)


class Town:
    """People who open pull requests and comment, while everything that GitHub tells of it is carried to the server."""

    def __init__(self, standin: StandIn, post: Post, courier: Courier) -> None:
        self.handed: dict[str, Parcel] = {}
        self.opened: list[int] = []
        self._standin, self._post, self._courier = standin, post, courier
        self._over = threading.Event()
        self._carrying = threading.Thread(target=self._carry, name="carrier")
        self._carrying.start()

    def _carry(self) -> None:
        while not self._over.wait(0.02):
            self.carry()

    def carry(self) -> None:
        """Hand over what GitHub told since, the echoes of the App's own labels included."""
        parcels = self._post.collect()
        self.handed |= {parcel.guid: parcel for parcel in parcels}
        self._courier.hand(parcels)

    def live(self) -> None:
        """Let people act."""
        for _ in range(PULLS):
            turn = len(self.opened)
            number = self._standin.act("open_pull", f"ann{turn}", title="Fix b", body=DISCLOSED)["number"]
            self.opened.append(number)
            for comment in range(COMMENTS):
                who = ("max", f"ann{turn}", f"eve{turn}")[comment % 3]
                self._standin.act("comment", who, number=number, body=f"Word {comment} on {number}.")

    def end(self) -> None:
        self._over.set()
        self._carrying.join()


def test_nothing_is_lost_and_nothing_is_done_twice(
    livefirst: Any, standin: StandIn, listener: Listener, app_key: AppKey, capsys: pytest.CaptureFixture[str]
) -> None:
    seed = random.SystemRandom().randrange(1_000_000)
    chance = random.Random(seed)  # noqa: S311 - moments of death, no secrets
    standin.seed(labelling(app_key, listener))
    # The label stands, and the answer takes its time: that is where a death hurts most.
    standin.fail("slow", path="*/issues/*/labels", method="POST", seconds=0.2, when="after", count=None)
    livefirst.env |= {
        "LIVEFIRST_LEASE_SECONDS": "1",
        "LIVEFIRST_SWEEP_SECONDS": "0.5",
        "LIVEFIRST_RETRY_SECONDS": "0.2",
        "LIVEFIRST_WORKERS": "2",
    }
    courier = Courier(livefirst.url, SECRET, senders=SENDERS)
    town = Town(standin, Post(standin, listener), courier)
    lives = []
    try:
        for _ in range(KILLS):
            livefirst.start()
            living = threading.Thread(target=town.live)
            living.start()
            lives.append(chance.uniform(0.0, LONGEST_LIFE))
            time.sleep(lives[-1])
            livefirst.kill()
            living.join()
        livefirst.start()
        until(lambda: set(courier.taken) >= set(town.handed), "every delivery to be taken", lambda: livefirst.log)
        settle(livefirst, standin, town, courier)
    finally:
        town.end()
        courier.finish()
        livefirst.stop()
    check(livefirst, standin, town, courier, f"seed {seed}")
    requests = standin.requests("/repos/{owner}/{repo}/issues/{number}/labels", "POST")
    with capsys.disabled():
        print(
            f"\n{KILLS} kills (seed {seed}): {len(courier.taken)} deliveries, {courier.cut} connections cut, "
            f"{sum(courier.taken.values())} answers 202; {len(town.opened)} pull requests labelled once each by "
            f"{len(requests)} requests"
        )


def settle(livefirst: Any, standin: StandIn, town: Town, courier: Courier) -> None:
    """Wait until nothing waits and GitHub has nothing more to tell."""

    def quiet() -> bool:
        standin._ask("GET", "idle")
        return set(courier.taken) >= set(town.handed) and livefirst.metric("livefirst_waiting_subjects") == 0

    for _ in range(3):  # a judged thread may ring for its commenters, and a label's echo may be on its way
        until(quiet, "nothing to wait", lambda: livefirst.log)
        time.sleep(0.3)


def check(livefirst: Any, standin: StandIn, town: Town, courier: Courier, told: str) -> None:
    """Assert that what was answered 202 is done, once, and that GitHub was changed once."""
    assert set(courier.answers) <= {202, 503}, (told, courier.answers)
    listed = livefirst.deliveries()
    states = {one["guid"]: one["state"] for one in listed}
    assert len(states) == len(listed), (told, "a delivery is stored twice")
    known = {guid for guid, parcel in town.handed.items() if parcel.event != "label"}  # ours to judge, not ignored
    assert known, told
    assert {guid: states.get(guid) for guid in known} == dict.fromkeys(known, "done"), told
    assert set(states) <= set(town.handed), told
    threads = {one["number"]: one for one in standin.state()["repositories"][0]["threads"]}
    for number in town.opened:
        changes = Counter((one["event"], one["label"]) for one in threads[number]["events"] if one["label"])
        assert changes == {("labeled", LABEL): 1}, (told, number, changes)
        assert threads[number]["labels"] == [LABEL], told
        assert sum(one["by_app"] for one in threads[number]["comments"]) == 0, told
