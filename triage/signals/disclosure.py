"""Is the use of an agent stated or visible, and does the answer fit what is visible?

An axis of its own: a disclosure places a contribution and never costs. Words that stand in the repository's templates,
in quotes or in code are not the author's and do not count. The table of agents' marks is triage/traces.py.
"""

import re
from collections.abc import Iterator
from typing import Final

from triage.evidence import Reading, Signal, unknown
from triage.facts import Facts
from triage.pace import READ, is_bot, is_own, words_of
from triage.prose import residual
from triage.traces import in_branch, in_commit, in_text, in_trailers, of_app

# "AI" in capitals only: "j'ai" is French. "Cursor" with a capital: a cursor is also a place in a text.
_AI: Final = (
    r"(?:\b(?:AI|A\.I\.|KI|IA|LLMs?|Cursor|(?i:ChatGPT|GPT-?\d[\w.]*|Claude(?: Code)?|(?:GitHub )?Copilot|Codex|Gemini|"
    r"Devin|Windsurf|Aider|DeepSeek|language models?|(?:coding|code|AI) (?:agents?|assistants?)))\b|"
    r"人工智能|生成AI|人工知能)"
)
_AI_WORDS: Final = ("AI", "A.I.", "KI", "IA", "LLM", "Cursor", "人工")
_AI_FOLDED: Final = (
    *("gpt", "claude", "copilot", "codex", "gemini", "devin", "windsurf", "aider", "deepseek"),
    *("language model", "agent", "assistant"),
)
_NEAR: Final = r"[^.!?。\n]{0,60}?"
_USE: Final = re.compile(
    rf"(?i:\b(?:I|we)(?:['\u2019]ve| have| also| mostly| partly)* (?:used|asked|let|had|prompted)\b){_NEAR}{_AI}"
    rf"|(?i:\b(?:written|wrote|generated|drafted|created|made|built|implemented|assisted|translated|polished|prepared|"
    rf"formatted|debugged|authored|developed|help|support|assistance)\b)[^.!?。\n]{{0,30}}?"
    rf"(?i:\b(?:with|by|from|using|of|through)\b)[^.!?。\n]{{0,25}}?{_AI}"
    rf"|{_AI}{_NEAR}(?i:\b(?:was|were|is|has been)\b (?:used|involved|helping)\b)"
    rf"|(?i:\b(?:this|these|my|the) (?:\w+ ){{0,3}}(?:is|are|was|were) ){_NEAR}"
    rf"\b(?:AI|LLM)[- ](?i:assisted|generated|written)\b"
    rf"|^\W{{0,4}}(?:AI|LLM)[- ](?i:assisted|generated|written|assistance)\b"
    rf"|(?i:mit (?:der )?(?:hilfe|unterstützung) von|con (?:la )?ayuda de|com (?:a )?ajuda d[eao]|"
    rf"(?:avec|à) l['\u2019]aide de|utilis[eéai]\w*|\bus(?:é|ei)\b|benutzt|verwendet|\u0441 помощью){_NEAR}{_AI}"
    rf"|(?:使用|借助|利用|用了){_NEAR}{_AI}|{_AI}{_NEAR}(?:を使|を利用|を用)",
    re.MULTILINE,
)
_NO: Final = re.compile(
    r"(?i:\b(?:no|not|never|none|without|nor|n['\u2019]t|didn['\u2019]t|don['\u2019]t|wasn['\u2019]t|cannot|"
    r"human[- ]written|nein|nicht|kein\w*|ohne|sin|sans|sem|pas|aucune?|não|nunca|нет|без|не)\b)|"
    r"没有|未|不|无|ない|なし"
)
_DENIED: Final = re.compile(
    rf"(?i:\b(?:did(?:n['\\u2019]t| not)|have(?:n['\\u2019]t| not)|never) (?:use|used)\b){_NEAR}{_AI}"
    rf"|(?i:\b(?:wrote|written|made|done) (?:\w+ ){{0,3}}without (?:any )?){_AI}"
    rf"|^\W*(?i:no )(?:use of )?{_AI}"
)
_PLAIN_NO: Final = re.compile(
    r"(?i:\W*(?:no|none|n/?a|nope|not|nein|keine?|non|aucune?|ninguna?|não|нет)\b)|\W*(?:没有|无|否|いいえ|なし)"
)
_PLAIN_YES: Final = re.compile(r"(?i:\W*(?:yes|yep|ja|oui|s[ií]|sim|да)\b)|\W*(?:是|はい)")
_HAS_AI: Final = re.compile(_AI)
_BOX: Final = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s*\[([ xX])\]\s*(\S.*)$")
# A box that promises to follow a rule, or that starts with "if", answers nothing.
_PROMISE: Final = re.compile(
    r"(?i:\b(?:policy|policies|guidelines?|rules?|read|understand|agree|disclos\w+)\b|^\W*if\b)"
)
QUESTION: Final = 200  # characters of a line that can be a question
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


def trace(facts: Facts) -> Reading:
    """Read whether an agent left its mark: branch, commit trailer, footer, session link or App; 1 or 0."""
    found = next(_marks(facts), None)
    if found is not None:
        tool, where, quote = found
        return Reading(1.0, 1, f"{where} carries the mark of {tool}.", quote)
    pull = facts.pull_request
    if pull is None and not facts.timeline:
        return unknown("there is nothing that could carry a mark")
    if pull is not None and pull.commits is None and pull.body is None and pull.head_ref is None:
        return unknown("branch, commits and description were not read")
    return Reading(0.0, 0, "No mark of an agent in what was read.")


def policy_disclosed(facts: Facts) -> Reading:
    """Read the author's own word on the use of AI: 1 stated, 0 denied, unknown when nothing is said."""
    said = sorted(set(_statements(facts)), key=lambda one: (not one[0], one[1]))
    if not said:
        return unknown("the author does not say whether AI was used")
    used, quote = said[0]
    sentence = "The author states that AI was used." if used else "The author states that no AI was used."
    return Reading(1.0 if used else 0.0, len(said), sentence, quote)


def disclosure_conflict(facts: Facts) -> Reading:
    """Read whether a required disclosure is denied or absent while branch or commits carry an agent's mark: 1 or 0."""
    if facts.repository.disclosure_required is not True or facts.pull_request is None:
        return unknown("the policy does not ask for a disclosure")
    mark = next(_hard_marks(facts), None)
    if mark is None:
        return Reading(0.0, 0, "No mark of an agent in branch or commits.")
    tool, where, quote = mark
    said = policy_disclosed(facts)
    if said.value == 1.0 or next(_footers(facts), None) is not None:
        return Reading(0.0, 1, f"The description states what {where.lower()} shows.", said.quote or quote)
    answer = "is answered with no" if said.value == 0.0 else "is not answered"
    return Reading(1.0, 1, f"The required disclosure {answer}; {where.lower()} carries the mark of {tool}.", quote)


def discloses(facts: Facts) -> bool:
    """Tell whether the use of an agent is stated or visible."""
    return trace(facts).value == 1.0 or policy_disclosed(facts).value == 1.0


def _marks(facts: Facts) -> Iterator[tuple[str, str, str]]:
    """Yield (tool, where, quote), the plainest first."""
    pull = facts.pull_request
    app = pull.app_author if pull is not None else None
    tool = of_app(app) or (of_app(facts.author.login) if facts.author.type == "Bot" else None)
    if tool is not None:
        yield tool, "The sending App", app or facts.author.login or ""
    yield from _hard_marks(facts)
    yield from _footers(facts)


def _hard_marks(facts: Facts) -> Iterator[tuple[str, str, str]]:
    pull = facts.pull_request
    if pull is None:
        return
    tool = in_branch(pull.head_ref, facts.author.login)
    if tool is not None:
        yield tool, "The branch name", pull.head_ref or ""
    for commit in pull.commits or ():
        mark = in_commit(commit)
        if mark is not None:
            yield mark[0], "A commit", mark[1]


def _footers(facts: Facts) -> Iterator[tuple[str, str, str]]:
    trailer = in_trailers(facts.pull_request.body if facts.pull_request is not None else None)
    if trailer is not None:
        yield trailer[0], "The description", trailer[1]
    for where, text in _own_texts(facts):
        mark = in_text(text)
        if mark is not None:
            yield mark[0], where, mark[1]


def _own_texts(facts: Facts) -> Iterator[tuple[str, str]]:
    """Yield (where, residual text) of what the author wrote: the description, then the comments by time."""
    if facts.pull_request is not None and facts.pull_request.body:
        yield "The description", _description(facts)
    own = [event for event in facts.timeline or () if event.body and not is_bot(event) and is_own(event, facts)]
    for event in sorted(own, key=lambda event: (event.at, event.kind, event.body or "")):
        if event.kind != "commit":
            yield "A comment", words_of(event, facts)


def _description(facts: Facts) -> str:
    room, pull = facts.repository, facts.pull_request
    body = pull.body if pull is not None else None
    return residual(body, templates=room.templates, common_lines=room.common_lines).text


def _statements(facts: Facts) -> Iterator[tuple[bool, str]]:
    """Yield (used, quote) of every answer: ticked boxes, answered questions, sentences."""
    body = (facts.pull_request.body if facts.pull_request is not None else None) or ""
    lines = _COMMENT.sub("", body[:READ]).splitlines()
    yield from _boxes(lines)
    yield from _replies_to_question(facts, lines)
    for _, text in _own_texts(facts):
        for line in text.splitlines() if _may_name_ai(text) else ():
            if _HAS_AI.search(line) is None or _BOX.match(line):
                continue
            found = _USE.search(line[:2000])
            if found is not None:
                before = line[max(0, found.start() - 30) : found.start()]
                yield not _NO.search(before + found[0]), line.strip()[:200]
            elif _DENIED.search(line[:2000]):
                yield False, line.strip()[:200]


def _may_name_ai(text: str) -> bool:
    """Tell cheaply whether it is worth looking closer: most texts name no tool at all."""
    folded = text.casefold()
    return any(word in text for word in _AI_WORDS) or any(word in folded for word in _AI_FOLDED)


def _boxes(lines: list[str]) -> Iterator[tuple[bool, str]]:
    for line in lines:
        box = _BOX.match(line[:2000])
        if box is not None and box[1] != " " and _HAS_AI.search(box[2]) and not _PROMISE.search(box[2]):
            yield not _NO.search(box[2]), line.strip()[:200]


def _replies_to_question(facts: Facts, lines: list[str]) -> Iterator[tuple[bool, str]]:
    """Read what stands behind or under the repository's own question on AI."""
    asked = _questions(facts)
    template = {line.strip() for text in facts.repository.templates or () for line in text.splitlines() if line.strip()}
    for index, line in enumerate(lines):
        question = next((one for one in asked if line.strip().startswith(one)), None)
        if question is None:
            continue
        below = (one.strip() for one in lines[index + 1 :] if one.strip())
        first = line.strip()[len(question) :].strip() or next(below, "")
        if first and first not in template and not first.startswith("#") and _BOX.match(first) is None:
            if _PLAIN_NO.match(first):
                yield False, first[:200]
            elif _PLAIN_YES.match(first) or (_HAS_AI.search(first) and not _NO.search(first)):
                yield True, first[:200]


def _questions(facts: Facts) -> list[str]:
    """Return the lines in which the repository asks about AI, longest first."""
    texts = (*(facts.repository.templates or ()), facts.repository.ai_policy or "")
    lines = {line.strip() for text in texts for line in _COMMENT.sub("", text).splitlines()}
    asking = (
        line
        for line in lines
        if len(line) <= QUESTION and _HAS_AI.search(line) and _BOX.match(line) is None
        if line.startswith("#") or line.endswith(("?", "\uff1f", ":", "\uff1a"))
    )
    return sorted(asking, key=lambda line: (-len(line), line))


SIGNALS: Final[tuple[Signal, ...]] = (
    Signal("trace", "disclosure", (), "A", trace, subjects=("pull_request", "commenter")),
    Signal("policy_disclosed", "disclosure", (), "B", policy_disclosed),
    Signal("disclosure_conflict", "disclosure", ("unreviewed",), "B", disclosure_conflict),
)
