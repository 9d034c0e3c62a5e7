"""Which added files are left over from making the change, and belong to nobody's project?

The table is kept by hand; each kind has its worth in files. Editor debris is typical of newcomers, so it is worth
little. A changed file never counts, nor one that the change is about.
"""

import math
import re
from dataclasses import dataclass
from typing import Final

from triage.evidence import Reading, unknown
from triage.facts import ChangedFile, Facts
from triage.patch import is_test
from triage.prose import residual


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of leftover: what it is called, its worth, and the paths (lower case) that are it."""

    name: str
    worth: float
    paths: re.Pattern[str]


_NOTE: Final = r"\.(?:md|markdown|txt|mdx)$"
_SCRIPT: Final = r"\.(?:py|js|mjs|cjs|ts|sh|rb|go|php|pl)$"

KINDS: Final[tuple[Kind, ...]] = (
    Kind(
        "agent configuration",
        1.0,
        re.compile(
            r"(?:^|/)(?:claude(?:\.local)?|agents?|gemini)\.md$|^(?:codex|copilot|cursor|warp|crush)\.md$"
            r"|(?:^|/)\.(?:cursorrules|windsurfrules|clinerules|roorules|goosehints|mcp\.json|aider[\w.-]*)$"
            r"|(?:^|/)\.(?:cursor|claude|windsurf|clinerules|roo|kiro|codex|junie|trae|augment|gemini|specstory|taskmaster"
            r"|agents?|aider[\w.]*|continue|amazonq|openhands|qoder|factory|serena|bmad-core|specify)/"
            r"|(?:^|/)memory-bank/|(?:^|/)copilot-instructions\.md$"
        ),
    ),
    Kind(
        "plan or summary",
        1.0,
        re.compile(
            r"(?:^|/)(?:[\w.-]*[_-])?(?:implementation|refactor(?:ing)?|fix(?:es)?|changes?|bug(?:fix)?|pr|task|feature"
            r"|migration|final|session|work|test(?:ing)?|verification|validation|completion|optimization|debug|agent|ai"
            r"|integration|solution|issue|security|performance|code)[_-]?(?:[\w.-]+[_-])?"
            rf"(?:plan|summary|report|notes|analysis|status|results|progress|checklist){_NOTE}"
            r"|(?:^|/)(?:plan|todo_?list|progress|handoff|hand_off|next_steps|task_?list|scratchpad|investigation|findings"
            r"|walkthrough|before_after|quick_reference|implementation|pull_request|pr_body|pr_description|commit_?msg"
            rf"|commit_message){_NOTE}"
        ),
    ),
    Kind("prompt", 1.0, re.compile(rf"^(?:[\w-]*[_-])?prompts?{_NOTE}|\.prompt(?:\.(?:md|txt))?$")),
    Kind(
        "backup",
        0.5,
        re.compile(
            r"\.(?:bak|backup|orig|rej|old|save|tmp|temp)\d*$|~$|\.(?:bak|backup|orig|old)\.\w+$|[_-](?:bak|orig)\.\w+$"
            r"| copy(?: \d+)?\.\w+$| \(\d\)\.\w+$"
        ),
    ),
    Kind(
        "scratch file",
        0.5,
        re.compile(
            r"^(?:test|debug|fix|check|verify|tmp|temp|scratch|quick|try|demo|run|patch|apply|analyze|reproduce|repro|simple"
            r"|minimal|standalone|manual)_(?:[\w-]*(?:fix|issue|bug|debug|tmp|temp|script|changes?|simple|quick|manual"
            rf"|imports?|patch|final|v\d|\d+)){_SCRIPT}"
            rf"|^(?:debug|scratch|tmp|temp|repro|quick_test|test_script)(?:[_-]?\w{{0,20}})?{_SCRIPT}"
            r"|^(?:\w+[_-])?(?:output|results?|error|nohup)\.(?:txt|log|out)$|^[\w-]+\.(?:patch|diff|rej)$"
        ),
    ),
    Kind(
        "editor debris",
        0.25,
        re.compile(
            r"(?:^|/)(?:\.ds_store|thumbs\.db|desktop\.ini)$|(?:^|/)(?:\.idea|\.vs|\.history|__pycache__|\.pytest_cache)/"
            r"|\.(?:pyc|pyo|swp|swo)$|\.iml$|\.code-workspace$"
        ),
    ),
)

# Where a project keeps documents of its own, and notes for its releases.
_DOCUMENTS: Final = frozenset(
    {"doc", "docs", "documentation", "wiki", "rfc", "rfcs", "adr", "design", "proposals", "blog", "content", "posts"}
    | {"changes", "changelog", "changelog.d", "news", "newsfragments", "templates", "src", "site", "website", "book"}
)
_ADDED: Final = re.compile(r"@@ -0,0 \+")
LONGEST_PATH: Final = 200  # characters from the end
MOST_FILES: Final = 3000  # GitHub lists no more


def stray_files(facts: Facts) -> Reading:
    """Count added files that look left over: a plan is 1, a backup one half, debris of an editor one quarter."""
    pull = facts.pull_request
    if pull is None or pull.files is None:
        return unknown("the changed files were not read")
    added = [file for file in pull.files[:MOST_FILES] if _is_added(file)]
    alike = [(file, kind) for file in added if (kind := kind_of(file.path)) is not None]
    about = not pull.truncated and len(alike) == len(pull.files)  # such a change is about these files
    said, title = _said(facts), (pull.title or "").lower()
    found = {} if about else {_group(f.path, k): k for f, k in alike if not _is_purpose(f.path, k, said, title)}
    if not found and pull.truncated:
        return unknown("not every changed file was read", len(added))
    if not found and any(file.status is None and file.patch is None for file in pull.files):
        return unknown("which files are new was not read", len(added))
    if not found:
        return Reading(0.0, len(added), f"None of {len(added)} added files looks left over from the work.")
    kinds = ", ".join(sorted({kind.name for kind in found.values()}))
    files = "1 file looks" if len(found) == 1 else f"{len(found)} files look"
    sentence = f"{files} left over from the work ({kinds}), of {len(added)} added."
    return Reading(math.fsum(kind.worth for kind in found.values()), len(added), sentence, next(iter(found)))


def kind_of(path: str) -> Kind | None:
    """Return the kind of leftover that a path looks like, if any."""
    low = path.lower()[-LONGEST_PATH:]
    kind = next((kind for kind in KINDS if kind.paths.search(low)), None)
    if kind is None:
        return None
    folders, _, name = path.rpartition("/")
    parts = folders.lower().split("/") if folders else []
    if kind.name in {"plan or summary", "prompt"}:
        # Written large or at the root, and not among the project's own documents.
        own = not _DOCUMENTS.isdisjoint(parts) or any(part.startswith(".") for part in parts)
        large = name.rpartition(".")[0].isupper()
        return None if own or (parts and not large) else kind
    if kind.name == "agent configuration":
        return None if "templates" in parts or ("docs" in parts and name[:1] != ".") else kind
    return None if parts and is_test(path) else kind  # test data is meant to be odd


def _is_added(file: ChangedFile) -> bool:
    return file.status == "added" or (file.status is None and _ADDED.match(file.patch or "") is not None)


def _group(path: str, kind: Kind) -> str:
    """Name a folder of debris once, and a file by its path."""
    match = kind.paths.search(path.lower())
    return path[: match.end()] if match and match[0].endswith("/") else path


def _said(facts: Facts) -> str:
    pull, room = facts.pull_request, facts.repository
    if pull is None:
        return ""
    own = residual(pull.body, templates=room.templates, common_lines=room.common_lines)
    return f"{pull.title or ''}\n{own.text}".lower()


def _is_purpose(path: str, kind: Kind, said: str, title: str) -> bool:
    """Tell whether title or description name the file: in full, its dotted folder, or by a name of several words.

    One word alone counts in the title only: a tool's name stands in many a footer.
    """
    *folders, name = path.lower().split("/")
    words = re.sub(r"[_-]+", " ", name.rpartition(".")[0])
    names = [name, *(part for part in folders if part.startswith(".")), *([words] if " " in words else [])]
    if any(_names(said, one) for one in names):
        return True
    tool = (words or name).strip(".") if not folders else next((part.strip(".") for part in folders), "")
    return kind.name == "agent configuration" and len(tool) > 3 and _names(title, tool)  # noqa: PLR2004


def _names(text: str, name: str) -> bool:
    return len(name) > 3 and re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text) is not None  # noqa: PLR2004
