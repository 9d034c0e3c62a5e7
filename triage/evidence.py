"""What one signal says of one contribution, and how a signal is declared."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, get_args

from triage.facts import Facts, Subject

Family = Literal["latency", "burst", "verbosity", "leftovers", "identity", "disclosure", "conversation"]
Head = Literal["agent", "unreviewed"]
Grade = Literal["A", "B", "C"]

FAMILIES: Final[tuple[Family, ...]] = get_args(Family)
HEADS: Final[tuple[Head, ...]] = get_args(Head)


@dataclass(frozen=True, slots=True)
class Reading:
    """A signal's answer: a number in the signal's own unit, or unknown, with the sentence that says so.

    ``value`` is ``None`` when the facts are missing or fewer than the signal asks for; it is then never weighed.
    ``n`` counts the observations behind the value. ``sentence`` is plain language, states facts only, and is the one
    wording of this reason everywhere. ``quote`` is the place it was read from (a line of the body, a path in the diff).
    """

    value: float | None
    n: int
    sentence: str
    quote: str | None = None


def unknown(why: str, n: int = 0) -> Reading:
    """Say that a signal cannot be read, and why."""
    return Reading(None, n, f"Unknown: {why}.")


@dataclass(frozen=True, slots=True)
class Signal:
    """A named question about the facts: the heads it may move, how well it is measured, the function that reads it.

    ``heads`` is empty for a signal that only places a contribution (the disclosure axis). ``revision`` is raised with
    every change of meaning, so that weights learned for another meaning are refused.
    """

    name: str
    family: Family
    heads: tuple[Head, ...]
    grade: Grade
    read: Callable[[Facts], Reading]
    revision: int = 1
    subjects: tuple[Subject, ...] = ("pull_request",)
