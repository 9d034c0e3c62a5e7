"""The state of a GitHub that exists in memory only: everything that the stand-in can be asked about.

Also the format of a seed: ``World.from_json`` reads one JSON object whose keys are the fields below. Unknown keys are
refused. Ids that a seed leaves out are given in order of appearance, so the same seed always gets the same ids.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Self

from pydantic import TypeAdapter

from standin.threads import LONG_AGO, Pull, Seeded, Thread, Time, sha

ALL_PERMISSIONS: Final = {
    "metadata": "read",
    "contents": "read",
    "issues": "write",
    "pull_requests": "write",
    "checks": "write",
    "members": "read",
}


@dataclass(slots=True)
class PastPull(Seeded):
    """A pull request that a person sent to a repository outside this world."""

    repo: str
    created_at: Time
    number: int = 1
    state: Literal["open", "closed"] = "closed"
    merged: bool = False
    base: str = "main"


@dataclass(slots=True)
class Person(Seeded):
    """An account. ``type`` is ``User``, ``Bot`` or ``Organization``."""

    login: str
    id: int = 0
    type: str = "User"
    created_at: Time = LONG_AGO
    name: str | None = None
    email: str | None = None
    pulls: list[PastPull] = field(default_factory=list)


@dataclass(slots=True)
class Label(Seeded):
    """A label of a repository; names are the same in any case of letters."""

    name: str
    color: str = "ededed"
    description: str | None = None
    id: int = 0


@dataclass(slots=True)
class CheckRun(Seeded):
    """A report on a commit."""

    name: str
    head_sha: str
    status: str
    conclusion: str | None
    title: str | None
    summary: str | None
    at: Time
    id: int = 0


@dataclass(slots=True)
class Repository(Seeded):
    """A repository. ``files`` are those of the default branch; ``roles`` maps logins to role names.

    ``installation`` left out is the one on the owner's account; 0 keeps the repository outside of all.
    """

    full_name: str
    id: int = 0
    installation: int | None = None
    default_branch: str = "main"
    private: bool = False
    archived: bool = False
    created_at: Time = LONG_AGO
    old_names: list[str] = field(default_factory=list)
    roles: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    labels: list[Label] = field(default_factory=list)
    threads: list[Thread] = field(default_factory=list)
    check_runs: list[CheckRun] = field(default_factory=list)

    @property
    def owner(self) -> str:
        """Return the owner's login."""
        return self.full_name.partition("/")[0]

    @property
    def name(self) -> str:
        """Return the name without its owner."""
        return self.full_name.partition("/")[2]

    def thread(self, number: int) -> Thread | None:
        """Find an issue or pull request by number."""
        return next((one for one in self.threads if one.number == number), None)

    def label(self, name: str) -> Label | None:
        """Find a label by name, in any case of letters."""
        return next((one for one in self.labels if one.name.casefold() == name.casefold()), None)


@dataclass(slots=True)
class Installation(Seeded):
    """The App on an account."""

    id: int
    account: str
    permissions: dict[str, str] = field(default_factory=lambda: dict(ALL_PERMISSIONS))
    suspended_at: Time | None = None


@dataclass(slots=True)
class App(Seeded):
    """The App. With a ``public_key`` (PEM) its JSON web tokens are verified, else any is accepted.

    With ``webhook_url`` and ``webhook_secret`` the stand-in sends what ``events`` lists (empty: everything).
    """

    id: int = 1
    slug: str = "livefirst"
    name: str = "Livefirst"
    owner: str = "acme"
    client_id: str = "Iv23standin"
    public_key: str | None = None
    bot_id: int = 0
    permissions: dict[str, str] = field(default_factory=lambda: dict(ALL_PERMISSIONS))
    events: list[str] = field(default_factory=list)
    webhook_url: str | None = None
    webhook_secret: str | None = None

    @property
    def bot(self) -> str:
        """Return the login that the App acts under."""
        return f"{self.slug}[bot]"


@dataclass(slots=True)
class World(Seeded):
    """All of it. ``tokens`` maps personal tokens to logins; ``manifest_codes`` lists codes that can be converted once.

    ``url`` is the address that answers name themselves by; ``None``: the address that was asked. ``rate_limit`` is in
    requests an hour for each caller.
    """

    app: App = field(default_factory=App)
    installations: list[Installation] = field(default_factory=list)
    people: list[Person] = field(default_factory=list)
    repositories: list[Repository] = field(default_factory=list)
    tokens: dict[str, str] = field(default_factory=dict)
    manifest_codes: list[str] = field(default_factory=list)
    url: str | None = None
    rate_limit: int = 5000
    next_id: int = 1000

    def __post_init__(self) -> None:
        self.fill()

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read a seed.

        Raises
        ------
        pydantic.ValidationError
            With the place of every key that is unknown or of the wrong type.
        """
        return _WORLD.validate_json(text)  # type: ignore[return-value]  # the adapter is made of World itself

    def to_json(self) -> bytes:
        """Write the whole state as a seed that ``from_json`` reads."""
        return _WORLD.dump_json(self)

    def give_id(self) -> int:
        """Take the next free id."""
        self.next_id += 1
        return self.next_id

    def fill(self) -> None:
        """Give ids and commit hashes to everything that has none yet, and repositories their account's installation."""
        numbered = list(self._numbered())
        self.next_id = max([self.next_id, *(one.id for one in numbered)])
        for one in numbered:
            one.id = one.id or self.give_id()
        accounts = {one.account: one.id for one in self.installations}
        self.app.bot_id = self.app.bot_id or self.give_id()
        for repository in self.repositories:
            if repository.installation is None:
                repository.installation = accounts.get(repository.owner)
            for thread in repository.threads:
                if thread.pull is not None:
                    _name_commits(repository, thread.number, thread.pull)

    def _numbered(self) -> Iterator[Any]:
        yield from self.people
        for repository in self.repositories:
            yield repository
            yield from repository.labels
            yield from repository.check_runs
            for thread in repository.threads:
                yield thread
                yield from thread.comments
                yield from thread.events
                if thread.pull is not None:
                    yield from thread.pull.reviews
                    yield from thread.pull.review_comments

    def person(self, login: str) -> Person | None:
        """Find an account by login, in any case of letters; the App's own account is one too."""
        if login.casefold() == self.app.bot.casefold():
            return Person(self.app.bot, self.app.bot_id, "Bot")
        return next((one for one in self.people if one.login.casefold() == login.casefold()), None)

    def known(self, login: str) -> Person:
        """Find an account, or open one of that login."""
        found = self.person(login)
        if found is None:
            kind = "Bot" if login.endswith("[bot]") else "User"
            found = Person(login, self.give_id(), kind)
            self.people.append(found)
        return found

    def repository(self, full_name: str) -> Repository | None:
        """Find a repository by its present name, in any case of letters."""
        return next((one for one in self.repositories if one.full_name.casefold() == full_name.casefold()), None)

    def renamed(self, full_name: str) -> Repository | None:
        """Find a repository by a name that it had before."""
        wanted = full_name.casefold()
        return next((one for one in self.repositories if wanted in map(str.casefold, one.old_names)), None)

    def installation(self, number: int | None) -> Installation | None:
        """Find an installation by id."""
        return next((one for one in self.installations if one.id == number), None)


def _name_commits(repository: Repository, number: int, pull: Pull) -> None:
    if not pull.commits and not pull.head_sha:
        pull.head_sha = sha(repository.id, number, pull.head_ref)
    for at, commit in enumerate(pull.commits):
        last = at == len(pull.commits) - 1
        named = pull.head_sha if last and pull.head_sha else sha(repository.id, number, at, commit.message)
        commit.sha = commit.sha or named
    if pull.commits and not pull.head_sha:
        pull.head_sha = pull.commits[-1].sha


_WORLD: Final = TypeAdapter(World)
