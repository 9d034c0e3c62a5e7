"""Which marks do coding agents leave by themselves? One dated table, read by exact shape.

As of December 2026. A mark counts only in the shape that a tool writes: an address, a link, a generated branch name. A
person may be called Claude, and a branch for the text cursor may be called cursor/blink.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from triage.facts import Commit
from triage.prose import LONGEST

# Branches that a tool names by itself. Where the first part is also a common word, the generated tail must be there.
BRANCHES: Final[tuple[tuple[str, str], ...]] = (
    ("Claude Code", r"claude(?:-code)?/"),
    ("Codex", r"(?:[0-9a-z]{6}-)?codex/"),
    ("Copilot", r"copilot/"),
    ("Cursor", r"cursor/[a-z0-9-]+-[0-9a-f]{4}$"),
    ("Devin", r"devin/"),
    ("Jules", r"(?:jules-\d{6,}|jules/[a-z0-9-]+-\d{6,}|[a-z0-9-]+-\d{17,20}$)"),
    ("OpenHands", r"openhands(?:/|-fix-issue-\d+)"),
    ("Sweep", r"sweep/[a-z0-9_-]+_[0-9a-f]{5}$"),
    ("Codegen", r"codegen-bot/|codegen/[a-z]+-\d+"),
    ("opencode", r"opencode/(?:issue|pr)\d+-\d+"),
)

# Addresses that stand in Co-authored-by and similar trailers.
ADDRESSES: Final[Mapping[str, str]] = {
    "noreply@anthropic.com": "Claude",
    "no-reply@anthropic.com": "Claude",
    "cursoragent@cursor.com": "Cursor",
    "noreply@aider.chat": "Aider",
    "aider@aider.chat": "Aider",
    "amp@ampcode.com": "Amp",
    "openhands@all-hands.dev": "OpenHands",
    "noreply@openai.com": "Codex",
    "codex@openai.com": "Codex",
    "noreply@opencode.ai": "opencode",
    "crush@charm.land": "Crush",
    "agent@warp.dev": "Warp",
    "qwen-coder@alibabacloud.com": "Qwen Code",
    "copilot@github.com": "Copilot",
}

# Accounts of Apps, without "[bot]". As the author of a pull request they count only where the account is a Bot.
APPS: Final[Mapping[str, str]] = {
    "copilot": "Copilot",
    "copilot-swe-agent": "Copilot",
    "devin-ai-integration": "Devin",
    "google-labs-jules": "Jules",
    "chatgpt-codex-connector": "Codex",
    "openai-code-agent": "Codex",
    "anthropic-code-agent": "Claude",
    "claude": "Claude",
    "cursor": "Cursor",
    "gemini-cli": "Gemini CLI",
    "gemini-code-assist": "Gemini",
    "sweep-ai": "Sweep",
    "codegen-sh": "Codegen",
    "factory-droid": "Factory",
    "openhands-agent": "OpenHands",
    "opencode-agent": "opencode",
}

# Footers and session links that tools append to descriptions, comments and commit messages.
FOOTERS: Final[tuple[tuple[str, str], ...]] = (
    ("Claude Code", r"\bgenerated (?:with|by) \[?claude(?: code)?\b"),
    ("Claude Code", r"https://claude\.(?:ai/code|com/claude-code)\b"),
    ("Codex", r"https://chatgpt\.com/(?:s/cd_|codex/(?:tasks|cloud/tasks)/)\w+"),
    ("Devin", r"https://app\.devin\.ai/(?:sessions|review)/\w+"),
    ("Cursor", r"https://(?:www\.)?cursor\.com/(?:background-agent|agents)\b\?\w+"),
    (
        "Copilot",
        r"\b(?:feedback on copilot coding agent|you can make copilot smarter)\b|https://gh\.io/copilot-coding-agent-(?:docs|tips|survey)",
    ),
    ("Jules", r"https://jules\.google(?:\.com)?/(?:task|session)s?/\w+"),
    ("Amp", r"https://ampcode\.com/threads/T-\w+"),
    ("OpenHands", r"https://app\.all-hands\.dev/conversations/\w+"),
    ("Codegen", r"https://codegen\.com/agent/trace/\d+"),
)

_TRAILERS: Final = re.compile(r"^(?P<name>[A-Za-z][A-Za-z-]{2,40}):[ \t]*(?P<value>\S[^\r\n]{0,300})$", re.MULTILINE)
_TOOL: Final = re.compile(
    r"\b(?:claude|copilot|chatgpt|gpt-?\d[\w.-]*|codex|cursor|gemini|devin|aider|llm|ai|amp|jules|openhands|opencode|"
    r"windsurf|qwen|deepseek)\b",
    re.IGNORECASE,
)
_BRANCHES: Final = tuple((tool, re.compile(shape)) for tool, shape in BRANCHES)
_FOOTERS: Final = tuple((tool, re.compile(shape, re.IGNORECASE)) for tool, shape in FOOTERS)
# Every footer holds one of these: most texts hold none and are read once.
_NAMED: Final = ("claude", "codex", "devin", "cursor", "copilot", "jules", "ampcode", "all-hands", "codegen")
_ADDRESS: Final = re.compile(r"[<\s]([^<>\s@]{1,80}@[^<>\s]{1,80})>?\s*$")
_NOREPLY: Final = re.compile(r"(?:\d+\+)?(?P<login>[a-z0-9-]+)(?P<app>\[bot\])?@users\.noreply\.github\.com")
_CO: Final = frozenset({"co-authored-by", "co-developed-by", "signed-off-by"})
_ASSISTED: Final = frozenset({"assisted-by", "ai-assisted-by", "generated-by", "ai-generated-by", "generated-with"})
_SESSIONS: Final[Mapping[str, str]] = {"claude-session": "Claude", "amp-thread-id": "Amp"}


def in_branch(head_ref: str | None, login: str | None = None) -> str | None:
    """Return the tool whose branch name this is; the owner before a colon is left aside.

    Many people put their own login first: a branch of the account ``claude`` is no mark.
    """
    name = (head_ref or "").rpartition(":")[2]
    if login is not None and name.partition("/")[0].casefold() == login.casefold():
        return None
    return next((tool for tool, shape in _BRANCHES if shape.match(name)), None)


def in_text(text: str | None) -> tuple[str, str] | None:
    """Return (tool, line) of the first footer or session link."""
    folded = (text or "").casefold()
    if text is None or not any(name in folded for name in _NAMED):
        return None
    for line in text.splitlines():
        for tool, shape in _FOOTERS:
            if shape.search(line[:2000]):
                return tool, line.strip()[:200]
    return None


def of_app(login: str | None) -> str | None:
    """Return the tool whose App this login is."""
    return APPS.get((login or "").casefold().removesuffix("[bot]"))


def in_trailers(text: str | None) -> tuple[str, str] | None:
    """Return (tool, line) of the first trailer in a description that names a tool; quotes and code are left aside."""
    fenced = False
    for line in (text or "")[:LONGEST].splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        found = None if fenced else _TRAILERS.match(line)
        tool = _in_trailer(found["name"].casefold(), found["value"]) if found else None
        if tool is not None:
            return tool, line.strip()[:200]
    return None


def in_commit(commit: Commit) -> tuple[str, str] | None:
    """Return (tool, mark) of an agent's mark on a commit: its App as author, a trailer, a footer."""
    login = commit.author_login or ""
    if login.endswith("[bot]") or login == "Copilot":
        tool = of_app(login)
        if tool is not None:
            return tool, login
    for name, value in _trailers(commit):
        tool = _in_trailer(name.casefold(), value)
        if tool is not None:
            return tool, f"{name}: {value}"[:200]
    return in_text(commit.message)


def _trailers(commit: Commit) -> Iterator[tuple[str, str]]:
    for name, values in sorted((commit.trailers or {}).items()):
        yield from ((name, value) for value in ([values] if isinstance(values, str) else values))
    for found in _TRAILERS.finditer(commit.message or ""):
        yield found["name"], found["value"]


def _in_trailer(name: str, value: str) -> str | None:
    if name in _SESSIONS:
        return _SESSIONS[name]
    if name in _ASSISTED:
        tool = _TOOL.search(value.partition("<")[0])
        return tool[0] if tool else _of_address(value)
    return _of_address(value) if name in _CO else None


def _of_address(value: str) -> str | None:
    found = _ADDRESS.search(" " + value)
    if found is None:
        return None
    address = found[1].casefold()
    noreply = _NOREPLY.fullmatch(address)
    if noreply is not None:
        # "Copilot" is the one agent whose account carries no "[bot]" in its address; it is nobody's login.
        return of_app(noreply["login"]) if noreply["app"] or noreply["login"] == "copilot" else None
    return ADDRESSES.get(address)
