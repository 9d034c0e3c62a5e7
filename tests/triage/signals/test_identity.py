"""Who is known here is cleared; nobody is accused for being new."""

import math

import pytest

from triage.facts import Author, Facts
from triage.signals import identity


@pytest.mark.parametrize(("merged", "value"), [(0, 0.0), (1, math.log(2)), (3, math.log(4)), (120, math.log(121))])
def test_merged_work_grows_slowly(merged: int, value: float) -> None:
    reading = identity.merged_here(Facts(author=Author(login="ada", merged_here=merged)))
    assert reading.value == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(
    ("domain", "value"),
    [
        ("academic:example.edu", 1.0),
        ("work:example.com", 1.0),
        ("free:example.org", None),
        ("work:", None),
        (None, None),
    ],
)
def test_only_a_verified_school_or_work_mailbox_counts(domain: str | None, value: float | None) -> None:
    assert identity.verified_mailbox(Facts(author=Author(login="ada", verified_domain=domain))).value == value


@pytest.mark.parametrize(
    ("marks", "value"),
    [
        (None, None),
        ((), 0.0),
        (("someday",), 0.0),
        (("signed_key",), 0.75),
        (("signed_key", "maintainer"), 1.0),
        (("vouched",), 1.0),
    ],
)
def test_the_strongest_mark_counts(marks: tuple[str, ...] | None, value: float | None) -> None:
    assert identity.known_person(Facts(author=Author(login="ada", marks=marks))).value == value


def test_the_order_of_marks_does_not_matter() -> None:
    one = identity.known_person(Facts(author=Author(login="ada", marks=("vouched", "maintainer"))))
    other = identity.known_person(Facts(author=Author(login="ada", marks=("maintainer", "vouched"))))
    assert one == other


@pytest.mark.parametrize(
    "author",
    [
        Author(login="new-account", merged_here=0, closed_here=9, marks=()),
        Author(login="x9f3k2", association="NONE"),
        Author(login=None, merged_here=4, marks=("vouched",)),
    ],
)
def test_a_stranger_and_a_ghost_are_never_accused(author: Author) -> None:
    for signal in identity.SIGNALS:
        reading = signal.read(Facts(author=author))
        assert reading.value in {None, 0.0}, signal.name
