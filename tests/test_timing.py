"""Are the times to reply and the gaps measured as their page says, and does the page hold what is measured?"""

import math
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bench import timing

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "evaluation" / "timing.md"
CORPUS = ROOT.parent / "shared" / "data"
START = datetime(2025, 3, 1)  # noqa: DTZ001 - the corpus holds UTC without its name

Make = Callable[..., Path]


def post(who: str, kind: str, seconds: int, **more: Any) -> dict[str, Any]:
    """Make one comment, so many seconds after the opening."""
    made = {
        "pr_id": 1,
        "repo_key": "r_1",
        "split10": 0,
        "event": "commented",
        "created_at": START + timedelta(seconds=seconds),
        "since_open_s": seconds,
        "actor_key": who,
        "actor_kind": kind,
        "actor_is_author": False,
        "app_login": None,
    }
    return made | more


POSTS = [
    post("review", "ai_reviewer", 10),
    post("ann", "human", 100),
    post("ci", "ci_bot", 150),
    post("bob", "human", 200),
    post("bob", "human", 230),
    post("bob", "human", 300, event="labeled"),
    post("ci", "ci_bot", 490),
    post("a1", "coding_agent", 500, app_login="Copilot"),
    post("a2", "coding_agent", 520, app_login="copilot-swe-agent[bot]"),
    post("ann", "human", 1100),
    post("cid", "human", 1100),
]


def pull(author: str, seconds: int, label: int, agent: str = "none") -> dict[str, Any]:
    """Make one pull request."""
    at = START + timedelta(seconds=seconds)
    return {"author_key": author, "created_at": at, "label_agent": label, "agent": agent, "split10": 0}


PULLS = [
    *(pull("ann", at, 0) for at in (0, 119, 239)),
    *(pull("bob", at, 1, "OpenAI_Codex") for at in (0, 60, 90)),
    pull("cid", 0, 0),
    pull("ann", 30, -1),
]
ACTS = [
    {
        "account_key": "a_1",
        "label_automation": 1,
        "type": "IssueCommentEvent",
        "created_at": START + timedelta(seconds=at),
    }
    for at in (0, 60, 119, 4000)
]


@pytest.fixture
def corpus(tmp_path: Path) -> Make:
    """Write a small corpus, of other rows when given; ``None`` leaves the file out."""

    def make(**other: list[dict[str, Any]] | None) -> Path:
        given = {"pr_events": POSTS, "pull_requests": PULLS, "account_events": ACTS} | other
        for name, rows in given.items():
            if rows is not None:
                pq.write_table(pa.Table.from_pylist(rows), tmp_path / f"{name}.parquet")
        return tmp_path

    return make


def test_bots_are_removed_before_gaps_are_measured() -> None:
    found = [(one.kind, one.account, one.seconds) for one in timing.replies(POSTS)]
    assert found == [
        ("CI bot", "ci", 50.0),  # after ann
        ("CI bot", "ci", 260.0),  # after bob's last word
        ("coding agent, to a person", "Copilot", 270.0),  # not 10 s after the CI bot; under its second name no reply
        ("person, to a coding agent", "ann", 580.0),
        ("person, to a coding agent", "cid", 580.0),  # ann's word of the same second is nothing to answer
        ("person, to a person", "bob", 100.0),  # not 50 s after the CI bot; once, not twice
        ("review bot", "review", 10.0),  # after the opening
    ]


def replies_of(times: dict[str, list[float]]) -> list[timing.Reply]:
    return [timing.Reply(timing.PERSON, who, "r_1", 0, at) for who, given in times.items() for at in given]


def test_shares_and_means_are_right() -> None:
    one = timing.fit(replies_of({"ann": [5.0, 30.0, 60.0, 599.0], "bob": [600.0, 3600.0, 28_800.0, 14.9]}))
    assert one.of(timing.share(0, 0)).value == 2 / 8
    assert one.of(timing.share(0, 1)).value == 3 / 8
    assert one.of(timing.share(2, 2)).value == 2 / 8
    assert one.of(timing.share(0, 2)).value == 5 / 8
    two = timing.sums([math.e, math.e**3])
    assert timing.mean(two) == pytest.approx(2.0)
    assert timing.deviation(two) == pytest.approx(math.sqrt(2.0))


def test_an_interval_holds_the_middle_of_the_draws() -> None:
    told = timing.interval(0.5, [float(at) for at in range(1001)])
    assert (told.low, told.high) == (25.0, 975.0)
    same = timing.fit(replies_of({f"u{at}": [30.0, 120.0] for at in range(20)}))
    assert same.by == "account"
    assert same.of(timing.share(2, 2)) == timing.Interval(0.5, 0.5, 0.5)  # accounts that are all alike
    apart = timing.fit(replies_of({f"u{at}": [120.0 if at % 2 else 30.0] * 9 for at in range(100)}))
    told = apart.of(timing.share(2, 2))
    assert told.low == pytest.approx(0.5 - 1.96 * 0.05, abs=0.02)  # of 100 accounts, not of 900 replies
    assert told.high == pytest.approx(0.5 + 1.96 * 0.05, abs=0.02)


def test_rho_is_one_between_accounts_and_below_zero_within() -> None:
    alike = [timing.sums([120.0, 120.0]), timing.sums([30.0, 30.0])]
    mixed = [timing.sums([120.0, 30.0]), timing.sums([120.0, 30.0])]
    assert timing.rho(timing.total(alike)) == pytest.approx(1.0)
    assert timing.rho(timing.total(mixed)) == pytest.approx(-1.0)


def test_repeated_fast_answers_are_counted() -> None:
    fast, four, slow = [60.0] * 4 + [9000.0], [60.0] * 4, [60.0] * 3 + [600.0] * 2
    assert timing.repeated(replies_of({"fast": fast, "four": four, "slow": slow})) == (2, 1)


def test_gaps_are_of_one_author_and_kind() -> None:
    assert timing.gaps(PULLS) == {"person": [(2, 1)], "person who drives an agent": [(2, 2)]}
    assert timing.by_author([(1, 1), (9, 0)]).value == 0.5
    assert timing.fullest([row["created_at"] for row in ACTS], 119.0) == 3


def test_same_input_gives_same_output(corpus: Make, capsys: pytest.CaptureFixture[str]) -> None:
    folder = corpus()
    assert timing.main([str(folder)]) == 0
    first = capsys.readouterr().out
    corpus(pr_events=list(reversed(POSTS)), pull_requests=list(reversed(PULLS)))
    assert timing.main([str(folder)]) == 0
    assert capsys.readouterr().out == first
    assert "| coding agent, to a person | 0-5 | 1 | 1 | 1 | 270 | 270 to 270 |" in first
    assert "| automation | 4 | 67 | 3 | 3 | 3 |" in first


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"pr_events": None}, "pr_events.parquet: there is no such file"),
        (
            {"pr_events": [{k: v for k, v in row.items() if k != "actor_kind"} for row in POSTS]},
            "pr_events.parquet: there is no column actor_kind",
        ),
        (
            {"pull_requests": [row | {"author_key": None} for row in PULLS]},
            "pull_requests.parquet: column author_key is empty",
        ),
    ],
    ids=["file", "column", "empty"],
)
def test_what_is_missing_is_named(
    corpus: Make, capsys: pytest.CaptureFixture[str], other: dict[str, Any], told: str
) -> None:
    assert timing.main([str(corpus(**other))]) == 1
    assert capsys.readouterr().err.strip() == told


@pytest.mark.skipif(not CORPUS.exists(), reason=f"the corpus is not there: {CORPUS}")
def test_the_page_holds_what_is_measured() -> None:
    assert timing.tables(CORPUS).strip() in PAGE.read_text(encoding="utf-8")
