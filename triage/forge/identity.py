"""Who asks GitHub, and which comments are the asker's own."""

import threading
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final, Protocol

from triage.forge import translate
from triage.forge.asking import Answer, Asker, Credentials, Question
from triage.forge.port import Gone, Refused, Suspended, Unavailable

# What an installation token may do, named so that a wider App does not make wider tokens.
PERMISSIONS: Final = {
    "metadata": "read",
    "contents": "read",
    "issues": "write",
    "pull_requests": "write",
    "checks": "write",
}
TOKEN_LIFE: Final = 3600.0  # seconds, where the answer does not tell
TOKEN_MARGIN: Final = 300.0  # seconds before its end in which a token is no longer used


class Identity(Protocol):
    """An App or a token."""

    def credentials(self, installation_id: int) -> Credentials:
        """Return what is shown to GitHub for an installation."""

    def wrote(self, comment: object) -> bool:
        """Tell whether a comment, as GitHub's JSON has it, was written by this very asker."""


class GivenToken:
    """A token that somebody gave us."""

    def __init__(self, token: str) -> None:
        self._token = token

    def authorization(self) -> str:
        """Return the header's value."""
        return f"Bearer {self._token}"

    def renew(self) -> bool:
        """Offer nothing else."""
        return False


class InstallationToken:
    """The token of one installation: fetched when needed, kept until shortly before its end, by the server's clock."""

    def __init__(self, asker: Asker, app: Credentials, installation_id: int) -> None:
        self._asker = asker
        self._app = app
        self._path = f"/app/installations/{installation_id}/access_tokens"
        self._lock = threading.Lock()
        self._token: str | None = None
        self._until = 0.0

    def authorization(self) -> str:
        """Return the header's value, with a fresh token where the last one is near its end."""
        with self._lock:
            if self._token is None or time.monotonic() >= self._until:
                self._fetch()
            return f"Bearer {self._token}"

    def renew(self) -> bool:
        """Drop the token: the next question fetches another."""
        with self._lock:
            self._token = None
        return True

    def _fetch(self) -> None:
        asked = time.monotonic()
        answer = self._ask({"permissions": PERMISSIONS})
        token = translate.text(translate.part(answer.body).get("token"))
        if not token:
            raise Unavailable("GitHub gave no installation token")
        life = _life(answer)
        self._token = token
        self._until = asked + life - min(TOKEN_MARGIN, life / 2)

    def _ask(self, body: object) -> Answer:
        try:
            return self._asker.ask("token", Question("POST", self._path, body=body), self._app)
        except Gone:
            raise Suspended("the App is no longer installed there") from None
        except Refused:
            if body is None:
                raise
            return self._ask(None)  # the owner has not granted all of it yet: take what was granted


class AppIdentity:
    """An App: an installation's token where it is installed, and its own slug."""

    def __init__(self, asker: Asker, app_id: int, app: Credentials) -> None:
        self._asker = asker
        self._app_id = app_id
        self._app = app
        self._lock = threading.Lock()
        self._tokens: dict[int, InstallationToken] = {}
        self._login: str | None = None

    def credentials(self, installation_id: int) -> Credentials:
        """Return the token of an installation, one object an installation."""
        with self._lock:
            if installation_id not in self._tokens:
                self._tokens[installation_id] = InstallationToken(self._asker, self._app, installation_id)
            return self._tokens[installation_id]

    def wrote(self, comment: object) -> bool:
        """Tell by the App's id, else by its login, which is asked for once."""
        by = translate.part(comment, "performed_via_github_app").get("id")
        if by is not None:
            return bool(by == self._app_id)
        login = translate.text(translate.part(comment, "user").get("login")) or ""
        return login.endswith("[bot]") and login.casefold() == self._own_login()

    def _own_login(self) -> str:
        if self._login is None:
            answer = self._asker.ask("token", Question("GET", "/app"), self._app)
            self._login = f"{translate.part(answer.body).get('slug')}[bot]".casefold()
        return self._login


class TokenIdentity:
    """Whoever a token stands for."""

    def __init__(self, asker: Asker, token: GivenToken) -> None:
        self._asker = asker
        self._token = token
        self._login: str | None = None

    def credentials(self, _installation_id: int) -> Credentials:
        """Return the one token."""
        return self._token

    def wrote(self, comment: object) -> bool:
        """Tell by the token's own login, which is asked for once."""
        if self._login is None:
            answer = self._asker.ask("token", Question("GET", "/user"), self._token)
            self._login = str(translate.part(answer.body).get("login")).casefold()
        return str(translate.part(comment, "user").get("login")).casefold() == self._login


def _life(answer: Answer) -> float:
    """Tell how many seconds a token lives, by the server's own clock."""
    end = translate.time(translate.part(answer.body).get("expires_at"))
    try:
        now = parsedate_to_datetime(answer.headers.get("date", ""))
    except ValueError:
        now = datetime.now(UTC)
    return max((end - now).total_seconds(), 1.0) if end is not None else TOKEN_LIFE
