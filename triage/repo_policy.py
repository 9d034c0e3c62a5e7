"""Which policy governs this repository now?

Read from the default branch only, else from the organisation's ``.github`` repository, else the defaults. A file that
cannot be used leaves the last good policy in force; its problems are kept for the page and for a check run.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from models.recorded.store import Store
from models.recorded.tables import RepositoryRow, ThreadRow
from triage.forge.port import Forbidden, Forge, Gone, Refused, RepositoryRef
from triage.policy import DEFAULT, Policy, PolicyError, parse

PATH: Final = ".github/triage.yml"
READ_AGAIN_AFTER: Final = 24 * 3600.0  # seconds; a push that touches the file makes it be read at once
CHECK_NAME: Final = "Livefirst policy"


@dataclass(frozen=True, slots=True)
class Governed:
    """A repository with the policy in force there."""

    row: RepositoryRow
    policy: Policy

    @property
    def ref(self) -> RepositoryRef:
        """Return the repository as the forge wants it named."""
        return RepositoryRef(self.row.installation_id, self.row.id, self.row.full_name)


def govern(store: Store, forge: Forge, row: RepositoryRow, *, now: float) -> Governed:
    """Return the policy in force, reading the file and the repository's guide when they are due.

    Raises
    ------
    Unavailable
        When the forge cannot answer and nothing was read before: judging by guessed rules would be worse than waiting.
    """
    if row.policy_read_at is None or now - row.policy_read_at > READ_AGAIN_AFTER:
        row = read_policy(store, forge, row, now=now)
    if row.guide_read_at is None or now - row.guide_read_at > READ_AGAIN_AFTER:
        row = _read_guide(store, forge, row, now=now)
    return Governed(row, in_force(row))


def in_force(row: RepositoryRow) -> Policy:
    """Return the last good policy of a repository, or the defaults."""
    return DEFAULT if row.policy_text is None else parse(row.policy_text, source=row.policy_source or PATH)


def read_policy(store: Store, forge: Forge, row: RepositoryRow, *, now: float) -> RepositoryRow:
    """Read the policy file and store it, or its problems beside the last good one."""
    ref = RepositoryRef(row.installation_id, row.id, row.full_name)
    try:
        text, source = forge.text(ref, PATH), PATH
        if text is None:
            text, source = forge.organisation_text(ref, PATH), f"{row.full_name.partition('/')[0]}/.github:{PATH}"
    except (Forbidden, Gone, Refused) as error:
        return _told(store, row, policy_error=f"{PATH}: {error}", policy_read_at=now)
    if text is None:
        return _told(store, row, policy_text=None, policy_source=None, policy_error=None, policy_read_at=now)
    try:
        parse(text, source=source)
    except PolicyError as error:
        return _told(store, row, policy_error=str(error), policy_read_at=now)
    return _told(store, row, policy_text=text, policy_source=source, policy_error=None, policy_read_at=now)


def _read_guide(store: Store, forge: Forge, row: RepositoryRow, *, now: float) -> RepositoryRow:
    told = row.guide
    with suppress(Forbidden, Gone, Refused):
        guide = forge.guide(RepositoryRef(row.installation_id, row.id, row.full_name))
        told = {
            "templates": list(guide.templates),
            "ai_policy": guide.ai_policy,
            "vouched": sorted(guide.vouched),
        }
    store.set_guide(row.id, told, now)
    return store.repository(row.id) or row


def _told(store: Store, row: RepositoryRow, **fields: str | float | None) -> RepositoryRow:
    store.set_policy(row.id, **fields)
    return store.repository(row.id) or row


def check_proposal(forge: Forge, governed: Governed, thread: ThreadRow) -> bool:
    """Report on the policy file that a pull request proposes, in a check run; false when it proposes none."""
    proposes = any(file.get("path") == PATH and file.get("status") != "removed" for file in thread.files or ())
    if not proposes or thread.head_sha is None:
        return False
    text = forge.text(governed.ref, PATH, thread.head_sha)
    if text is None:
        return False
    try:
        parse(text, source=PATH)
    except PolicyError as error:
        title, ok, summary = "The policy file has problems", False, _fenced(str(error))
    else:
        title, ok, summary = "The policy file is valid", True, "It takes effect when it reaches the default branch."
    forge.check_run(governed.ref, thread.head_sha, name=CHECK_NAME, ok=ok, title=title, summary=summary)
    return True


def _fenced(text: str) -> str:
    """Show a stranger's text as text: an indented block holds no mention, link or markup."""
    return "\n".join(f"    {line}" for line in text.splitlines())
