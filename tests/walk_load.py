"""Deliveries as GitHub carries them: signed, many at once, and again under the same id until they are taken."""

import hashlib
import hmac
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import httpx
from plugins_github import AppKey, Listener, StandIn, small_world

LABEL: Final = "agent use stated"
POLICY: Final = f'mode: label\nlabels: {{disclosed: "{LABEL}"}}'
DISCLOSED: Final = "Made quickly.\n\nGenerated with [Claude Code](https://claude.ai/code)"
REPO: Final = "acme/widgets"
PATIENCE: Final = 90.0  # seconds


def labelling(key: AppKey, listener: Listener, policy: str = POLICY) -> dict[str, Any]:
    """Return a world whose policy labels what is disclosed; it sends to the listener, who is not the server."""
    made = small_world(key, webhook_url=listener.url, webhook_secret="of the listener", slug="livefirst")
    made["repositories"][0]["files"][".github/triage.yml"] = policy
    return made


def labels_put_on(standin: StandIn, number: int) -> list[str]:
    """List every time that a label was put on a thread."""
    events = standin.thread(REPO, number)["events"]
    return [one["label"] for one in events if one["event"] == "labeled"]


def until(holds: Callable[[], bool], what: str, told: Callable[[], str] = str) -> None:
    """Wait until something holds; the tests assert on what then is, never on how long it took."""
    last = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < last, f"waited {PATIENCE:.0f} s for {what}\n{told()[-3000:]}"
        time.sleep(0.05)


class Parcel(NamedTuple):
    """One delivery."""

    guid: str
    event: str
    body: bytes

    def signed(self, secret: str) -> dict[str, str]:
        """Make its headers."""
        return {
            "Content-Type": "application/json",
            "X-GitHub-Event": self.event,
            "X-GitHub-Delivery": self.guid,
            "X-Hub-Signature-256": "sha256=" + hmac.new(secret.encode(), self.body, hashlib.sha256).hexdigest(),
        }


class Post:
    """Picks up what the stand-in sent to the listener, for a test to deliver when and as often as it likes."""

    def __init__(self, standin: StandIn, listener: Listener) -> None:
        self._standin, self._listener = standin, listener
        self._taken = 0

    def collect(self) -> list[Parcel]:
        """Take what came since."""
        heard = self._listener.heard[self._taken :]
        self._taken += len(heard)
        return [Parcel(headers["x-github-delivery"], headers["x-github-event"], body) for headers, body in heard]

    def act(self, do: str, actor: str, **what: Any) -> Parcel:
        """Let somebody act and return the delivery that tells of it; nobody else may act meanwhile."""
        self._standin.act(do, actor, **what)
        self._standin._ask("GET", "idle")
        return self.collect()[-1]


class Courier:
    """Senders side by side; what is not answered 202 is sent again under the same id, as GitHub's redelivery does."""

    def __init__(self, url: str, secret: str, *, senders: int) -> None:
        self.taken: Counter[str] = Counter()
        self.answers: Counter[int] = Counter()
        self.cut = 0
        self._url, self._secret = url, secret
        self._bag: queue.Queue[Parcel | None] = queue.Queue()
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._carry, name=f"sender-{one}") for one in range(senders)]
        for thread in self._threads:
            thread.start()

    def hand(self, parcels: list[Parcel]) -> None:
        """Take deliveries to carry."""
        for parcel in parcels:
            self._bag.put(parcel)

    def finish(self) -> None:
        """Carry what is left, then stop."""
        for _ in self._threads:
            self._bag.put(None)
        for thread in self._threads:
            thread.join(PATIENCE)
            assert not thread.is_alive(), "a sender still waits for a 202"

    def _carry(self) -> None:
        with httpx.Client(timeout=30) as client:
            while (parcel := self._bag.get()) is not None:
                while not self._taken_in(client, parcel):
                    time.sleep(0.05)

    def _taken_in(self, client: httpx.Client, parcel: Parcel) -> bool:
        try:
            answer = client.post(
                f"{self._url}/webhooks/github", content=parcel.body, headers=parcel.signed(self._secret)
            )
        except httpx.TransportError:  # killed in between: nobody knows whether it was kept
            with self._lock:
                self.cut += 1
            return False
        with self._lock:
            self.answers[answer.status_code] += 1
            if answer.status_code == httpx.codes.ACCEPTED:
                self.taken[parcel.guid] += 1
        return answer.status_code == httpx.codes.ACCEPTED
