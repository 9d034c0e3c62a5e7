"""Every signal there is, by family. The list is written by hand, and the documentation is checked against it."""

from typing import Final

from triage.evidence import Signal
from triage.signals import burst, conversation, disclosure, identity, latency, leftovers, verbosity

ALL: Final[tuple[Signal, ...]] = (
    *latency.SIGNALS,
    *burst.SIGNALS,
    *verbosity.SIGNALS,
    *leftovers.SIGNALS,
    *identity.SIGNALS,
    *disclosure.SIGNALS,
    *conversation.SIGNALS,
)
