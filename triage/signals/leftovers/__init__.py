"""What did the making of the change leave behind, and does the description claim what the diff does not hold?

Debug prints and marks of unfinished work are no signals: they are commoner in people's work (signals.md 1.8).
"""

from typing import Final

from triage.evidence import Signal
from triage.signals.leftovers.claims import claim_gap
from triage.signals.leftovers.placeholders import placeholder_comments
from triage.signals.leftovers.residue import prompt_residue
from triage.signals.leftovers.stray import stray_files

SIGNALS: Final[tuple[Signal, ...]] = (
    Signal("stray_files", "leftovers", ("agent", "unreviewed"), "A", stray_files),
    Signal("placeholder_comments", "leftovers", ("unreviewed",), "C", placeholder_comments),
    Signal("prompt_residue", "leftovers", ("agent", "unreviewed"), "C", prompt_residue),
    Signal("claim_gap", "leftovers", ("unreviewed",), "B", claim_gap),
)
