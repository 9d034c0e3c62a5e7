"""Which real parts make up a running Livefirst? The only place that chooses them."""

import threading
import time
from collections.abc import Callable

from models.learned.classifier import Classifier, load
from models.recorded.database import Database, DatabaseError
from models.recorded.deliveries import Deliveries
from models.recorded.store import Store
from triage import views
from triage.engine import Engine
from triage.forge.live import LiveForge
from triage.forge.port import Forge, ForgeError
from triage.forge.recorded import RecordedForge
from triage.inbox import Inbox
from triage.job import Judge
from triage.metrics import BACKLOG, GITHUB_REQUESTS, WAITING
from triage.settings import PREFIX, Settings, SettingsError
from triage.walk import Walk


class House:
    """A running Livefirst: the memory, the inbox, the engine and what the pages read."""

    def __init__(self, settings: Settings, *, clock: Callable[[], float] = time.time) -> None:
        self.settings = settings
        self.clock = clock
        self.database = Database.open(settings.database_url)
        self.store = Store(self.database)
        self.deliveries = Deliveries(self.database)
        self.classifier: Classifier = load()
        self.engine = Engine(settings, self.deliveries, tidy=self._tidy, clock=clock)
        self.inbox = Inbox(self.deliveries, settle=settings.settle_seconds, on_woken=self.engine.wake)
        # Good for one use, from this machine only, while no App exists to sign in with.
        token = settings.sign_in_token
        self.sign_in_token: str | None = None if token is None else token.get_secret_value()
        self._forges = Forges(settings)

    def start(self, *, door: bool = True, judge: bool = True) -> None:
        """Migrate the database, then open the door's inbox and start judging.

        Raises
        ------
        DatabaseError
            When the database cannot be used; the message names the mend.
        """
        self.database.migrate()
        if door:
            self.inbox.start()
        if judge:
            self.engine.start(self.judge())

    def prove(self) -> None:
        """Make sure that GitHub can be reached with what the settings give: a key that is read too late loses hours.

        Raises
        ------
        SettingsError
            When the credentials are incomplete or cannot be used.
        """
        self._forges.of(0)

    def judge(self) -> Judge:
        """Return the judge of this house."""
        walk = Walk(self.store, self.classifier, self._forges.of, spend=self.engine.spend, clock=self.clock)
        return Judge(
            self.deliveries,
            walk,
            lease=self.settings.lease_seconds,
            settle=self.settings.settle_seconds,
            wake=self.engine.wake,
            first_wait=self.settings.retry_seconds,
            clock=self.clock,
        )

    def stop(self) -> None:
        """Store what is at the door, finish what is in hand, and close."""
        self.inbox.stop()
        self.engine.stop()
        self.database.close()

    def ready(self) -> dict[str, bool]:
        """Tell which parts can do their work now."""
        try:
            self.database.check()
        except DatabaseError:
            database = False
        else:
            database = True
        return {"database": database, "engine": self.engine.alive()}

    def queue(self) -> views.Queue:
        """Return what the queue page shows."""
        return views.queue(self.store, self.deliveries, web_url=self.settings.github_web_url, now=self.clock())

    def pull(self, owner: str, repo: str, number: int) -> views.PullPage | None:
        """Return what a pull request's page shows, ``None`` when it is not known."""
        full_name = f"{owner}/{repo}"
        return views.pull(self.store, full_name, number, web_url=self.settings.github_web_url)

    def measure(self) -> None:
        """Bring the gauges up to date for a scrape."""
        backlog = self.deliveries.backlog()
        BACKLOG.set(backlog.waiting)
        WAITING.set(backlog.subjects)

    def _tidy(self, before: float) -> None:
        self.deliveries.drop_bodies(before)
        self.store.drop_act_bodies(before)


class Forges:
    """The forge of each installation: the App's, else the token's, else one that knows nothing and writes nothing."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._forge: Forge | None = None

    def of(self, installation_id: int) -> Forge:
        """Return the forge that reaches an installation."""
        with self._lock:
            if self._forge is None:
                self._forge = choose_forge(self._settings)
            return self._forge if installation_id or self._settings.token else RecordedForge()


def choose_forge(settings: Settings) -> Forge:
    """Choose the forge by what credentials there are.

    Raises
    ------
    SettingsError
        When the App's credentials are incomplete.
    """
    key = settings.read_private_key()
    if settings.app_id is not None and key is not None:
        try:
            return LiveForge.for_app(
                settings.app_id, key, settings.github_api_url, count=count_request, web_url=settings.github_web_url
            )
        except ForgeError as error:
            raise SettingsError(str(error)) from None
    if settings.app_id is not None or key is not None:
        missing = "APP_ID" if settings.app_id is None else "PRIVATE_KEY_FILE"
        raise SettingsError(f"{PREFIX}{missing}: needed beside the other half of the App's credentials")
    if settings.token is not None:
        return LiveForge.for_token(settings.token.get_secret_value(), settings.github_api_url, count=count_request)
    return RecordedForge()


def count_request(kind: str) -> None:
    """Count one request to GitHub."""
    GITHUB_REQUESTS.labels(kind=kind).inc()


def build(settings: Settings) -> House:
    """Build a house from settings; nothing runs yet."""
    return House(settings)
