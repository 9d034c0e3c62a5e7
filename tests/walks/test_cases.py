"""The public cases, judged: nobody is labelled whom maintainers would not have labelled."""

import json
from pathlib import Path
from typing import Any

import pytest
from cases_as_facts import facts

from models.learned.classifier import load
from triage.evaluate import Evaluation, evaluate
from triage.policy import DEFAULT, parse

CASES = Path(__file__).parents[2].parent / "shared" / "cases" / "cases.jsonl"
SPARED = {"no_flag", "exempt", "disclosed", "other_spam", "abstain"}
POLICIES = {
    "cautious": DEFAULT,
    "balanced": parse("sensitivity: balanced"),
    "strict": parse("sensitivity: strict"),
}

pytestmark = pytest.mark.skipif(not CASES.exists(), reason=f"the public cases are not there: {CASES}")


def cases() -> list[dict[str, Any]]:
    """Read the cases; none where they are absent, and then the tests above say so."""
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()] if CASES.exists() else []


def judged(case: dict[str, Any], sensitivity: str) -> Evaluation:
    """Judge one case."""
    return evaluate(facts(case), POLICIES[sensitivity], load())


@pytest.mark.parametrize("sensitivity", POLICIES)
@pytest.mark.parametrize("case", [case for case in cases() if case["expected"] in SPARED], ids=lambda case: case["id"])
def test_nobody_is_labelled_whom_maintainers_spared(case: dict[str, Any], sensitivity: str) -> None:
    """However strict the policy, a case that maintainers did not flag never reads ``likely_unreviewed``."""
    assert judged(case, sensitivity).decision.lane != "likely_unreviewed"


@pytest.mark.parametrize(
    "case", [case for case in cases() if case["expected"] == "exempt"], ids=lambda case: case["id"]
)
def test_insiders_and_listed_apps_are_exempt(case: dict[str, Any]) -> None:
    """Members, owners and the listed Apps are shown and not judged."""
    assert judged(case, "strict").decision.lane == "exempt"


@pytest.mark.parametrize(
    "case", [case for case in cases() if case["expected"] == "disclosed"], ids=lambda case: case["id"]
)
def test_disclosure_moves_to_its_own_lane(case: dict[str, Any]) -> None:
    """Whoever says that an agent was used stands among the disclosed."""
    assert judged(case, "strict").decision.lane == "disclosed"


def test_the_share_of_flagged_cases_that_is_found(record_property: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Print how many flagged cases are held back; the few figures of a paraphrase decide few of them."""
    flagged = [case for case in cases() if case["expected"] == "flag"]
    lanes = {case["id"]: judged(case, "strict").decision.lane for case in flagged}
    found = sorted(name for name, lane in lanes.items() if lane in {"likely_unreviewed", "burst"})
    record_property("found", f"{len(found)}/{len(flagged)}")
    with capsys.disabled():
        print(f"\nflag cases found: {len(found)} of {len(flagged)} ({', '.join(found)})")
    assert lanes, "there are flag cases to judge"
