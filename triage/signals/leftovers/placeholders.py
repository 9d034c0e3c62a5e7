"""Do added comments stand in for code that was never written?

Only comments on added lines of source files count, never strings, documents or tests.
"""

import re
from typing import Final

from triage.evidence import Reading, unknown
from triage.facts import Facts
from triage.patch import is_test, scan

_PHRASES: Final = re.compile(
    r"\.\.\.\s*(?:the )?(?:existing|rest|remaining|previous)\b"
    r"|\b(?:existing|previous|remaining) (?:code|implementation|logic|methods) (?:remains?|stays?|here|unchanged)"
    r"|\brest of (?:the|your) (?:existing )?(?:code|file|implementation|function|class|method|component|logic)"
    r"|\b(?:existing|original) code\s*(?:\.\.\.|$)"
    r"|\bin a real[- ]?(?:world)? (?:implementation|application|app|scenario|project|system)"
    r"|\bin (?:actual|real) production\b|\bin production,? (?:you|this|we) (?:would|should|might)"
    r"|\b(?:your|implementation|logic) (?:code )?(?:goes|would go|to go) here\b|\byour code here\b"
    r"|\bplaceholder (?:implementation|logic|for (?:the )?(?:actual|real))|\bthis is a (?:placeholder|simplified|mock) "
    r"|\bsimplified (?:implementation|version) (?:for|of|-)"
    r"|\bfor (?:now|demonstration),? (?:we'?ll |we )?(?:just |simply )?(?:simulate|mock|return (?:a )?(?:mock|dummy))",
    re.IGNORECASE,
)
_STUB: Final = re.compile(
    r"\braise NotImplementedError\(\s*[rf]?[\"'][^\"']*not (?:yet )?(?:been )?implemented"
    r"|\bthrow new \w*(?:Error|Exception)\(\s*[\"'`](?:\w+ )?not (?:yet )?implemented",
    re.IGNORECASE,
)
# Each match of the two holds one of these, in lower case: looking for them first is fifty times as fast.
_HINTS: Final = (
    *("existing", "rest", "remaining", "previous", "original code", "real", "production", "goes here", "go here"),
    *("code here", "placeholder", "simplified", "mock", "simulate", "dummy", "implemented"),
)
_COMMENT: Final = re.compile(r"(?:^|[\s;{}(),])(?:#|//|/\*|--|<!--|%|;;)|^\s*\*|^\s*(?:\"\"\"|''')")
_STRING: Final = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\\n]|\\.)*`")
_PROSE: Final = tuple(
    f".{end}"
    for end in ("md", "markdown", "mdx", "rst", "txt", "adoc", "json", "lock", "csv", "svg", "ipynb", "po", "html")
)
LONGEST_LINE: Final = 2000  # characters; longer ones are generated


def placeholder_comments(facts: Facts) -> Reading:
    """Count added lines whose comment stands in for code, and stubs that say they are not implemented."""
    pull = facts.pull_request
    if pull is None or pull.files is None:
        return unknown("the changed files were not read")
    known = [file for file in pull.files if file.patch is not None]
    sources = [file for file in known if not file.path.lower().endswith(_PROSE) and not is_test(file.path)]
    found: list[str] = []
    n = 0
    for file in sources:
        patch = file.patch or ""
        n += patch.count("\n+")
        low = patch.lower()
        hints = [hint for hint in _HINTS if hint in low]
        if hints:
            found += [f"{file.path}:{at}" for at, text in scan(patch).added if _hinted(text, hints) and stands_in(text)]
    if not found and (pull.truncated or len(known) < len(pull.files)):
        return unknown("not every patch was read", n)
    lines = "1 added line stands" if len(found) == 1 else f"{len(found)} added lines stand"
    return Reading(float(len(found)), n, f"{lines} in for code (of {n}).", found[0] if found else None)


def _hinted(text: str, hints: list[str]) -> bool:
    low = text.lower()
    return any(hint in low for hint in hints)


def stands_in(line: str) -> bool:
    """Tell whether one line of source is a comment in place of code, or a stub that says so."""
    if len(line) > LONGEST_LINE:
        return False
    if _STUB.search(line):
        return True
    bare = _STRING.sub('""', line)
    comment = _COMMENT.search(bare)
    return comment is not None and _PHRASES.search(bare, comment.start()) is not None
