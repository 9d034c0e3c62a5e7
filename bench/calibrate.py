"""How do people's pull requests score under the seed's weights? Writes the table that the conformal condition uses.

``python -m bench.calibrate CORPUS`` reads ``CORPUS/pull_requests.parquet`` (the published AIDev and GHPR rows, see the
corpus's own README), scores the text of every pull request by a person in buckets 0-7 as at its opening, and writes
only the counts of scores, rounded up to 0.05 nat, into ``models/learned/weights/seed.json``. Same input, same bytes.
"""

import json
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq

from models.learned.classifier import parse
from triage.facts import Author, Facts, PullRequest, Repository
from triage.prose import residual
from triage.score import score

WEIGHTS: Final = Path(__file__).parents[1] / "models" / "learned" / "weights" / "seed.json"
GRID: Final = 20  # scores per nat
COMMON: Final = 0.05  # share of a repository's pull requests by people from which a line counts as its template
COMMON_AT_LEAST: Final = 20  # pull requests, below which a share says nothing
COLUMNS: Final = ["label_agent", "source", "repo_key", "title", "body", "additions", "deletions", "changed_files"]
YEARS: Final = {"ghpr_prellm": "2013-2020"}


def rows(corpus: Path) -> list[dict[str, Any]]:
    """Read people's pull requests."""
    table = pq.read_table(corpus / "pull_requests.parquet", columns=COLUMNS)
    return [row for row in table.to_pylist() if row["label_agent"] == 0]


def common_lines(found: Iterable[Mapping[str, Any]]) -> dict[str, tuple[str, ...]]:
    """Return the lines that stand in many of a repository's pull requests by people: its template, as filled in."""
    bodies: dict[str, list[str]] = defaultdict(list)
    for row in found:
        bodies[row["repo_key"]].append(row["body"] or "")
    common = {}
    for repository, texts in bodies.items():
        if len(texts) < COMMON_AT_LEAST:
            continue
        counts = Counter(line for text in texts for line in {one.text for one in residual(text).lines})
        common[repository] = tuple(sorted(line for line, count in counts.items() if count >= COMMON * len(texts)))
    return common


def facts(row: Mapping[str, Any], common: Mapping[str, tuple[str, ...]]) -> Facts:
    """Lay out one row as facts at opening; what the corpus does not hold is unknown."""
    return Facts(
        author=Author(),
        pull_request=PullRequest(
            title=row["title"],
            body=row["body"] or "",
            additions=_count(row["additions"]),
            deletions=_count(row["deletions"]),
            changed_files=_count(row["changed_files"]),
        ),
        repository=Repository(common_lines=common.get(row["repo_key"])),
    )


def _count(value: float | None) -> int | None:
    return None if value is None or math.isnan(value) else int(value)


def main(arguments: list[str]) -> None:
    """Write the table."""
    seed = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    classifier = parse(seed)
    found = rows(Path(arguments[0]))
    common = common_lines(found)
    scores = Counter(math.ceil(score(facts(row, common), classifier).agent * GRID - 1e-9) / GRID for row in found)
    years = Counter(YEARS.get(row["source"], "2025") for row in found)
    told = " and ".join(f"{count:,} of {year}" for year, count in sorted(years.items(), reverse=True))
    seed["human_scores"] = {
        "note": (
            f"Human reference of the seed: {len(found):,} pull requests by people ({told}), scored on the text at "
            "opening alone; behaviour after opening is not in it yet."
        ),
        "counts": sorted([value, count] for value, count in scores.items()),
    }
    WEIGHTS.write_text(json.dumps(seed, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    table = parse(seed).human
    for alpha in (0.01, 0.005, 0.001):
        print(f"threshold at {alpha:.1%}: {table.threshold(alpha)} nats, n = {table.n}")


if __name__ == "__main__":
    main(sys.argv[1:])
