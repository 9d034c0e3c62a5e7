"""Does the diff hold what the description says it adds?

People name code outside their diff all the time, and the base tree is not read here. So only plain claims
count: that something named in backticks was added, created, implemented or introduced; and only names that the facts
can decide.
"""

import re
from collections.abc import Iterator
from typing import Final

from triage.evidence import Reading, unknown
from triage.facts import Facts
from triage.prose import residual

FEWEST: Final = 3  # fewer claims than this say nothing
MOST: Final = 40

_NAMED: Final = r"`([^`\n]{1,120})`"
# Between the verb and the name only words that say what kind of thing it is: "added support for `x`" claims no `x`.
_KIND: Final = (
    r"(?:(?:an?|the|new|helper|private|public|static|async|abstract|shared|unit|small|simple|dedicated|custom|missing"
    r"|utility|functions?|methods?|class|classes|files?|modules?|components?|scripts?|hooks?|types?|interfaces?|tests?"
    r"|helpers?|structs?|enums?|traits?|endpoints?|fields?|property|properties|constants?|migrations?|services?|models?"
    r"|following)[ :]+){0,5}"
)
_CLAIM: Final = re.compile(
    r"(?:\b(?:add(?:s|ed|ing)?|creat(?:e|es|ed|ing)|implement(?:s|ed|ing)?|introduc(?:e|es|ed|ing))\b(?:\*\*|__)?:? +"
    rf"|^\s*[-*+] (?:\*\*)?new:?(?:\*\*)? ){_KIND}{_NAMED}((?:(?:,? and |, ){_NAMED}){{0,8}})",
    re.IGNORECASE,
)
_NAME: Final = re.compile(_NAMED)
_FILE: Final = re.compile(
    r"(?:[\w@.+()\[\]-]+/)*[\w@.+()\[\]-]+\.(?:py|pyi|[cm]?[jt]sx?|vue|svelte|go|rs|java|kt|swift|rb|php|cs|c|cc|cpp|h|hpp|sh"
    r"|sql|s?css|html?|md|rst|ya?ml|json|toml|xml|proto|graphql|ex|exs|dart|scala|lua)"
)
_SYMBOL: Final = re.compile(r"(?:[A-Za-z_$][\w$]*(?:\.|::|#|->))*([A-Za-z_$][\w$]{2,})(?:\([^()`]*\))?")
_VERSION: Final = re.compile(r"v?\d+(?:\.\d+)+|\d")
# Words of languages and tools: a description that adds `async` adds no symbol of that name.
_WORDS: Final = frozenset(
    (  # noqa: SIM905 - a list of words is read as one
        "abstract and any array assert async await bash bool boolean break bytes case catch char class cmake const "
        "continue curl def default delete dict docker double else enum eval except export extends extern false "
        "final finally float fn for from func function get git global goto head if implements import include int "
        "integer interface json lambda let list local long main make map match mod module mut namespace native new "
        "nil node none not npm npx null number object operator or override package pass pip pnpm post private "
        "protected pub public put python raise readonly record require return self set short static str string "
        "struct super switch sync tar template this throw throws trait true try tuple type typeof undefined union "
        "unsafe use using uv var vec void volatile where while with yarn yield "
    ).split()
)


def claim_gap(facts: Facts) -> Reading:
    """Read the share of things said to be added that appear nowhere in the diff: 0 to 1, of three or more."""
    pull = facts.pull_request
    if pull is None or pull.body is None:
        return unknown("the description was not read")
    if pull.files is None or pull.truncated:
        return unknown("not every changed file was read")
    if any(file.patch is None for file in pull.files):
        return unknown("not every patch was read")
    room = facts.repository
    own = residual(pull.body, templates=room.templates, common_lines=room.common_lines)
    claims: dict[str, int] = {}
    for line in own.lines:
        for name in claimed(line.text[:4000]):
            if len(claims) < MOST:
                claims.setdefault(name, line.number)
    if len(claims) < FEWEST:
        return unknown(f"fewer than {FEWEST} things are named as added", len(claims))
    diff = "\n".join([*(file.path for file in pull.files), *(file.patch or "" for file in pull.files)]).lower()
    missing = [name for name in claims if name.lower() not in diff]
    appear = "1 appears" if len(missing) == 1 else f"{len(missing)} appear"
    sentence = f"Of {len(claims)} things that the description names as added, {appear} nowhere in the diff."
    place = f"description, line {claims[missing[0]]}" if missing else None
    return Reading(round(len(missing) / len(claims), 6), len(claims), sentence, place)


def claimed(line: str) -> Iterator[str]:
    """Yield what a line says was added: the last part of each path or symbol, as it would stand in the diff."""
    for match in _CLAIM.finditer(line):
        for named in (match[1] or "", *_NAME.findall(match[2] or "")):
            name = _decidable(named.strip())
            if name:
                yield name


def _decidable(named: str) -> str | None:
    if "://" in named or named.startswith(("-", "/", "@", "#", "$", ":", "~")) or _VERSION.fullmatch(named):
        return None
    if _FILE.fullmatch(named):
        return named.rpartition("/")[2]
    symbol = _SYMBOL.fullmatch(named)
    if symbol is None or symbol[1].lower() in _WORDS:
        return None
    # A bare lower-case word may be a value, a command or a package: only names that a program spells its own way.
    own_way = "(" in named or "_" in symbol[1].strip("_") or not symbol[1][1:].islower() or named != symbol[1]
    return symbol[1] if own_way else None
