"""The same facts, policy and weights give the same bytes, and the bytes have the agreed keys."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from models.learned.classifier import load
from triage.evaluate import evaluate, readings, verdict
from triage.facts import Facts, parse, to_json
from triage.policy import DEFAULT
from triage.policy import parse as read_policy
from triage.signals import ALL

KEYS = {  # product.md 6
    *("schema", "repo", "number", "lane", "quick_win", "p_agent", "human_p_value", "p_unreviewed"),
    *("families", "evidence", "unknown", "model", "policy"),
}
ADDED = {"subject", "author", "log_odds", "intercept", "labels", "reasons", "calibration"}  # docs/verdict.md
EVIDENCE = {"signal", "family", "value", "weight", "sentence"} | {"heads", "n", "quote", "counted"}

WORDS = "Word {} about src/ä.py and the `thing`, written out at a length that is above eighty characters."
TALK = ((10, "max"), (17, "someone"), (30, "max"), (37, "someone"), (50, "eve"), (58, "someone"))
PLAN = {"path": "PLAN.md", "status": "added", "additions": 1, "deletions": 0, "patch": "@@ -0,0 +1 @@\n+1."}
CODE = {"path": "src/ä.py", "status": "modified", "additions": 2, "deletions": 1, "patch": "@@ -1 +1,2 @@\n+x"}
FACTS = json.dumps(
    {
        "schema": 1,
        "subject": "pull_request",
        "repo": "acme/widgets",
        "number": 7,
        "as_of": "2026-11-30T10:00:00Z",
        "author": {"login": "someone", "type": "User", "merged_here": 1, "association": "NONE"},
        "pull_request": {
            "title": "Résumé: größer 変更",
            "body": "## Was\n- **a**: all tests pass ✅\n- **b**: `thing` is added\n- **c**: done\n\nGenerated with AI",
            "created_at": "2026-11-30T08:00:00Z",
            "draft": False,
            "additions": 3,
            "deletions": 1,
            "files": [PLAN, CODE],
            "commits": [{"message": "Fix: a\n\nCo-authored-by: Claude <noreply@anthropic.com>"}],
        },
        "timeline": [
            {
                "at": f"2026-11-30T08:{minute:02}:00Z",
                "actor": who,
                "actor_type": "User",
                "is_author": who == "someone",
                "kind": "comment",
                "body": WORDS.format(minute),
            }
            for minute, who in TALK
        ],
        "activity": [
            {"at": f"2026-11-{day:02}T10:00:00Z", "kind": "pull_request", "repo": f"o{day}/r", "number": day}
            for day in range(1, 29)
        ],
        "repository": {"templates": [], "common_lines": [], "baseline": {"resid_words": [3.9, 0.8]}, "ai_policy": None},
    }
)


def test_the_same_facts_give_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    here = json.dumps(verdict(evaluate(parse(FACTS), DEFAULT, load())), ensure_ascii=False)
    again = json.dumps(verdict(evaluate(parse(FACTS), DEFAULT, load())), ensure_ascii=False)
    assert here == again
    (tmp_path / "facts.jsonl").write_text(FACTS + "\n", encoding="utf-8")
    for seed in ("0", "1", "4711"):
        env = {**os.environ, "PYTHONHASHSEED": seed, "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8"}
        told = subprocess.run(
            [sys.executable, "-m", "triage", "judge", str(tmp_path / "facts.jsonl")],
            env=env,
            capture_output=True,
            check=True,
        )
        assert told.stdout.decode() == here + "\n"


def test_the_order_of_the_timeline_and_of_the_activity_changes_nothing() -> None:
    turned = json.loads(FACTS)
    for name in ("timeline", "activity"):
        turned[name].reverse()
    turned["repository"]["baseline"] = dict(reversed(turned["repository"]["baseline"].items()))
    assert verdict(evaluate(parse(json.dumps(turned)), DEFAULT, load())) == verdict(
        evaluate(parse(FACTS), DEFAULT, load())
    )


@pytest.mark.parametrize("facts", [parse(FACTS), Facts(), Facts(subject="commenter")], ids=["full", "none", "person"])
def test_a_verdict_has_exactly_the_agreed_keys(facts: Facts) -> None:
    told = verdict(evaluate(facts, DEFAULT, load()))
    assert told.keys() == KEYS | ADDED
    assert all(one.keys() == EVIDENCE for one in told["evidence"])
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    subject = {signal.name for signal in ALL if facts.subject in signal.subjects}
    assert {one["signal"] for one in told["evidence"]} | set(told["unknown"]) == subject
    weights = [abs(one["weight"]) for one in told["evidence"]]
    assert weights == sorted(weights, reverse=True)


def test_nothing_known_is_unsure() -> None:
    told = verdict(evaluate(Facts(), DEFAULT, load()))
    assert told["lane"] == "unsure"
    assert told["evidence"] == []
    assert set(told["families"].values()) == {0.0}


def test_facts_survive_being_written_and_read() -> None:
    facts = parse(FACTS)
    assert parse(to_json(facts)) == facts
    assert verdict(evaluate(parse(to_json(facts)), DEFAULT, load())) == verdict(evaluate(facts, DEFAULT, load()))


def test_the_verdict_names_the_policy_and_the_weights() -> None:
    other = read_policy("sensitivity: strict")
    told = [verdict(evaluate(parse(FACTS), policy, load())) for policy in (DEFAULT, other)]
    assert [one["policy"] for one in told] == [DEFAULT.fingerprint, other.fingerprint]
    assert told[0]["policy"].startswith("sha256:")
    assert told[0]["model"] == load().name
    assert told[0]["calibration"] == load().human.note


def test_readings_hold_every_signal_with_its_revision_and_the_whole_value() -> None:
    kept = readings(evaluate(parse(FACTS), DEFAULT, load()))
    assert kept.keys() == {signal.name for signal in ALL}
    assert all(one.keys() == {"revision", "value", "n"} for one in kept.values())
    assert json.loads(json.dumps(kept)) == kept
