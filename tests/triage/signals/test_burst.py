"""Floods are found across repositories; stacks, reviews, own repositories and bots are no flood."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from triage.facts import Activity, ActivityKind, Author, Facts, PullRequest, TimelineEvent, TimelineKind
from triage.signals import burst
from triage.signals.burst import Flood, flood

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
HERE = "acme/widgets"


def _act(
    minutes: float,
    kind: ActivityKind = "comment",
    repo: str | None = HERE,
    number: int | None = None,
    *,
    own: bool | None = False,
    base: str | None = None,
) -> Activity:
    return Activity(NOW + timedelta(minutes=minutes), kind, repo, own_repo=own, number=number, base=base)


def _said(
    minutes: float, kind: TimelineKind = "comment", number: int | None = None, actor: str = "ada"
) -> TimelineEvent:
    return TimelineEvent(
        at=NOW + timedelta(minutes=minutes),
        kind=kind,
        actor=actor,
        actor_type="Bot" if actor.endswith("[bot]") else "User",
        is_author=actor == "ada",
        body="Looks fine to me.",
        number=number,
    )


def _commenter(
    activity: Sequence[Activity] | None = None, timeline: Sequence[TimelineEvent] | None = None, account: str = "User"
) -> Facts:
    return Facts(
        as_of=NOW + timedelta(minutes=30),
        subject="commenter",
        repo=HERE,
        author=Author(login="ada", type=account),
        activity=None if activity is None else tuple(activity),
        timeline=None if timeline is None else tuple(timeline),
    )


def _opened(activity: Sequence[Activity] | None, number: int = 7, minutes: float = 0.0) -> Facts:
    return Facts(
        as_of=NOW + timedelta(minutes=minutes + 5),
        repo=HERE,
        number=number,
        author=Author(login="ada", type="User"),
        pull_request=PullRequest(title="Fix", created_at=NOW + timedelta(minutes=minutes)),
        activity=None if activity is None else tuple(activity),
    )


FORTY = [_act(i * 0.25, number=100 + i) for i in range(40)]


def test_forty_comments_in_ten_minutes_are_a_flood_of_the_threads_they_hit() -> None:
    found = flood(_commenter(FORTY), events=20, minutes=10)
    end = NOW + timedelta(minutes=9.75)
    assert found == Flood(40, NOW, end, tuple(range(100, 140)), ((NOW, end),))


def test_a_flood_is_counted_across_repositories_and_kinds() -> None:
    mixed = [
        *(_act(i * 0.3, number=i) for i in range(8)),
        *(_act(i * 0.3, repo="other/project", number=i) for i in range(8)),
        *(_act(i * 0.3, "pull_request", number=50 + i, base="main") for i in range(4)),
    ]
    found = flood(_commenter(mixed), events=20, minutes=10)
    assert found is not None
    assert found.count == 20
    assert found.threads == (*range(8), *range(50, 54))


def test_timeline_and_activity_are_the_same_acts() -> None:
    activity = [_act(i * 0.5, number=100 + i) for i in range(12)]
    timeline = [_said(i * 0.5, number=100 + i) for i in range(12)]
    assert flood(_commenter(activity, timeline), events=20, minutes=10) is None
    only = flood(_commenter(None, timeline), events=12, minutes=10)
    assert only is not None
    assert only.count == 12


@pytest.mark.parametrize(
    ("why", "facts"),
    [
        ("a review with 25 remarks", _commenter(None, [_said(i * 0.35, "review_comment", 7) for i in range(25)])),
        ("remarks submitted together", _commenter(None, [_said(1, "review_comment", 7) for _ in range(25)])),
        ("quick answers to every remark", _commenter([_act(i * 0.4, "review", number=7) for i in range(24)])),
        ("own repositories", _commenter([_act(i * 0.2, repo="ada/notes", number=i, own=True) for i in range(40)])),
        ("own by its name", _commenter([_act(i * 0.2, repo="Ada/notes", number=i, own=None) for i in range(40)])),
        ("a bot", _commenter(FORTY, account="Bot")),
        ("other people's talk", _commenter(None, [_said(i * 0.2, number=7, actor="kim") for i in range(40)])),
        ("a bot in the thread", _commenter(None, [_said(i * 0.2, actor="ci[bot]") for i in range(40)])),
        ("an hour of triage", _commenter([_act(i * 2.0, number=i) for i in range(30)])),
        (
            "a stack of pull requests",
            _commenter(
                [_act(i * 0.1, "pull_request", number=i, base="main" if i == 0 else f"ada/{i}") for i in range(30)]
            ),
        ),
        ("forks, pushes and branches", _commenter([_act(i * 0.1, "push") for i in range(50)])),
        ("edits", _commenter(None, [_said(i * 0.1, "edited", 7) for i in range(50)])),
    ],
)
def test_no_flood(why: str, facts: Facts) -> None:
    assert flood(facts, events=20, minutes=10) is None, why


def test_the_flood_of_a_pull_request_holds_that_pull_request() -> None:
    burst_of_pulls = [_act(i * 0.2, "pull_request", number=i, base="main") for i in range(30)]
    assert flood(_opened(burst_of_pulls, number=3, minutes=0.6), events=20, minutes=10) is not None
    later = _opened(burst_of_pulls, number=900, minutes=3000)
    assert flood(later, events=20, minutes=10) is None


def test_a_flood_of_last_month_is_over() -> None:
    old = [_act(i * 0.25 - 30 * 1440, number=100 + i) for i in range(40)]
    assert flood(_commenter(old), events=20, minutes=10) is None


def test_the_pull_request_itself_counts_once() -> None:
    acts = [_act(i * 0.2, number=i) for i in range(100, 119)]
    one_short = flood(_opened([*acts, _act(0, "pull_request", number=7)]), events=21, minutes=30)
    assert one_short is None
    both = flood(_opened(acts), events=20, minutes=30)
    assert both is not None
    assert both.count == 20


DAILY = [_act(-day * 1440 - 60, "pull_request", "other/project", number=day, base="main") for day in range(1, 180, 9)]


def test_a_burst_beyond_the_own_rate_is_found() -> None:
    storm = [_act(-i, "pull_request", f"owner{i}/project", number=i, base="main") for i in range(34)]
    reading = burst.burst_scan(_opened([*DAILY, *storm]))
    assert reading.value is not None
    assert reading.value > 5
    assert reading.sentence.startswith("35 pull requests to other repositories within ")


@pytest.mark.parametrize(
    ("who", "acts"),
    [
        ("a first pull request", []),
        ("one in nine days", DAILY),
        ("three in a day", [*DAILY, _act(-100, "pull_request", number=1), _act(-300, "pull_request", number=2)]),
        ("a stack", [*DAILY, *(_act(-i, "pull_request", number=i, base=f"stack/{i}") for i in range(1, 16))]),
        ("own repositories", [_act(-i, "pull_request", "ada/x", number=i, own=True) for i in range(60)]),
    ],
)
def test_an_ordinary_pace_adds_next_to_nothing(who: str, acts: list[Activity]) -> None:
    value = burst.burst_scan(_opened(acts)).value
    assert value is not None, who
    assert value < 2.5, who  # the seed counts from 2


def test_someone_who_always_sends_many_is_measured_against_that() -> None:
    many = [_act(-day * 1440 - i * 60, "pull_request", number=day * 10 + i) for day in range(1, 120) for i in range(6)]
    today = [_act(-i * 60, "pull_request", number=5000 + i) for i in range(1, 6)]
    usual = burst.burst_scan(_opened([*many, *today])).value
    sudden = burst.burst_scan(_opened(today)).value
    assert usual is not None
    assert sudden is not None
    assert usual < sudden
    ratio = burst.self_ratio(_opened([*many, *today])).value
    assert ratio is not None
    assert abs(ratio) < 0.3


def test_a_rate_of_a_few_days_is_no_habit() -> None:
    assert burst.self_ratio(_opened([_act(-1440, "pull_request", number=1)])).value is None


def test_ten_comments_to_ten_repositories_in_a_minute_are_a_spray() -> None:
    acts = [_act(i * 0.1, repo=f"owner{i}/project", number=1) for i in range(10)]
    assert burst.comment_spray(_commenter(acts)).value == 10.0


@pytest.mark.parametrize(
    ("who", "acts"),
    [
        ("a talk in one thread", [_act(i * 0.1, number=7) for i in range(15)]),
        ("approvals in sister repositories", [_act(i * 0.1, "review", f"acme/r{i}", 1) for i in range(14)]),
        ("an afternoon of triage", [_act(i * 3.0, number=i) for i in range(20)]),
    ],
)
def test_no_spray(who: str, acts: list[Activity]) -> None:
    value = burst.comment_spray(_commenter(acts)).value
    assert value is not None, who
    assert value <= 1.0, who


def test_pull_requests_seconds_apart_are_micro_gaps() -> None:
    acts = [_act(-i, "pull_request", f"owner{i}/project", number=i) for i in range(1, 25)]
    assert burst.micro_gap(_opened(acts)).value == 1.0
    assert burst.micro_gap(_opened(DAILY)).value == 0.0
    assert burst.micro_gap(_opened(acts[:4])).value is None


def test_a_person_with_one_upstream_does_not_spread() -> None:
    assert burst.owner_spread(_opened([_act(-i * 60, "pull_request", number=i) for i in range(9)])).value == 0.0
    wide = [_act(-i * 60, "pull_request", f"owner{i}/p", number=i) for i in range(1, 20)]
    value = burst.owner_spread(_opened(wide)).value
    assert value is not None
    assert value > 40


def test_forks_are_counted_by_the_day() -> None:
    reading = burst.fork_burst(_commenter([_act(i * 0.1, "fork", f"o{i}/p") for i in range(11)]))
    assert reading.sentence == "The person forked 11 times within 24 h."


def test_unknown_activity_is_unknown() -> None:
    for signal in burst.SIGNALS:
        assert signal.read(Facts()).value is None, signal.name


@pytest.mark.parametrize(("count", "mean", "size"), [(1, 0.2, 0.5), (5, 0.2, 0.5), (12, 3.0, 1.0), (60, 2.0, 0.7)])
def test_the_tail_is_one_less_the_sum_below(count: int, mean: float, size: float) -> None:
    p = size / (size + mean)
    mass, total = p**size, 0.0
    for i in range(5000):
        total += mass if i >= count else 0.0
        mass *= (i + size) / (i + 1) * (1 - p)
    assert burst.negative_binomial_tail(count, mean, size) == pytest.approx(total, rel=1e-6)


def test_an_unlikely_count_stays_finite() -> None:
    assert 0.0 <= burst.negative_binomial_tail(5000, 0.01, 0.5) < 1e-100
