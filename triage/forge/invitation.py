"""What a repository says to contributors, found in its own words: AI rules, vouch lists, where its texts lie."""

import re
from collections.abc import Iterable
from typing import Final

MAX_POLICY: Final = 2000  # characters

# The folders where GitHub looks for community files, in its order of preference.
FOLDERS: Final = (".github", "", "docs")
TEMPLATE: Final = re.compile(r"pull_request_template(\.(md|txt|rst))?", re.IGNORECASE)
ANY_TEMPLATE: Final = re.compile(r".+\.(md|txt|rst)", re.IGNORECASE)
TEMPLATE_FOLDER: Final = re.compile(r"pull_request_template", re.IGNORECASE)
CONTRIBUTING: Final = re.compile(r"contributing(\.(md|txt|rst))?", re.IGNORECASE)
AI_RULES: Final = re.compile(
    r"(ai|llm|gen-?ai)[-_ ]?(policy|usage|guidelines?|contributions?)\.(md|txt|rst)", re.IGNORECASE
)
VOUCHED: Final = re.compile(r"vouched\.td", re.IGNORECASE)
CONTRIBUTORS: Final = re.compile(r"contributors(\.(md|txt|rst))?", re.IGNORECASE)

# Case matters for the short names: "ai" is a word in other languages, and "agent" alone is often a user agent.
_NAMES_AI: Final = re.compile(
    r"\b(?:AI|A\.I\.|LLMs?|GPT|ChatGPT|Copilot|Claude|Codex|Gemini|Cursor)\b"
    r"|\b(?i:artificial intelligence|language models?|generative|agentic|coding (?:agents?|assistants?)"
    r"|code assistants?|machine[- ]generated)\b",
)
_LOGIN: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})"
_VOUCH: Final = re.compile(rf"(?:github:)?@?({_LOGIN})", re.IGNORECASE)


def ai_policy(texts: Iterable[str]) -> str | None:
    """Collect the paragraphs that speak of AI tools, at most 2,000 characters; ``None`` when there are none."""
    found: dict[str, None] = {}
    for text in texts:
        for paragraph in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n")):
            if _NAMES_AI.search(paragraph):
                found[paragraph.strip()] = None
    return "\n\n".join(found)[:MAX_POLICY].strip() or None


def vouched(text: str) -> frozenset[str]:
    """Read a vouch list: one login a line, ``-`` before a refused one, ``#`` before a remark; logins in lower case.

    Format of the `vouch` tool: ``platform:login details``, the platform may be left out.
    """
    logins = set()
    for line in text.splitlines():
        words = line.split("#", 1)[0].split()
        if words and not words[0].startswith("-") and (match := _VOUCH.fullmatch(words[0])):
            logins.add(match[1].casefold())
    return frozenset(logins)


def contributors(text: str, host: str) -> frozenset[str]:
    """Read the logins that a list of contributors names with ``@`` or by an address on ``host``; in lower case."""
    mention = re.compile(rf"(?:(?<![\w./@-])@|(?<![\w.]){re.escape(host)}/)({_LOGIN})(?![\w/@-])", re.IGNORECASE)
    return frozenset(match[1].casefold() for match in mention.finditer(text))
