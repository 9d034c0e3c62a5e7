"""Who stands behind it? What is known here of the person clears; nothing here ever accuses.

A young account, a free mailbox, a missing profile or no merged work reads as nothing at all.
"""

import math
from collections.abc import Mapping
from typing import Final

from triage.evidence import Reading, Signal, unknown
from triage.facts import Facts

MARKS: Final[Mapping[str, tuple[float, str]]] = {
    "maintainer": (1.0, "a maintainer knows the person"),
    "vouched": (1.0, "the repository's vouch list names the person"),
    "signed_key": (0.75, "commits are signed with a key seen in merged work"),
}
KINDS: Final[Mapping[str, str]] = {"academic": "school", "work": "work"}


def merged_here(facts: Facts) -> Reading:
    """Read the person's merged pull requests in this repository: ln(1 + count)."""
    merged = facts.author.merged_here
    if merged is None or facts.author.login is None:
        return unknown("the number of pull requests merged here was not read")
    if merged <= 0:
        return Reading(0.0, 0, "No pull request of the author is merged here yet.")
    what = "pull request of the author is" if merged == 1 else "pull requests of the author are"
    return Reading(round(math.log1p(merged), 6), merged, f"{merged} {what} merged here.")


def verified_mailbox(facts: Facts) -> Reading:
    """Read whether the person wrote from a school or work mailbox with an aligned DKIM pass: 1 or unknown."""
    kind, _, domain = (facts.author.verified_domain or "").partition(":")
    if kind not in KINDS or not domain:
        return unknown("no message from a school or work mailbox was verified")
    return Reading(1.0, 1, f"The author wrote from a verified {KINDS[kind]} mailbox.", domain)


def known_person(facts: Facts) -> Reading:
    """Read the strongest reason to know the person: 1 for a maintainer's word, 0.75 for a known key, 0 for none."""
    if facts.author.marks is None or facts.author.login is None:
        return unknown("marks and vouch lists were not read")
    known = sorted(
        (mark for mark in set(facts.author.marks) if mark in MARKS), key=lambda mark: (-MARKS[mark][0], mark)
    )
    if not known:
        return Reading(0.0, 0, "No mark or vouch list names the author.")
    why = ", ".join(MARKS[mark][1] for mark in known)
    return Reading(MARKS[known[0]][0], len(known), f"{why[0].upper()}{why[1:]}.")


_BOTH: Final = ("pull_request", "commenter")

SIGNALS: Final[tuple[Signal, ...]] = (
    Signal("merged_here", "identity", ("unreviewed",), "B", merged_here, subjects=_BOTH),
    Signal("verified_mailbox", "identity", ("unreviewed",), "C", verified_mailbox, subjects=_BOTH),
    Signal("known_person", "identity", ("agent", "unreviewed"), "C", known_person, subjects=_BOTH),
)
