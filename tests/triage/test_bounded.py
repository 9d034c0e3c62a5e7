"""Nothing that a stranger can send costs more than its length: whole verdicts on the largest and the oddest input."""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from payloads.shapes import NEWCOMER, body, comment, issue

from models.learned.classifier import load
from triage.decide import LANES
from triage.evaluate import evaluate, verdict
from triage.events import parse
from triage.facts import Activity, Author, ChangedFile, Commit, Facts, PullRequest, Repository, TimelineEvent
from triage.policy import DEFAULT

MB: Final = 1_000_000
LARGEST: Final = 25 * MB
NOW: Final = datetime(2026, 11, 30, 10, tzinfo=UTC)
CLASSIFIER: Final = load()

TEXTS: Final[dict[str, Callable[[int], str]]] = {
    "words": lambda size: "word " * (size // 5),
    "one line": lambda size: "x" * size,
    "one line of marks": lambda size: "*_`[(<!-- ~~~" * (size // 13),
    "one line of blanks": lambda size: " " * size + "x",
    "nested quotes": lambda size: ">" * (size // 2) + "> " * (size // 4),
    "nested lists": lambda size: "- " * (size // 2),
    "open comments": lambda size: "<!-- " * (size // 5),
    "open fences": lambda size: "```\n~~~~\n" * (size // 9),
    "open ticks": lambda size: "`" * (size // 2) + "\n" + "`a\n" * (size // 6),
    "blank lines": lambda size: "\n" * size,
    "headings and boxes": lambda size: "# a\n- [ ] **b**: tests pass\n" * (size // 28),
    "claims": lambda size: "all tests pass " * (size // 15),
    "names": lambda size: "a.b/c_1:" * (size // 8),
    "a script without spaces": lambda size: "\u6d4b\u8bd5" * (size // 2),
}
WHERE: Final = ("description", "comments", "patch", "title, branch and path", "commits")


def facts(where: str, text: str) -> Facts:
    """Return a conversation on a change with the text in one place."""
    said = text if where == "comments" else "Why does `load` read it twice?"
    named = text if where == "title, branch and path" else "loader.py"
    added = text.replace("\n", "\n+") if where == "patch" else "pass"
    return Facts(
        as_of=NOW,
        repo="acme/widgets",
        number=7,
        author=Author("ann", "User", NOW - timedelta(days=900), "NONE", 1, 0),
        pull_request=PullRequest(
            title=named,
            body=text if where == "description" else "Reads every shard once.",
            created_at=NOW - timedelta(hours=31),
            head_ref=named,
            files=(ChangedFile(named, "added", 9, 0, f"@@ -0,0 +1,{added.count(chr(10)) + 1} @@\n+{added}"),),
            commits=(Commit(text if where == "commits" else "Read once", NOW, NOW, "ann"),),
            truncated=False,
        ),
        timeline=tuple(
            TimelineEvent(NOW - timedelta(hours=9 - n), "comment", "max" if n % 2 else "ann", "User", body=said)
            for n in range(6)
        ),
        activity=(),
        repository=Repository(templates=("## Summary\n",), common_lines=()),
    )


def calls(work: Callable[[], Any]) -> int:
    """Count the calls that a piece of work makes, of functions in Python and in C."""
    count = 0

    def note(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def judge(given: Facts) -> dict[str, Any]:
    return verdict(evaluate(given, DEFAULT, CLASSIFIER))


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("text", TEXTS)
def test_a_megabyte_of_anything_anywhere_is_judged(text: str, where: str) -> None:
    given = facts(where, TEXTS[text](MB))
    began = time.process_time()
    found = judge(given)
    print(f"{time.process_time() - began:.3f} s of processor time: {text} in {where}")
    assert found["lane"] in LANES
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("text", TEXTS)
def test_twice_the_text_is_at_most_twice_the_work(text: str, where: str) -> None:
    """A bound on time that holds on any machine."""
    small, large = (facts(where, TEXTS[text](size)) for size in (100_000, 200_000))
    judge(small)  # what is done once a process is done
    assert calls(lambda: judge(replace(large))) <= 2.2 * calls(lambda: judge(replace(small))) + 1000


def test_ten_thousand_nested_quotes_are_judged() -> None:
    quotes = "\n".join(">" * depth + " said" for depth in range(1, 10_000, 10)) + "\n" + ">" * 10_000 + " said"
    began = time.process_time()
    lanes = {judge(facts(where, quotes))["lane"] for where in WHERE}
    print(f"{time.process_time() - began:.3f} s of processor time: nested quotes in {len(WHERE)} places")
    assert lanes <= set(LANES)


def test_a_person_with_the_most_that_is_read_of_anybody_is_judged() -> None:
    """Two thousand events and two thousand acts, all in one day."""
    events = tuple(
        TimelineEvent(NOW - timedelta(seconds=9 * n), "comment", "max" if n % 2 else "ann", "User", body=f"Is it {n}?")
        for n in range(2000)
    )
    acts = tuple(
        Activity(NOW - timedelta(seconds=7 * n), "pull_request" if n % 3 else "comment", f"o{n % 9}/r", number=n)
        for n in reversed(range(2000))
    )
    given = replace(facts("description", "Reads once."), timeline=events, activity=acts)
    began = time.process_time()
    found = judge(given)
    print(f"{time.process_time() - began:.3f} s of processor time: 2,000 events and 2,000 acts")
    assert found["lane"] == "burst"


@pytest.mark.parametrize("text", TEXTS)
def test_the_largest_delivery_is_read_and_judged(text: str) -> None:
    """25 MB, in a description and in a comment."""
    words = TEXTS[text](LARGEST // 2)
    given = facts("description", words)
    shape = body("created", NEWCOMER, issue=issue(of_pull=True, body=words), comment=comment(body=words))
    raw = json.dumps(shape, ensure_ascii=False).encode()
    began = time.process_time()
    event = parse("issue_comment", raw)
    read = time.process_time()
    assert event is not None
    assert event.acts[0].body == words
    found = judge(given)
    print(f"{read - began:.3f} s to read, {time.process_time() - read:.3f} s to judge {len(raw) / MB:.0f} MB: {text}")
    assert found["lane"] in LANES
