"""From issue or branch to pull request at once, again and again; people who are quick once, or at home, are not."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.facts import Activity, ActivityKind, Author, Facts, PullRequest
from triage.signals import burst, latency

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
HERE = "acme/widgets"


def _act(
    seconds: float,
    kind: ActivityKind,
    repo: str | None = HERE,
    number: int | None = None,
    *,
    own: bool | None = False,
    base: str | None = None,
) -> Activity:
    return Activity(NOW + timedelta(seconds=seconds), kind, repo, own_repo=own, number=number, base=base)


def _pull(
    activity: Sequence[Activity] | None,
    *,
    body: str | None = "Fixes #5",
    issue: float | None = None,
    lines: int | None = 120,
    repo: str = HERE,
) -> Facts:
    return Facts(
        as_of=NOW + timedelta(minutes=5),
        repo=repo,
        number=7,
        author=Author(login="ada", type="User"),
        pull_request=PullRequest(
            body=body,
            created_at=NOW,
            additions=lines,
            linked_issue_created_at=None if issue is None else NOW - timedelta(seconds=issue),
        ),
        activity=None if activity is None else tuple(activity),
    )


def _claimed(repo: str, seconds: float, before: float = 0.0) -> list[Activity]:
    """Comment on an issue and send the pull request so many seconds later."""
    return [
        _act(-before - seconds, "comment", repo, 3),
        _act(-before, "pull_request", repo, 4),
    ]


def test_two_repositories_within_minutes_of_an_issue_are_counted() -> None:
    reading = latency.issue_to_pull(_pull(_claimed("other/project", 60, 4000), issue=48))
    assert reading.value == 2.0
    assert reading.sentence == (
        "This pull request of 120 changed lines came 48 s after the issue or the first word on it; "
        "under five minutes in 2 of 2 repositories within a week."
    )


@pytest.mark.parametrize(
    "body", ["Fixes #5", "closes: acme/widgets#5", "Resolves https://github.com/Acme/Widgets/issues/5."]
)
def test_the_own_first_word_on_the_issue_that_is_closed_counts(body: str) -> None:
    acts = [_act(-90, "comment", number=5), *_claimed("other/project", 60, 4000)]
    assert latency.issue_to_pull(_pull(acts, body=body)).value == 2.0


ELSEWHERE = _claimed("other/project", 60, 4000)


@pytest.mark.parametrize(
    ("who", "facts", "value"),
    [
        ("says 'I have a fix' and sends it, once", _pull([_act(-60, "comment", number=5)]), 0.0),
        ("answered the issue days ago", _pull([_act(-90000, "comment", number=5), *ELSEWHERE]), 0.0),
        ("a second word just before", _pull([_act(-9000, "comment", number=5), _act(-9, "comment", number=5)]), 0.0),
        ("a typo in five minutes", _pull(ELSEWHERE, issue=200, lines=2), 0.0),
        ("the issue was filed for the change", _pull([_act(-48, "issue", number=5), *ELSEWHERE], issue=48), None),
        ("their own project", _pull(ELSEWHERE, issue=48, repo="ada/notes"), None),
        (
            "own projects elsewhere",
            _pull([replace(act, own_repo=None) for act in _claimed("Ada/x", 60)], issue=48),
            0.0,
        ),
        ("closes another project's issue", _pull([_act(-60, "comment", number=5)], body="Fixes x/y#5"), None),
        ("names an issue and closes none", _pull([_act(-60, "comment", number=5)], body="See #5"), None),
        ("another one a month ago", _pull(_claimed("other/project", 60, 30 * 86400), issue=48), 0.0),
        (
            "reviews others' work and then sends own",
            _pull([_act(-80, "review", "other/project", 3), *_claimed("other/project", 60)], issue=48),
            0.0,
        ),
        (
            "talks on a newer thread",
            _pull([_act(-60, "comment", "o/p", 9), _act(0, "pull_request", "o/p", 4)], issue=48),
            0.0,
        ),
    ],
)
def test_an_ordinary_quick_change_reads_as_none(who: str, facts: Facts, value: float | None) -> None:
    assert latency.issue_to_pull(facts).value == value, who


@pytest.mark.parametrize(
    ("what", "facts"),
    [
        ("no issue", _pull(ELSEWHERE, body=None)),
        ("no size", _pull(ELSEWHERE, issue=48, lines=None)),
        ("no activity", _pull(None, issue=48)),
        ("an issue after the change", _pull(ELSEWHERE, issue=-60)),
        ("no pull request", Facts(author=Author(login="ada"), activity=())),
        ("an App", replace(_pull(ELSEWHERE, issue=48), author=Author(login="ada", type="Bot"))),
    ],
)
def test_missing_facts_are_unknown(what: str, facts: Facts) -> None:
    assert latency.issue_to_pull(facts).value is None, what


def _branches(count: int, gap: float, after: float, *, fork: bool = True, every: str = "o{}/p") -> list[Activity]:
    """Make branches so many seconds apart and open each as a pull request so many seconds later."""
    acts = []
    for i in range(1, count + 1):
        at, repo = -i * gap, every.format(i)
        acts.append(_act(at - after, "branch", "ada/p" if fork else repo, own=fork))
        acts.append(_act(at, "pull_request", repo, 100 + i, base="main"))
    return acts


@pytest.mark.parametrize("fork", [True, False])
def test_a_burst_of_branches_opened_at_once_is_their_share(*, fork: bool) -> None:
    reading = burst.branch_to_pull(_pull(_branches(24, 120, 30, fork=fork)))
    assert reading.value == 1.0
    assert reading.sentence == ("20 of the last 20 branches were a pull request to another repository within 90 s.")
    assert burst.branch_to_pull(_pull(_branches(24, 120, 100, fork=fork))).value == 0.0


@pytest.mark.parametrize(
    ("who", "acts"),
    [
        ("edits on the web, one a month", _branches(6, 30 * 86400, 20)),
        ("a maintainer with a tool, at home", [replace(a, repo="ada/p", own_repo=True) for a in _branches(24, 120, 5)]),
        ("a tool for each change, three a week", _branches(20, 2 * 86400, 15, fork=False, every="acme/widgets")),
        (
            "a stack of pull requests, sent at once",
            [
                act
                for i in range(12)
                for act in (
                    _act(-40 + i, "branch", HERE),
                    _act(-20 + i, "pull_request", HERE, 100 + i, base="main" if i == 0 else f"stack/{i - 1}"),
                )
            ],
        ),
    ],
)
def test_people_who_open_at_once_read_as_none(who: str, acts: list[Activity]) -> None:
    assert burst.branch_to_pull(_pull(acts)).value == 0.0, who


def test_few_branches_are_no_habit() -> None:
    assert burst.branch_to_pull(_pull(_branches(4, 60, 5))).value is None
    assert burst.branch_to_pull(_pull(None)).value is None


ACTS = st.lists(
    st.builds(
        _act,
        st.integers(-4000, 0),
        st.sampled_from(["pull_request", "comment", "issue", "branch", "review", "fork"]),
        st.sampled_from([HERE, "other/p", "third/p", "ada/p", None]),
        st.none() | st.integers(1, 9),
        own=st.sampled_from([None, False]),
    ),
    max_size=40,
)


@settings(max_examples=200, deadline=None)
@given(acts=ACTS, issue=st.none() | st.integers(0, 600), data=st.data())
def test_any_activity_in_any_order_reads_alike_and_in_bounds(
    acts: list[Activity], issue: int | None, data: st.DataObject
) -> None:
    facts = _pull(acts, issue=issue)
    shuffled = replace(facts, activity=tuple(data.draw(st.permutations(acts))))
    quick, share = latency.issue_to_pull(facts), burst.branch_to_pull(facts)
    assert latency.issue_to_pull(shuffled) == quick
    assert burst.branch_to_pull(shuffled) == share
    assert quick.value is None or quick.value == 0.0 or 2.0 <= quick.value <= quick.n
    assert share.value is None or 0.0 <= share.value <= 1.0


@settings(max_examples=100, deadline=None)
@given(acts=ACTS, issue=st.integers(0, 299))
def test_own_repositories_never_add(acts: list[Activity], issue: int) -> None:
    home = tuple(replace(act, repo="Ada/p") for act in acts)
    facts = replace(_pull((), issue=issue), activity=tuple(replace(act, own_repo=None) for act in home))
    assert latency.issue_to_pull(facts).value == 0.0
    assert burst.branch_to_pull(facts).value in {None, 0.0}


@settings(max_examples=100, deadline=None)
@given(gaps=st.lists(st.integers(0, 90_000), max_size=30))
def test_forks_are_counted_in_the_fullest_day_as_by_hand(gaps: list[int]) -> None:
    times = [-sum(gaps[: i + 1]) for i in range(len(gaps))]
    facts = _pull([_act(at, "fork", f"o{i}/p") for i, at in enumerate(times)])
    week = [at for at in times if at > 300 - 7 * 86400]
    most = max((sum(at <= one <= at + 86400 for one in week) for at in week), default=0)
    assert burst.fork_burst(facts).sentence.startswith(
        f"The person forked {({1: 'once', 2: 'twice'}).get(most, f'{most} times')} "
    )
