"""Where does a contribution stand in the queue, and which labels should it carry?

The rules are those of product.md 1 and signals.md 5. ``likely_unreviewed`` holds only if all of these do: the agent
log-odds lie beyond what the policy's promise allows of people; ``p_unreviewed`` is at least one half; two families say
0.7 nat or more, one of them behaviour; the person is there and not exempt; no maintainer has corrected it; it is no
draft; and a disclosed contribution contradicts itself. Everything short of that is ``unsure``, the honest default.
"""

import math
from dataclasses import dataclass
from typing import Final, Literal

from models.learned.classifier import needed
from triage.evidence import FAMILIES, Family
from triage.facts import Facts
from triage.patch import is_test
from triage.policy import Policy
from triage.score import Score, nats
from triage.signals.burst import Flood, flood

Lane = Literal["live_person", "unsure", "disclosed", "likely_unreviewed", "burst", "exempt"]
LabelKind = Literal["likely_unreviewed", "burst", "disclosed", "live_person", "over_limit"]

LANES: Final[tuple[Lane, ...]] = ("live_person", "unsure", "disclosed", "likely_unreviewed", "burst", "exempt")
LABEL_KINDS: Final[tuple[LabelKind, ...]] = ("likely_unreviewed", "burst", "disclosed", "live_person", "over_limit")

BEHAVIOUR: Final[frozenset[Family]] = frozenset({"latency", "burst", "leftovers", "conversation"})
CLEARING: Final[frozenset[Family]] = frozenset({"identity", "conversation"})

FAMILY_SPEAKS: Final = 0.7  # nats
HYSTERESIS: Final = 0.3  # nats
LIVE_AT: Final = 0.2  # p_unreviewed
MOST_FLIPS: Final = 2
QUICK_WIN_LINES: Final = 60  # changed lines, tests included: read in one sitting


@dataclass(frozen=True, slots=True)
class Standing:
    """What has happened to this thread before: what the rules on constancy and on corrections need.

    ``labelled`` says that the label of ``likely_unreviewed`` is on now by this App; ``flips`` counts its changes so
    far; ``kept_off`` holds the labels that a person took off; ``open_here`` counts the author's open pull requests.
    """

    labelled: bool = False
    flips: int = 0
    kept_off: frozenset[str] = frozenset()
    open_here: int | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """A place in the queue, the kinds of label that go with it, and why, in plain sentences."""

    lane: Lane
    labels: frozenset[LabelKind] = frozenset()
    quick_win: bool = False
    reasons: tuple[str, ...] = ()
    flood: Flood | None = None


def decide(facts: Facts, score: Score, policy: Policy, standing: Standing | None = None) -> Decision:
    """Apply the policy to the score of one pull request or one commenter."""
    standing = standing or Standing()
    lane, reasons, hit = _lane(facts, score, policy, standing)
    kinds: set[LabelKind] = set()
    if lane in {"likely_unreviewed", "burst", "disclosed", "live_person"}:
        kinds.add(lane)
    if lane != "exempt" and _over_limit(facts, policy, standing):
        kinds.add("over_limit")
        reasons = (*reasons, f"The author has {standing.open_here} pull requests open here and none merged.")
    return Decision(
        lane=lane,
        labels=frozenset(kind for kind in kinds if kind not in standing.kept_off),
        quick_win=quick_win(facts, score),
        reasons=reasons,
        flood=hit,
    )


def _lane(facts: Facts, score: Score, policy: Policy, standing: Standing) -> tuple[Lane, tuple[str, ...], Flood | None]:
    exempt = exemption(facts, policy)
    if exempt is not None:
        return "exempt", (exempt,), None
    hit = _flood(facts, policy)
    if hit is not None and "burst" not in standing.kept_off:
        return "burst", (f"{hit.count} acts by one person in {policy.burst.minutes} minutes or less.",), hit
    return *_calm_lane(facts, score, policy, standing), hit


def _calm_lane(facts: Facts, score: Score, policy: Policy, standing: Standing) -> tuple[Lane, tuple[str, ...]]:
    trusted = _trusted(facts, policy)
    if trusted is not None:
        return "exempt", (trusted,)
    refusals = unreviewed_refusals(facts, score, policy, standing)
    if not refusals:
        return "likely_unreviewed", ("All conditions of the label hold.",)
    if _discloses(score):
        return "disclosed", ("Use of an agent is stated or visible, and nothing contradicts it.",)
    if score.p_unreviewed <= LIVE_AT and _cleared(score):
        return "live_person", ("A person is visibly there.",)
    return "unsure", refusals


def exemption(facts: Facts, policy: Policy) -> str | None:
    """Say why the policy exempts this author from everything, ``None`` when it does not."""
    author = facts.author
    if author.association is not None and author.association in policy.exempt.associations:
        return f"GitHub names the author {author.association.lower()} of this project."
    login = (author.login or "").lower()
    if login and login in {user.lower() for user in policy.exempt.users}:
        return "The policy lists the author."
    # By account type and exact name: people are called talbot and abbot, and anybody can register an App.
    if author.type == "Bot" and login.removesuffix("[bot]") in {app.lower() for app in policy.exempt.apps}:
        return "The policy lists the App."
    return None


def _trusted(facts: Facts, policy: Policy) -> str | None:
    merged = facts.author.merged_here
    if merged is not None and policy.exempt.merged_here > 0 and merged >= policy.exempt.merged_here:
        return f"The author has {merged} pull requests merged here."
    return None


def _flood(facts: Facts, policy: Policy) -> Flood | None:
    if facts.author.type == "Bot":  # bots answer machines; their events are no person's burst
        return None
    return flood(facts, events=policy.burst.events, minutes=policy.burst.minutes)


def unreviewed_refusals(facts: Facts, score: Score, policy: Policy, standing: Standing) -> tuple[str, ...]:
    """Return every condition of ``likely_unreviewed`` that does not hold, in words; empty when the rule holds.

    A label that is on stays on while the score is within 0.3 nat of the rule and nothing clears the author; one that
    went on and off stays off until a maintainer speaks.
    """
    pull = facts.pull_request
    if pull is None:
        return ("Only a pull request can carry this label.",)
    barred = {
        "It is a draft.": bool(pull.draft),
        "The author's account is gone: nobody could answer.": facts.author.login is None,
        "A maintainer took the label off.": "likely_unreviewed" in standing.kept_off,
        "Use of an agent is disclosed and nothing contradicts it.": _discloses(score) and not _contradicted(score),
        "It changed twice already: only a maintainer moves it now.": (
            standing.flips >= MOST_FLIPS and not standing.labelled
        ),
    }
    margin, short = _margin(score, policy)
    slack = HYSTERESIS if standing.labelled and not _cleared(score) else 0.0
    refusals = [sentence for sentence, holds in barred.items() if holds]
    return tuple(refusals if margin >= -slack else [*refusals, short])


def _margin(score: Score, policy: Policy) -> tuple[float, str]:
    """Return how far the score is inside the rule (nats, negative outside), with the sentence on its weakest part."""
    human = score.classifier.human
    threshold = human.threshold(policy.alpha)
    if threshold is None:
        return -math.inf, (
            f"A promise of {policy.alpha:.1%} needs {needed(policy.alpha)} people's pull requests; {human.n} are known."
        )
    strengths = {family: max(score.family(family, "agent"), score.family(family, "unreviewed")) for family in FAMILIES}
    second = sorted(strengths.values())[-2]
    behaviour = max(strengths[family] for family in BEHAVIOUR)
    margins = {
        f"More than {policy.alpha:.1%} of people's pull requests read at least as agent-like.": score.agent - threshold,
        "A missing review by the author is less likely than not.": score.unreviewed,
        "Fewer than two kinds of evidence speak clearly.": second - FAMILY_SPEAKS,
        "No evidence from behaviour speaks clearly.": behaviour - FAMILY_SPEAKS,
    }
    weakest = min(margins, key=lambda sentence: margins[sentence])
    return nats(margins[weakest]), weakest


def _discloses(score: Score) -> bool:
    return any((score.value(name) or 0.0) > 0.0 for name in ("trace", "policy_disclosed"))


def _contradicted(score: Score) -> bool:
    """Tell whether debris, false claims or a denied disclosure speak against a disclosure."""
    claims = sum(one.unreviewed for one in score.contributions if one.signal.name == "validation_claims")
    return (
        max(score.family("leftovers", "agent"), score.family("leftovers", "unreviewed")) >= FAMILY_SPEAKS
        or score.family("disclosure", "unreviewed") >= FAMILY_SPEAKS
        or claims >= FAMILY_SPEAKS
    )


def _cleared(score: Score) -> bool:
    return any(one.unreviewed < 0.0 for one in score.contributions if one.signal.family in CLEARING)


def _over_limit(facts: Facts, policy: Policy, standing: Standing) -> bool:
    limit = policy.limits.open_pull_requests
    newcomer = facts.author.merged_here == 0
    return limit is not None and newcomer and standing.open_here is not None and standing.open_here > limit


def quick_win(facts: Facts, score: Score) -> bool:
    """Tell whether it is worth merging in passing: small, tests touched, checks green, no leftovers, no draft."""
    pull = facts.pull_request
    if pull is None or pull.files is None or pull.truncated or pull.draft or pull.checks != "success":
        return False
    if pull.additions is None or pull.deletions is None:
        return False
    small = 0 < pull.additions + pull.deletions <= QUICK_WIN_LINES
    tested = any(is_test(file.path) for file in pull.files)
    clean = all(
        max(one.agent, one.unreviewed) <= 0.0 for one in score.contributions if one.signal.family == "leftovers"
    )
    return small and tested and clean
