"""Did text that an assistant speaks to its user come along?

Near certain where it is found, so it is searched only where it cannot be meant: never in quotes, code, tests or
documents, and not at all in projects about language models, whose business such text is.
"""

import re
from collections.abc import Iterator
from typing import Final

from triage.evidence import Reading, unknown
from triage.facts import Facts, PullRequest
from triage.patch import is_test, scan
from triage.prose import residual

# Debris of citations, tools and chat formats: no person types these.
_DEBRIS: Final = re.compile(
    r":?contentReference\[oaicite|\boaicite[:\]]|\bturn\d{1,2}(?:search|view|file|news)\d{1,3}\b|\u3010\d+(?::\d+)?\u2020"
    r"|</?(?:antml:\w+|function_calls)[ >]|sandbox:/mnt/data/|<\|im_(?:start|end)\|>"
    r"|\[attached_file:\d+\]|\bgrok_card\b",
)
# "As an AI agent, I ..." is an honest disclosure and no residue.
_SPOKEN: Final = re.compile(
    r"\bas an? (?:ai|artificial intelligence|large) (?:language )?model,? i\b"
    r"|\bi (?:do not|don't) have access to (?:your|the) (?:codebase|file system|files)\b|\bmy knowledge cutoff\b",
    re.IGNORECASE,
)
_THING: Final = (
    r"(?:pr|pull request|commit|merge request|issue)(?: (?:description|message|title|body|summary|text))|description"
)
_PREAMBLE: Final = re.compile(
    r"\W*(?:sure|certainly|of course|absolutely)(?: thing)?[!,.:]+ +(?:here(?:'s| is| are)|below is)\b"
    rf"|\W*here(?:'s| is) (?:an?|the|your) (?:[\w-]+ ){{0,4}}(?:{_THING})\b.{{0,80}}:\**\s*$",
    re.IGNORECASE,
)
_CODE_PREAMBLE: Final = re.compile(
    r"\W*(?:sure|certainly|of course)[!,.] +here(?:'s| is) "
    r"|\W*here(?:'s| is) the (?:updated|corrected|fixed|modified) (?:code|file|version)\b.{0,60}:\s*$",
    re.IGNORECASE,
)
# Projects about language models: by their name, or by a changed path, where a database may have a cursor.
_MODEL_NAMES: Final = (
    r"llms?|gpt\d*|chatgpt|openai|anthropic|claude|gemini|copilot|llama\w*|ollama|vllm|mistral|langchain|langgraph|prompts?"
    r"|chatbots?|hugging-?face|genai|aider|codex|litellm|sglang|deepseek|qwen|mcp"
)
_ABOUT_PATH: Final = re.compile(rf"(?:^|[^a-z])(?:{_MODEL_NAMES})(?:$|[^a-z])")
_ABOUT_NAME: Final = re.compile(
    rf"(?:^|[^a-z])(?:{_MODEL_NAMES}|ai|agents?|agentic|assistants?|transformers|rag|inference|cursor)(?:$|[^a-z])"
)
# Each match of debris or speech holds one of these, in lower case: looking for them first is fast.
_HINTS: Final = (
    *("oaicite", "\u3010", "antml:", "function_calls", "sandbox:/mnt", "<|im_", "attached_file", "grok_card"),
    *(f"turn{digit}" for digit in range(10)),
    *("model", "have access to", "knowledge cutoff"),
)
_CODE_HINTS: Final = (*_HINTS[:-3], "here is", "here's")
_PROSE: Final = tuple(
    f".{end}" for end in ("md", "markdown", "mdx", "rst", "txt", "adoc", "jsonl", "json", "csv", "ipynb", "po", "lock")
)
_QUOTED: Final = re.compile(r"`[^`]*`|\"[^\"]*\"|\u201c[^\u201d]*\u201d")
LONGEST_LINE: Final = 2000


def prompt_residue(facts: Facts) -> Reading:
    """Read whether an assistant's words to its user are left in: 1 or 0."""
    pull = facts.pull_request
    if pull is None or (pull.body is None and pull.files is None):
        return unknown("neither the description nor the changed files were read")
    if about_models(facts):
        return unknown("the project is about language models, where such text is its business")
    place = next(_places(facts), None)
    if place is not None:
        return Reading(1.0, 1, "Text that an assistant speaks to its user is left in.", place)
    patches = [] if pull.files is None else [file.patch for file in pull.files]
    if pull.body is None or pull.files is None or pull.truncated or None in patches:
        return unknown("not all of the description and the patches was read")
    return Reading(0.0, len(patches) + 1, "No text that an assistant speaks to its user was found.")


def about_models(facts: Facts) -> bool:
    """Tell whether the repository's name or the changed paths speak of language models."""
    pull = facts.pull_request
    paths = [] if pull is None or pull.files is None else [file.path.lower() for file in pull.files[:300]]
    # A stray configuration file of an agent does not make a project one about models.
    inner = [path for path in paths if "/" in path and not path.startswith(".")]
    return _ABOUT_NAME.search((facts.repo or "").lower()) is not None or any(map(_ABOUT_PATH.search, inner))


def _places(facts: Facts) -> Iterator[str]:
    pull, room = facts.pull_request, facts.repository
    if pull is None:
        return
    if pull.title and spoken(pull.title, first=True):
        yield "title"
    own = residual(pull.body, templates=room.templates, common_lines=room.common_lines)
    for at, line in enumerate(own.lines):
        if spoken(_QUOTED.sub(" ", line.text), first=at == 0):
            yield f"description, line {line.number}"
    for at, commit in enumerate(pull.commits or (), 1):
        for number, text in enumerate((commit.message or "")[:65_536].split("\n")):
            if not text.startswith((">", "    ")) and spoken(_QUOTED.sub(" ", text), first=number == 0):
                yield f"commit {at}"
    yield from _added(pull)


def _added(pull: PullRequest) -> Iterator[str]:
    for file in pull.files or ():
        if file.patch is None or file.path.lower().endswith(_PROSE) or is_test(file.path):
            continue
        low = file.patch.lower()
        hints = [hint for hint in _CODE_HINTS if hint in low]
        for number, text in scan(file.patch).added if hints else ():
            if len(text) > LONGEST_LINE or not any(hint in text.lower() for hint in hints):
                continue
            if _DEBRIS.search(text) or _CODE_PREAMBLE.match(text):
                yield f"{file.path}:{number}"


def spoken(line: str, *, first: bool) -> bool:
    """Tell whether a line of prose is an assistant's to its user; a preamble counts on the first line only."""
    low = line.lower()
    if any(hint in low for hint in _HINTS) and (_DEBRIS.search(line) or _SPOKEN.search(line)):
        return True
    return first and _PREAMBLE.match(line) is not None
