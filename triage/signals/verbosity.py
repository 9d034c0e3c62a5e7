"""How much does the description say, how is it laid out, and does it claim checks that nobody can see?

Everything here reads the author's own words only (triage/prose.py): without the templates of the repository a style
marker condemns the people of a templated project. An empty description is known, and it is typical of people.
Rejected for good: dashes, spelling, grammar, the first person, any guess at authorship (signals.md 1.4).
"""

import math
import re
from typing import Final

from triage.evidence import Reading, Signal, unknown
from triage.facts import Commit, Facts
from triage.patch import is_test
from triage.prose import Residual, residual

# Median and 1.4826 x MAD where the repository has no baseline of its own. Measured on AIDev's pull requests by people
# (split 0-5, traces masked): resid_words on the 1,184 of 2025; words_per_line on the 2,148 of 2013-2020, the only ones
# with diff counts. Of emoji_structure the median and MAD are 0, so a unit is one emoji. No corpus has commit messages.
PEOPLE: Final[dict[str, tuple[float, float]]] = {
    "resid_words": (3.384, 2.132),
    "words_per_line": (-0.520, 1.450),
    "emoji_structure": (0.0, 1.0),
    "commit_bodies": (0.0, 1.0),
}
# A repository where all write alike must not turn one word more into many deviations.
LEAST_SPREAD: Final = {"resid_words": 0.5, "words_per_line": 0.5, "emoji_structure": 1.0, "commit_bodies": 0.5}

FEWEST_LINES: Final = 4  # a share of fewer lines is taken of four: one bullet alone is no layout
LONG_BODY: Final = 3  # lines

_TRAILER: Final = re.compile(r"[A-Za-z][A-Za-z-]{1,40}: \S")
_CONVENTIONAL: Final = re.compile(
    r"(?:feat|fix|docs|style|refactor|perf|test|build|ci|chore|revert)(?:\([^)]{1,60}\))?!?: \S"
)
_ITEM: Final = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+\S")
_MERGE: Final = re.compile(r"(?:Merge|Revert) ")

# Claims that only a run can bear out. Plain "tested" and "tested locally" are left out: people write them more often
# than agents do (8.9 % against 5.5 % of descriptions; these claims: under 2 % each against up to 10.8 %).
_CLAIM: Final = re.compile(
    r"\ball (?:\w+ ){0,3}tests? (?:(?:are|is|now|still) )?(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|green)\b"
    r"|\btests? (?:still |now |all |successfully )*(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?)\b"
    r"|\b(?:verified|confirmed|validated) (?:that|with|by|via|in|on|all|the|no|both|it|locally|manually)\b"
    r"|\b(?:fully|thoroughly|extensively|comprehensively|rigorously) tested\b|\bcomprehensive(?:ly)? test"
    r"|\b(?:builds?|lint(?:ing|er)?|type ?checks?) (?:pass(?:es|ed)?|succeed(?:s|ed)?|(?:is|are) (?:green|clean))\b"
    r"|\bno regressions?\b|\bproduction[- ]ready\b|\u2705.{0,60}(?:test|pass|verif|build|lint)"
    # "All tests pass" in German, French, Spanish, Portuguese, Russian, Chinese and Japanese.
    r"|\balle tests? (?:laufen|bestehen|bestanden|sind gr\u00fcn|erfolgreich)"
    r"|\b(?:vollst\u00e4ndig|gr\u00fcndlich) getestet\b"
    r"|\btous les tests (?:passent|sont (?:verts|pass\u00e9s))"
    r"|\btod[ao]s (?:las pruebas|los tests|os testes) (?:pasa|passa)"
    r"|\u0432\u0441\u0435 \u0442\u0435\u0441\u0442\u044b \u043f\u0440\u043e"
    r"(?:\u0445\u043e\u0434\u044f\u0442|\u0439\u0434\u0435\u043d\u044b|\u0448\u043b\u0438)"
    r"|\u6d4b\u8bd5(?:\u5168\u90e8|\u5747|\u90fd|\u5df2)*\u901a\u8fc7"
    r"|\u30c6\u30b9\u30c8(?:\u304c|\u306f)?(?:\u901a\u904e|\u30d1\u30b9|\u6210\u529f)",
    re.IGNORECASE,
)
# Each claim holds one of these, in lower case: looking for them first is fast.
_HINTS: Final = (
    *("test", "verified", "confirmed", "validated", "build", "lint", "check", "regression", "production", "\u2705"),
    *("pruebas", "\u0442\u0435\u0441\u0442", "\u6d4b\u8bd5", "\u30c6\u30b9\u30c8"),
)
# "Not yet verified", "once all tests pass", "make sure that tests pass": no claim.
_NO_CLAIM: Final = re.compile(
    r"\b(?:not|never|cannot|without|yet|once|until|unless|if|when|after|should|must|will|would|ensure[sd]?|make sure"
    r"|check|todo|need|needs|let|nicht|noch|wenn|sobald|pas|si|no se|cuando|\u043d\u0435)\b"
    r"|n['\u2019]t\b|\u672a|\u6ca1",
    re.IGNORECASE,
)
_OPEN_BOX: Final = re.compile(r"\s*[-*+] \[ ?\]")
_CLAUSE: Final = 60  # characters before a claim in which a "not" turns it


def resid_words(facts: Facts) -> Reading:
    """Read how many words of its own the description has: z of ln(1 + words)."""
    own = _own(facts)
    if own is None:
        return unknown("the description was not read")
    value = _z(facts, "resid_words", math.log1p(own.words))
    usual = math.expm1(_usual(facts, "resid_words")[0])
    cut = " (a very long one: only its beginning was read)" if own.truncated else ""
    sentence = (
        f"The description has {_count(own.words, 'word')} of its own{cut}; {_whose(facts, 'resid_words')} {usual:.0f}."
    )
    return Reading(value, own.words, sentence, _first(own))


def words_per_line(facts: Facts) -> Reading:
    """Read how many words describe a changed line: z of ln((words + 5) / (changed lines + 10))."""
    own, changed = _own(facts), _changed(facts)
    if own is None:
        return unknown("the description was not read")
    if changed is None:
        return unknown("the number of changed lines was not read")
    if changed == 0:
        return unknown("no line is changed")
    value = _z(facts, "words_per_line", math.log((own.words + 5) / (changed + 10)))
    sentence = f"{_count(own.words, 'word')} of description for {_count(changed, 'changed line')}."
    return Reading(value, own.words, sentence, _first(own))


def bullet_share(facts: Facts) -> Reading:
    """Read the share of list items among the lines of the description: 0 to 1."""
    own = _own(facts)
    if own is None:
        return unknown("the description was not read")
    items, lines = own.bullets, own.nonempty_lines
    value = len(items) / max(lines, FEWEST_LINES)
    sentence = f"{len(items)} of {_count(lines, 'line')} of the description are list items."
    return Reading(round(value, 6), lines, sentence, _place(items[0].number) if items else None)


def extra_headings(facts: Facts) -> Reading:
    """Count the description's headings that no template of the repository has."""
    own = _own(facts)
    if own is None:
        return unknown("the description was not read")
    if facts.repository.templates is None:
        return unknown("the repository's templates were not read, so whose headings these are")
    found = own.headings
    sentence = f"The description has {_count(len(found), 'heading')} that no template of the repository has."
    return Reading(float(len(found)), own.nonempty_lines, sentence, _place(found[0].number) if found else None)


def bold_lead(facts: Facts) -> Reading:
    """Count the description's list items that begin in bold."""
    own = _own(facts)
    if own is None:
        return unknown("the description was not read")
    found = own.bold_leads
    sentence = f"{len(found)} of {_count(len(own.bullets), 'list item')} of the description begin in bold."
    return Reading(float(len(found)), len(own.bullets), sentence, _place(found[0].number) if found else None)


def emoji_structure(facts: Facts) -> Reading:
    """Read how many headings and list items begin with an emoji: z of their number."""
    own = _own(facts)
    if own is None:
        return unknown("the description was not read")
    found = own.emoji_leads
    structural = len(own.headings) + len(own.bullets)
    sentence = (
        f"{len(found)} of {_count(structural, 'heading or list item', 'headings and list items')} begin with an emoji."
    )
    value = _z(facts, "emoji_structure", float(len(found)))
    return Reading(value, structural, sentence, _place(found[0].number) if found else None)


def validation_claims(facts: Facts) -> Reading:
    """Count the lines that claim a check's result where no check is known to have run and no test file changed."""
    own, pull = _own(facts), facts.pull_request
    if own is None or pull is None:
        return unknown("the description was not read")
    claims = [line for line in own.lines if not line.heading and _claims(line.text)]
    if not claims:
        return Reading(0.0, own.nonempty_lines, "The description claims no test results.")
    tests_changed = None if pull.files is None else any(is_test(file.path) for file in pull.files)
    if pull.checks is None and (tests_changed is None or (pull.truncated and not tests_changed)):
        return unknown("not every changed file was read, so whether tests changed", len(claims))
    seen = "checks ran on it" if pull.checks is not None else "test files changed with it" if tests_changed else None
    said = f"The description states test or check results in {_count(len(claims), 'line')}"
    sentence = f"{said}; {seen or 'no check is known to have run and no test changed'}."
    return Reading(0.0 if seen else float(len(claims)), len(claims), sentence, _place(claims[0].number))


def commit_bodies(facts: Facts) -> Reading:
    """Read which commits have long bodies, and conventional subjects with listed bodies: z of the shares' sum."""
    pull = facts.pull_request
    if pull is None or pull.commits is None:
        return unknown("the commits were not read")
    bodies = [(subject, body) for subject, body in map(_message, pull.commits) if subject and not _MERGE.match(subject)]
    n = len(bodies)
    if not n:
        return unknown("no commit message was read")
    long = sum(len(body) >= LONG_BODY for _, body in bodies)
    listed = sum(_CONVENTIONAL.match(subject) is not None and any(map(_ITEM.match, body)) for subject, body in bodies)
    value = _z(facts, "commit_bodies", (long + listed) / n)
    said = f"{long} of {_count(n, 'commit')} have a message body of {LONG_BODY} lines or more"
    sentence = f"{said}; {listed} list their changes."
    return Reading(value, n, sentence)


def _own(facts: Facts) -> Residual | None:
    pull, room = facts.pull_request, facts.repository
    if pull is None or pull.body is None:
        return None
    return residual(pull.body, templates=room.templates, common_lines=room.common_lines)


def _changed(facts: Facts) -> int | None:
    pull = facts.pull_request
    if pull is None:
        return None
    if pull.additions is not None and pull.deletions is not None:
        return pull.additions + pull.deletions
    if pull.files is None or pull.truncated:
        return None
    counts = [(file.additions, file.deletions) for file in pull.files]
    known = [added + removed for added, removed in counts if added is not None and removed is not None]
    return sum(known) if len(known) == len(counts) else None


def _usual(facts: Facts, name: str) -> tuple[float, float]:
    return (facts.repository.baseline or {}).get(name, PEOPLE[name])


def _z(facts: Facts, name: str, value: float) -> float:
    median, spread = _usual(facts, name)
    return round((value - median) / max(spread, LEAST_SPREAD[name]), 6) + 0.0


def _whose(facts: Facts, name: str) -> str:
    return "people here usually write" if name in (facts.repository.baseline or {}) else "people usually write"


def _claims(line: str) -> bool:
    low = line.lower()
    if _OPEN_BOX.match(line) or not any(hint in low for hint in _HINTS):
        return False
    return any(not _NO_CLAIM.search(line, max(0, m.start() - _CLAUSE), m.start()) for m in _CLAIM.finditer(line))


def _message(commit: Commit) -> tuple[str, list[str]]:
    """Split a commit message into its subject and the lines of its body, without blank lines and trailers."""
    lines = (commit.message or "")[:65_536].replace("\r", "").split("\n")
    body = [line for line in lines[1:] if line.strip()]
    while body and _TRAILER.match(body[-1]):
        body.pop()
    return lines[0].strip(), body


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _first(own: Residual) -> str | None:
    return _place(own.lines[0].number) if own.lines else None


def _place(number: int) -> str:
    return f"description, line {number}"


SIGNALS: Final[tuple[Signal, ...]] = (
    Signal("resid_words", "verbosity", ("agent",), "A", resid_words),
    Signal("words_per_line", "verbosity", ("agent", "unreviewed"), "B", words_per_line),
    Signal("bullet_share", "verbosity", ("agent",), "A", bullet_share),
    Signal("extra_headings", "verbosity", ("agent",), "A", extra_headings),
    Signal("bold_lead", "verbosity", ("agent",), "A", bold_lead),
    Signal("emoji_structure", "verbosity", ("agent",), "B", emoji_structure),
    Signal("validation_claims", "verbosity", ("unreviewed",), "B", validation_claims),
    Signal("commit_bodies", "verbosity", ("agent",), "B", commit_bodies),
)
