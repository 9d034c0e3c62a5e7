"""How long does one verdict from ready facts take, against parsing the same facts?"""

import json
import statistics
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar

from models.learned.classifier import load
from triage.evaluate import evaluate, verdict
from triage.facts import (
    Activity,
    Author,
    ChangedFile,
    Commit,
    Facts,
    PullRequest,
    Repository,
    TimelineEvent,
    parse,
    to_json,
)
from triage.policy import DEFAULT

RUNS: Final = 300
T = TypeVar("T")
NOW: Final = datetime(2026, 11, 30, 10, tzinfo=UTC)


def usual(run: int) -> Facts:
    """Return a usual pull request: a page of description, five files, a dozen events, sixty acts.

    No two runs have a text in common, so that nothing that was read before is read from a cache.
    """
    hunk = "@@ -1,40 +1,60 @@\n" + "".join(
        f"+    value_{n}_{run} = compute(value_{n - 1})  # keep\n" for n in range(40)
    )
    said = [
        TimelineEvent(
            NOW - timedelta(hours=30 - 2 * n),
            "comment",
            "max" if n % 2 else "ann",
            "User",
            is_author=n % 2 == 0,
            body=f"About `value_{n}` in {run}: the second loop reads it again; tests/test_loader.py covers that.",
        )
        for n in range(12)
    ]
    body = "\n".join(
        ["## Summary", "", "Reads every shard once.", ""]
        + [
            f"- **Part {n}**: moves `value_{n}_{run}` out of the loop and keeps the order of the shards."
            for n in range(12)
        ]
        + ["", "All tests pass with the change, and I ran the loader on the small set by hand."]
    )
    return Facts(
        as_of=NOW,
        repo="acme/widgets",
        number=7,
        author=Author("ann", "User", NOW - timedelta(days=900), "NONE", 1, 0),
        pull_request=PullRequest(
            title="Read every shard once",
            body=body,
            created_at=NOW - timedelta(hours=31),
            head_ref="loader",
            draft=False,
            additions=200,
            deletions=20,
            changed_files=5,
            checks="success",
            files=tuple(ChangedFile(f"loader/part_{n}.py", "modified", 40, 4, hunk) for n in range(5)),
            commits=(Commit("Read every shard once", NOW - timedelta(hours=32), NOW - timedelta(hours=32), "ann"),),
            truncated=False,
        ),
        timeline=tuple(said),
        activity=tuple(
            Activity(
                NOW - timedelta(days=n),
                "pull_request" if n % 3 == 0 else "comment",
                f"o{n % 5}/r",
                own_repo=False,
                number=n,
            )
            for n in reversed(range(60))
        ),
        repository=Repository(templates=("## Summary\n\n## Tests\n",), common_lines=()),
    )


def main() -> None:
    """Measure."""
    classifier = load()
    made = [usual(run) for run in range(RUNS)]
    texts = [to_json(facts) for facts in made]
    judged = _median(lambda facts: json.dumps(verdict(evaluate(facts, DEFAULT, classifier))), made)
    parsed = _median(parse, texts)
    times = f"one verdict {judged * 1000:.2f} ms, parsing the same facts {parsed * 1000:.2f} ms"
    print(f"{times}; ratio {judged / parsed:.1f}")


def _median(call: Callable[[T], object], given: Sequence[T]) -> float:
    call(given[0])
    times = []
    for one in given[1:]:
        began = time.perf_counter()
        call(one)
        times.append(time.perf_counter() - began)
    return statistics.median(times)
