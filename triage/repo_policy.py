"""Which policy governs this repository now?

Read from the default branch only, else from the organisation's ``.github`` repository, else the defaults. A file that
cannot be used leaves the last good policy in force; its problems are kept for the page and for a check run.
"""

from dataclasses import dataclass
from typing import Final

import structlog

from models.recorded.store import Store
from models.recorded.tables import RepositoryRow, ThreadRow
from triage.forge.port import Forbidden, Forge, Gone, Refused, RepositoryRef, Suspended
from triage.policy import DEFAULT, Policy, PolicyError, parse

log = structlog.get_logger(__name__)

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
    Unavailable, Suspended
        When the forge cannot answer: judging by guessed rules would be worse than waiting.
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
    except Suspended:  # to be read when it is back, not tomorrow
        raise
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
    try:
        guide = forge.guide(RepositoryRef(row.installation_id, row.id, row.full_name))
    except Suspended:
        raise
    except (Forbidden, Gone, Refused) as error:
        log.warning("guide not read", repository=row.id, reason=str(error))
    else:
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
    """Report on the policy file that a pull request proposes, in a check run; false when it proposes none.

    Where the App may not read it or report on it, nothing is reported.

    Raises
    ------
    Unavailable, Suspended
        When the forge cannot answer.
    """
    proposes = any(file.get("path") == PATH and file.get("status") != "removed" for file in thread.files or ())
    if not proposes or thread.head_sha is None:
        return False
    try:
        text = forge.text(governed.ref, PATH, thread.head_sha)
        if text is None:
            return False
        ok, title, summary = _examine(text)
        forge.check_run(governed.ref, thread.head_sha, name=CHECK_NAME, ok=ok, title=title, summary=summary)
    except Suspended:
        raise
    except (Forbidden, Gone, Refused) as error:
        log.warning("policy file not reported on", repository=governed.row.id, number=thread.number, reason=str(error))
        return False
    return True


def _examine(text: str) -> tuple[bool, str, str]:
    """Return whether a text is a valid policy, with the title and the summary of the report on it."""
    try:
        parse(text, source=PATH)
    except PolicyError as error:
        return False, "The policy file has problems", _fenced(str(error))
    return True, "The policy file is valid", "It takes effect when it reaches the default branch."


def _fenced(text: str) -> str:
    """Show a stranger's text as text: an indented block holds no mention, link or markup."""
    return "\n".join(f"    {line}" for line in text.splitlines())
