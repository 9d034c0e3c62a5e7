"""What does a YAML text hold, and where does each key and value stand?

A deliberately small YAML: one document of mappings, lists and plain values. Anchors, aliases, tags, deep nesting and
big texts are refused, so that no text costs more than its size; every problem names a line and a column.
"""

import re
from dataclasses import dataclass, field
from typing import Final, Protocol

import yaml

BYTES_MOST: Final = 65_536
DEPTH_MOST: Final = 8
PROBLEMS_MOST: Final = 50

Path = tuple[str | int, ...]
Value = None | bool | int | float | str | list["Value"] | dict[str, "Value"]

_WHOLE: Final = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,8})")  # 010, 1_000 and 9:30 are numbers to YAML 1.1 only
_SAFE_WORD: Final = re.compile(r"[A-Za-z0-9_.-]{1,40}")
_UNREADABLE: Final = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """What is wrong, at which line and column (both from 1). Nothing of a stranger's text but plain words is quoted."""

    line: int
    column: int
    message: str


class _Mark(Protocol):
    line: int
    column: int


class MarkedError(ValueError):
    """A text that is no such YAML; ``problem`` says where and why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


@dataclass(slots=True)
class Marked:
    """The values of a text, with the place of each key and value, and the problems that did not stop the reading."""

    value: Value = None
    keys: dict[Path, tuple[int, int]] = field(default_factory=dict)
    values: dict[Path, tuple[int, int]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def read(text: str | bytes) -> Marked:
    """Read a text of at most 64 KiB.

    Raises
    ------
    MarkedError
        When the text is no YAML of this small kind. Duplicate and non-text keys do not stop the reading.
    """
    decoded = _decode(text)
    loader = _Loader(decoded)
    try:
        root = loader.get_single_node()
    except MarkedError:
        raise
    except yaml.MarkedYAMLError as error:
        place = _place(error.problem_mark or error.context_mark)
        raise MarkedError(Problem(*place, _in_words(error.problem or ""))) from None
    except (ValueError, OverflowError):  # PyYAML hands an impossible escape or version to chr() and int()
        raise MarkedError(Problem(*_place(loader.get_mark()), "not YAML: a number that no text can hold")) from None
    finally:
        loader.dispose()
    marked = Marked()
    if root is not None:
        marked.value = _value(root, (), marked)
    return marked


def word(text: str) -> str | None:
    """Return ``text`` where it is a plain word that can be repeated anywhere, else ``None``."""
    return text if _SAFE_WORD.fullmatch(text) else None


def _decode(text: str | bytes) -> str:
    if isinstance(text, str):
        encoded, decoded = text.encode("utf-8", "surrogatepass"), text
    else:
        encoded, decoded = text, ""
    if len(encoded) > BYTES_MOST:
        raise MarkedError(Problem(1, 1, f"the file has over {BYTES_MOST:,} bytes"))
    if isinstance(text, bytes):
        try:
            decoded = text.decode("utf-8")
        except UnicodeDecodeError as error:
            before = text[: error.start].decode("utf-8")
            raise MarkedError(Problem(*_end(before), "not UTF-8: save the file as UTF-8")) from None
    decoded = decoded.removeprefix("\ufeff")
    found = _UNREADABLE.search(decoded)
    if found:
        what = f"a control character (U+{ord(found[0]):04X})"
        raise MarkedError(Problem(*_end(decoded[: found.start()]), f"{what} stands here: remove it"))
    return decoded


def _end(before: str) -> tuple[int, int]:
    """Return the place right after ``before``."""
    lines = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return len(lines), len(lines[-1]) + 1


def _place(mark: _Mark | None) -> tuple[int, int]:
    return (1, 1) if mark is None else (mark.line + 1, mark.column + 1)


def _in_words(problem: str) -> str:
    if r"'\t'" in problem:
        return "a tab stands here: YAML is indented with spaces"
    if "another document" in problem or "<document start>" in problem:
        return "only one document is read: remove what follows the first one"
    if problem.startswith("mapping values are not allowed"):
        return "not YAML: a colon stands where none can; put a value that holds a colon in quotes"
    plain = re.sub(r"[^ -~]", "?", problem)[:160]
    return f"not YAML: {plain or 'the text cannot be read'}"


class _Loader(yaml.SafeLoader):
    """Composes nodes only, never constructs; refuses what makes a YAML text bigger than it looks."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: yaml.Event = self.peek_event()  # type: ignore[no-untyped-call]  # the stubs leave the parser out
        place = _place(event.start_mark)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise MarkedError(Problem(*place, "anchors and aliases (& and *) are not read here: write the value out"))
        if getattr(event, "tag", None) is not None:
            raise MarkedError(Problem(*place, "tags (!) are not read here: write the plain value"))
        if self.depth >= DEPTH_MOST:
            raise MarkedError(Problem(*place, f"nested deeper than {DEPTH_MOST} levels"))
        self.depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1


def _value(node: yaml.Node, path: Path, marked: Marked) -> Value:
    marked.values[path] = _place(node.start_mark)
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, path, marked)
    if isinstance(node, yaml.SequenceNode):
        return [_value(child, (*path, index), marked) for index, child in enumerate(node.value)]
    return _scalar(node)


def _mapping(node: yaml.MappingNode, path: Path, marked: Marked) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for key_node, value_node in node.value:
        place = _place(key_node.start_mark)
        key = _scalar(key_node) if isinstance(key_node, yaml.ScalarNode) else None
        if not isinstance(key, str) or _UNREADABLE.search(key):
            marked.problems.append(Problem(*place, "a key must be a plain word"))
        elif key in found:
            line = marked.keys[*path, key][0]
            name = word(key)
            marked.problems.append(
                Problem(*place, f"{f'the key {name}' if name else 'this key'} stands twice: first in line {line}")
            )
        else:
            marked.keys[*path, key] = place
            found[key] = _value(value_node, (*path, key), marked)
        if len(marked.problems) >= PROBLEMS_MOST:
            break
    return found


def _scalar(node: yaml.Node) -> bool | int | float | str | None:
    """Return a scalar's value. A plain one that is neither text, number nor boolean (a date) comes back as NaN."""
    text = str(node.value)
    if getattr(node, "style", None) is not None:  # quoted or a block: text, whatever it looks like
        return text
    kind = node.tag.rpartition(":")[2]
    if kind in {"str", "merge", "value"}:
        return text
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() in {"yes", "true", "on"}
    if kind == "int" and _WHOLE.fullmatch(text):
        return int(text)
    return float("nan")
