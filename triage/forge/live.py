"""GitHub itself, through PyGithub: the only file that imports it.

PyGithub signs the App's key, knows the addresses of an Enterprise Server and carries each request; ``asking`` counts,
retries and names refusals; ``gathering`` and ``translate`` read the answers.
"""

import logging
import threading
from collections.abc import Callable
from http import HTTPStatus
from importlib.metadata import version
from typing import Final, Self
from urllib.parse import quote, urlsplit
from weakref import WeakSet

import requests
from github.Auth import AppAuth
from github.Requester import HTTPRequestsConnectionClass, HTTPSRequestsConnectionClass, Requester, RequestsResponse
from urllib3.exceptions import HTTPError, NewConnectionError

from triage.forge import documents, gathering, translate
from triage.forge.asking import PAGE, Answer, Asker, Question, Reach, items, last_page, segment
from triage.forge.identity import AppIdentity, GivenToken, Identity, TokenIdentity
from triage.forge.labelling import Labels
from triage.forge.port import (
    Changes,
    Forbidden,
    ForgeError,
    Gone,
    Guide,
    Opening,
    Present,
    Refused,
    RepositoryRef,
    Suspended,
    Unavailable,
)
from triage.forge.refusals import Unreachable

TIMEOUT: Final = 15  # seconds without a byte
USER_AGENT: Final = f"livefirst/{version('livefirst')}"
MAX_COMMENT: Final = 65_536  # bytes
MAX_DESCRIPTION: Final = 100  # characters of a label's description
MAX_SUMMARY: Final = 65_535  # bytes of a check run's summary
MOST_COMMENT_PAGES: Final = 30


class LiveForge:
    """GitHub, reached as an App or with a token. Safe to share between threads."""

    def __init__(self, asker: Asker, wires: "_Wires", identity: Identity, web_url: str) -> None:
        self._asker = asker
        self._wires = wires
        self._identity = identity
        self._host = urlsplit(web_url).netloc
        self._labels = Labels()

    @classmethod
    def for_app(
        cls, app_id: int, private_key_pem: str, api_url: str, *, count: Callable[[str], None], web_url: str
    ) -> Self:
        """Reach GitHub as an App, with one token an installation.

        Raises
        ------
        ForgeError
            When the key cannot sign.
        """
        app = _AppKey(app_id, private_key_pem)
        wires = _Wires(api_url)
        asker = Asker(api_url, wires.graphql_url, wires.send, count)
        return cls(asker, wires, AppIdentity(asker, app_id, app), web_url)

    @classmethod
    def for_token(
        cls, token: str, api_url: str, *, count: Callable[[str], None], web_url: str = "https://github.com"
    ) -> Self:
        """Reach GitHub with one token, whatever the installation."""
        wires = _Wires(api_url)
        asker = Asker(api_url, wires.graphql_url, wires.send, count)
        return cls(asker, wires, TokenIdentity(asker, GivenToken(token)), web_url)

    def close(self) -> None:
        """Close every connection."""
        self._wires.close()

    # --- reading ---

    def opening(self, repository: RepositoryRef, number: int, author: str | None) -> Opening:
        """Read files, commits, timeline and author; each part that cannot be read is ``None``."""
        return gathering.opening(self._reach(repository), repository, number, author)

    def changes(self, repository: RepositoryRef, number: int) -> Changes:
        """Read files and commits again, after a push."""
        return gathering.changes(self._reach(repository), number)

    def present(self, repository: RepositoryRef, number: int) -> Present:
        """Read the labels and the state of a pull request or issue: one request.

        A second one where a pull request is not shown as an issue, as where issues are switched off.
        """
        reach = self._reach(repository)
        try:
            answer = reach.get("present", f"/issues/{number}")
        except Gone:
            answer = reach.get("present", f"/pulls/{number}")
        thread = translate.part(answer.body)
        if not isinstance(thread.get("state"), str) or not isinstance(thread.get("labels"), list):
            raise Unavailable("GitHub's answer does not tell the state of the thread")
        return translate.present(thread)

    def text(self, repository: RepositoryRef, path: str, ref: str | None = None) -> str | None:
        """Read a file of the default branch, or as of ``ref``; ``Refused`` when it is over 256 KiB."""
        return gathering.read_text(self._reach(repository), path, ref=ref)

    def organisation_text(self, repository: RepositoryRef, path: str) -> str | None:
        """Read a file of the owner's ``.github`` repository; ``None`` when there is none or it is out of reach."""
        try:
            return gathering.read_text(self._organisation(repository), path)
        except Suspended:
            raise
        except Forbidden:
            return None

    def guide(self, repository: RepositoryRef) -> Guide:
        """Read what the repository says to contributors."""
        return gathering.guide(self._reach(repository), self._organisation(repository), self._host)

    def role(self, repository: RepositoryRef, login: str) -> str | None:
        """Tell a person's role name on the repository, ``None`` when unknown."""
        try:
            answer = self._reach(repository).get("role", f"/collaborators/{segment(login)}/permission")
        except Suspended:
            raise
        except (Gone, Forbidden, Refused):
            return None
        return translate.role(answer.body) if isinstance(answer.body, dict) else None

    # --- writing ---

    def add_label(self, repository: RepositoryRef, number: int, name: str, colour: str, description: str) -> str:
        """Put a label on, creating it when the repository has none of that name in any case; returns its true name."""
        wanted = {"name": name, "color": colour.lstrip("#").lower(), "description": description[:MAX_DESCRIPTION]}
        return self._labels.put_on(self._reach(repository), repository.id, number, wanted)

    def remove_label(self, repository: RepositoryRef, number: int, name: str) -> None:
        """Take a label off; an absent one is no error."""
        try:
            self._reach(repository).send("label", Question("DELETE", f"/issues/{number}/labels/{segment(name)}"))
        except Gone:
            return

    def own_comment(self, repository: RepositoryRef, number: int, marker: str) -> int | None:
        """Find the comment that carries ``marker`` and was written by this very App or token.

        The first page is read first, since it tells how many there are; then from the newest page back.
        """
        reach = self._reach(repository)
        path = f"/issues/{number}/comments"
        first = reach.get("comment", path, {"per_page": PAGE})
        last = last_page(first)
        for page in (1, *range(last, max(1, last - MOST_COMMENT_PAGES), -1)):
            answer = first if page == 1 else reach.get("comment", path, {"per_page": PAGE, "page": page})
            for comment in reversed(items(answer)):
                key = translate.number(comment.get("id"))
                if key and translate.carries(comment.get("body"), marker) and self._identity.wrote(comment):
                    return key
        return None

    def post_comment(self, repository: RepositoryRef, number: int, body: str) -> int:
        """Post a comment and return its id. Never sent twice: after a failure, look for the own comment first."""
        question = Question("POST", f"/issues/{number}/comments", body={"body": translate.cut(body, MAX_COMMENT)})
        answer = self._reach(repository).send("comment", question)
        key = translate.number(translate.part(answer.body).get("id"))
        if key is None:
            raise Unavailable("the comment was posted, but GitHub does not name it")
        return key

    def edit_comment(self, repository: RepositoryRef, comment: int, body: str) -> None:
        """Replace the body of an own comment."""
        question = Question("PATCH", f"/issues/comments/{comment}", body={"body": translate.cut(body, MAX_COMMENT)})
        self._reach(repository).send("comment", question)

    def minimize_comment(self, repository: RepositoryRef, node: str) -> None:
        """Collapse a comment as off-topic; reversible by any maintainer."""
        data, refused = self._reach(repository).graphql("minimize", documents.MINIMIZE, {"id": node})
        if refused is not None:
            raise refused
        if translate.part(data, "minimizeComment", "minimizedComment").get("isMinimized") is not True:
            raise Refused("GitHub did not collapse the comment")

    def lock(self, repository: RepositoryRef, number: int) -> None:
        """Lock a thread; reversible by any maintainer."""
        self._reach(repository).send("lock", Question("PUT", f"/issues/{number}/lock"))

    def check_run(self, repository: RepositoryRef, sha: str, *, name: str, ok: bool, title: str, summary: str) -> None:
        """Report on a commit."""
        body = {
            "name": name,
            "head_sha": sha,
            "status": "completed",
            "conclusion": "success" if ok else "failure",
            "output": {"title": title, "summary": translate.cut(summary, MAX_SUMMARY)},
        }
        self._reach(repository).send("check", Question("POST", "/check-runs", body=body))

    def _reach(self, repository: RepositoryRef) -> Reach:
        credentials = self._identity.credentials(repository.installation_id)
        return Reach(self._asker, credentials, repository, f"/repos/{quote(repository.full_name)}")

    def _organisation(self, repository: RepositoryRef) -> Reach:
        owner = repository.full_name.partition("/")[0]
        credentials = self._identity.credentials(repository.installation_id)
        return Reach(self._asker, credentials, None, f"/repos/{quote(owner)}/.github")


class _AppKey:
    """The App itself, which signs ten minutes of trust with its key."""

    def __init__(self, app_id: int, private_key: str) -> None:
        try:
            self._auth = AppAuth(app_id, private_key)
            self._auth.create_jwt()
        except Exception:  # noqa: BLE001 - what a library says of a key may quote the key
            raise ForgeError(
                "LIVEFIRST_PRIVATE_KEY does not sign: give the whole .pem file that GitHub made for the App"
            ) from None

    def authorization(self) -> str:
        return f"Bearer {self._auth.create_jwt()}"

    def renew(self) -> bool:
        return False


class _Plain(HTTPRequestsConnectionClass):
    """One HTTP connection."""

    def getresponse(self) -> RequestsResponse:
        return _kept(super().getresponse(), self.verb)


class _Secure(HTTPSRequestsConnectionClass):
    """The same over TLS."""

    def getresponse(self) -> RequestsResponse:
        return _kept(super().getresponse(), self.verb)


class _Wires:
    """One requester and one connection a thread: PyGithub keeps the request on the connection while it is sent."""

    def __init__(self, api_url: str) -> None:
        logging.getLogger("github.Requester").setLevel(logging.INFO)  # its debug lines hold bodies and tokens
        self._api_url = api_url.rstrip("/")
        self._mine = threading.local()
        self._lock = threading.Lock()
        self._open: WeakSet[_Plain | _Secure] = WeakSet()
        self.graphql_url: str = self._requester().graphql_url

    def send(self, question: Question, authorization: str) -> Answer:
        """Send one request and read the whole answer."""
        if not hasattr(self._mine, "wire"):
            self._mine.wire = (self._requester(), self._connection())
        requester, connection = self._mine.wire
        headers = {"Authorization": authorization, "Accept": "application/vnd.github+json"}
        try:
            status, told, text = requester.requestJson(
                question.verb,
                question.url,
                parameters=dict(question.query or {}),
                headers=headers,
                input=question.body,
                cnx=connection,
            )
        except requests.Timeout:
            raise Unreachable(f"GitHub did not answer within {TIMEOUT} s") from None
        except requests.RequestException as error:
            if _never_connected(error):
                raise Unreachable("GitHub cannot be reached: check the network and LIVEFIRST_GITHUB_API_URL") from None
            raise Unavailable("GitHub cut the connection") from None
        except (HTTPError, ValueError):  # a header or an address that the libraries cannot read
            raise Unavailable("GitHub's answer is not understood") from None
        return Answer(status, {str(name).lower(): str(value) for name, value in told.items()}, text)

    def close(self) -> None:
        """Close the connections of every thread."""
        with self._lock:
            for connection in list(self._open):
                connection.close()

    def _requester(self) -> Requester:
        return Requester(
            auth=None,
            base_url=self._api_url,
            timeout=TIMEOUT,
            user_agent=USER_AGENT,
            per_page=PAGE,
            verify=True,
            retry=None,
            pool_size=None,
        )

    def _connection(self) -> _Plain | _Secure:
        address = urlsplit(self._api_url)
        kind = _Secure if address.scheme == "https" else _Plain
        connection = kind(str(address.hostname), address.port, timeout=TIMEOUT, retry=0, pool_size=1)
        with self._lock:
            self._open.add(connection)
        return connection


def _kept(response: RequestsResponse, verb: str) -> RequestsResponse:
    """Hand on what PyGithub would deal with itself, under a status that it leaves alone.

    It follows a 301 and loses its query (308 means the same), and asks for ever after a 202 to a read.
    """
    if response.status == HTTPStatus.MOVED_PERMANENTLY:
        response.status = HTTPStatus.PERMANENT_REDIRECT
    elif response.status == HTTPStatus.ACCEPTED and verb == "GET":
        response.status = HTTPStatus.SERVICE_UNAVAILABLE
    return response


def _never_connected(error: requests.RequestException) -> bool:
    cause = error.args[0] if error.args else None
    return isinstance(getattr(cause, "reason", cause), NewConnectionError)
