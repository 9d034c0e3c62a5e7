"""Which policy is in force, from which file, and what a problem with it leaves in force."""

from typing import Any

import pytest

from models.recorded.database import Database
from models.recorded.store import Store
from models.recorded.tables import RepositoryRow, ThreadRow
from triage.forge.port import Forbidden, ForgeError, Refused, RepositoryRef, Suspended, Unavailable
from triage.forge.recorded import RecordedForge
from triage.policy import DEFAULT, parse
from triage.repo_policy import CHECK_NAME, PATH, READ_AGAIN_AFTER, Governed, check_proposal, govern, in_force

HERE, ABOVE = f"repos/acme/widgets/contents/{PATH}", f"repos/acme/.github/contents/{PATH}"
STRICT, LOUD = "sensitivity: strict\n", "mode: loud\n"


class Refusing(RecordedForge):
    """A forge in which a file cannot be read, or a commit not reported on."""

    def __init__(self, error: ForgeError, *, on: str = "text") -> None:
        super().__init__({f"{HERE}@s1": STRICT})
        self._error, self._on = error, on

    def text(self, repository: RepositoryRef, path: str, ref: str | None = None) -> str | None:
        if self._on == "text":
            raise self._error
        return super().text(repository, path, ref)

    def guide(self, repository: RepositoryRef) -> Any:
        if self._on == "guide":
            raise self._error
        return super().guide(repository)

    def check_run(self, repository: RepositoryRef, sha: str, **told: Any) -> None:
        if self._on == "check_run":
            raise self._error
        super().check_run(repository, sha, **told)


@pytest.fixture
def store(database: Database) -> Store:
    kept = Store(database)
    kept.see_repository(1, 5, "acme/widgets", private=False, archived=False)
    return kept


def row(store: Store) -> RepositoryRow:
    found = store.repository(1)
    assert found is not None
    return found


def forge(**texts: str) -> RecordedForge:
    return RecordedForge({{"here": HERE, "above": ABOVE}[name]: text for name, text in texts.items()})


def test_the_repositorys_file_goes_before_the_organisations_and_that_before_the_defaults(store: Store) -> None:
    both = govern(store, forge(here=STRICT, above=""), row(store), now=1.0)
    assert (both.policy.fingerprint, both.row.policy_source) == (parse(STRICT).fingerprint, PATH)
    above = govern(store, forge(above=STRICT), row(store), now=1.0 + 2 * READ_AGAIN_AFTER)
    assert (above.policy.fingerprint, above.row.policy_source) == (parse(STRICT).fingerprint, f"acme/.github:{PATH}")
    none = govern(store, forge(), row(store), now=1.0 + 4 * READ_AGAIN_AFTER)
    assert (none.policy.fingerprint, none.row.policy_source) == (DEFAULT.fingerprint, None)


def test_a_file_is_read_once_a_day(store: Store) -> None:
    govern(store, forge(here=STRICT), row(store), now=1.0)
    kept = govern(store, Refusing(Unavailable("down")), row(store), now=READ_AGAIN_AFTER)
    assert kept.policy.fingerprint == parse(STRICT).fingerprint
    with pytest.raises(Unavailable):
        govern(store, Refusing(Unavailable("down")), row(store), now=READ_AGAIN_AFTER + 2.0)


def test_a_broken_file_keeps_the_last_good_one_and_its_problems(store: Store) -> None:
    govern(store, forge(here=STRICT), row(store), now=1.0)
    broken = govern(store, forge(here=LOUD), row(store), now=1.0 + 2 * READ_AGAIN_AFTER)
    assert broken.policy.fingerprint == parse(STRICT).fingerprint
    assert (broken.row.policy_error or "").startswith(f"{PATH}:1:7: ")
    mended = govern(store, forge(here=STRICT), row(store), now=1.0 + 4 * READ_AGAIN_AFTER)
    assert mended.row.policy_error is None


def test_a_file_that_may_not_be_read_is_told_and_the_defaults_hold(store: Store) -> None:
    for at, error in enumerate((Forbidden("no permission to read contents"), Refused("over 256 KiB")), 1):
        told = govern(store, Refusing(error), row(store), now=at * 3 * READ_AGAIN_AFTER)
        assert told.policy is not None
        assert told.policy.fingerprint == DEFAULT.fingerprint
        assert told.row.policy_error == f"{PATH}: {error}"


@pytest.mark.parametrize("error", [Unavailable("down"), Suspended("suspended")])
@pytest.mark.parametrize("on", ["text", "guide"])
def test_what_cannot_answer_now_is_asked_again_soon(store: Store, error: ForgeError, on: str) -> None:
    with pytest.raises(type(error)):
        govern(store, Refusing(error, on=on), row(store), now=1.0)
    due = row(store).policy_read_at if on == "text" else row(store).guide_read_at
    assert due is None


def test_a_guide_that_may_not_be_read_is_unknown(store: Store) -> None:
    told = govern(store, Refusing(Forbidden("no"), on="guide"), row(store), now=1.0)
    assert (told.row.guide, told.row.guide_read_at) == (None, 1.0)


# --- proposals ------------------------------------------------------------------------


def proposal(status: str = "modified", sha: str | None = "s1") -> ThreadRow:
    return ThreadRow(
        repository_id=1, number=7, installation_id=5, head_sha=sha, files=[{"path": PATH, "status": status}]
    )


def report(store: Store, text: str, thread: ThreadRow | None = None) -> list[str]:
    reporting = RecordedForge({f"{HERE}@s1": text})
    check_proposal(reporting, Governed(row(store), DEFAULT), thread or proposal())
    return [one.what for one in reporting.written]


def test_a_proposal_is_reported_on(store: Store) -> None:
    [good] = report(store, STRICT)
    assert good.startswith(f"s1 {CHECK_NAME} success: ")
    [bad] = report(store, LOUD)
    assert bad.startswith(f"s1 {CHECK_NAME} failure: ")
    assert f"\n    {PATH}:1:7: " in bad


@pytest.mark.parametrize(
    "thread", [proposal("removed"), proposal(sha=None), ThreadRow(repository_id=1, number=7, installation_id=5)]
)
def test_what_proposes_no_file_is_not_reported_on(store: Store, thread: ThreadRow) -> None:
    assert report(store, LOUD, thread) == []


@pytest.mark.parametrize("on", ["text", "check_run"])
def test_a_report_that_is_refused_is_let_be_and_one_that_must_wait_waits(store: Store, on: str) -> None:
    governed = Governed(row(store), DEFAULT)
    assert check_proposal(Refusing(Forbidden("no"), on=on), governed, proposal()) is False
    for error in (Unavailable("down"), Suspended("suspended")):
        with pytest.raises(type(error)):
            check_proposal(Refusing(error, on=on), governed, proposal())


def test_the_policy_in_force_is_the_last_good_text() -> None:
    assert in_force(RepositoryRow(id=1, installation_id=5, full_name="a/b")) is DEFAULT
    kept = RepositoryRow(id=1, installation_id=5, full_name="a/b", policy_text=STRICT, policy_source="x")
    assert in_force(kept).fingerprint == parse(STRICT).fingerprint
