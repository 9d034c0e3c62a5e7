"""In which words is a value of the policy file refused, and at which place?

Pydantic finds what is wrong; a maintainer needs what was expected instead. Nothing of the file is repeated here but
plain words, because a stranger's pull request may carry the file.
"""

import re
from difflib import get_close_matches
from typing import Final

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from triage.marked_yaml import Marked, Path, Problem, word


def problem(error: ErrorDetails, marked: Marked, root: type[BaseModel]) -> Problem:
    """Turn one error on a text that ``root`` refused into words at a place."""
    path: Path = error["loc"]
    if error["type"] == "extra_forbidden":
        return Problem(*marked.keys[path], _unknown_key(path, root))
    if error["type"] == "same_label":
        path = (*path, error["ctx"]["key"])
    # A default that clashes with a value has no place of its own: its section has.
    place = marked.values.get(path) or marked.values[path[:-1]]
    name = ".".join(part for part in path if isinstance(part, str))
    name += "".join(f", entry {part + 1}" for part in path if isinstance(part, int))
    return Problem(*place, f"{name}: {_expected(error)}")


def _unknown_key(path: Path, root: type[BaseModel]) -> str:
    known = _keys_of(path[:-1], root)
    key = word(str(path[-1]))
    named = f"unknown key {key}" if key else "unknown key"
    close = get_close_matches(key, known, n=1) if key else []
    return f"{named}: did you mean {close[0]}?" if close else f"{named}; the keys here are {', '.join(known)}"


def _keys_of(path: Path, root: type[BaseModel]) -> list[str]:
    section = root
    for part in path:
        section = type(getattr(section(), str(part)))
    return list(section.model_fields)


def _expected(error: ErrorDetails) -> str:
    kind, bounds = error["type"], error.get("ctx", {})
    if kind == "string_type":
        quoted = isinstance(error["input"], bool | int | float)
        return "expected text; put the value in quotes" if quoted else "expected text"
    if kind == "literal_error":
        return _expected_one_of(error)
    if kind in _EXPECTED:
        return _EXPECTED[kind].format_map(bounds)
    return error["msg"].removeprefix("Value error, ")


def _expected_one_of(error: ErrorDetails) -> str:
    choices = {one.lower(): one for one in re.findall(r"'([^']+)'", str(error["ctx"]["expected"]))}
    given = word(str(error["input"])) or ""
    close = get_close_matches(given.lower(), choices, n=1)
    hint = f"; did you mean {choices[close[0]]}?" if close else ""
    return f"expected one of {', '.join(choices.values())}{hint}"


_EXPECTED: Final = {
    "int_type": "expected a whole number",
    "bool_type": "expected true or false",
    "tuple_type": "expected a list",
    "model_type": "expected keys below it; leave it out for the defaults",
    "greater_than_equal": "expected {ge} or more",
    "less_than_equal": "expected {le} or less",
    "too_long": "expected at most {max_length} entries",
    "string_unicode": "expected text without broken characters",
}
