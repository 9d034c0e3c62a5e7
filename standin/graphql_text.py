"""What does a GraphQL document ask for? Reads operations, selections and arguments; knows no schema."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

_TOKEN: Final = re.compile(
    r'(?P<skip>[\s,\ufeff]+|\#[^\n]*)|(?P<string>"(?:[^"\\\n]|\\.)*")|(?P<number>-?\d+(?:\.\d+)?)'
    r"|(?P<name>[A-Za-z_]\w*)|(?P<mark>\.\.\.|[{}()\[\]:!$=@|&])"
)


class NotGraphQL(ValueError):
    """A document that cannot be read; the message says where."""


@dataclass(slots=True)
class Field:
    """One thing asked for. ``on`` is the type condition it stands under."""

    name: str
    key: str
    arguments: dict[str, Any] = field(default_factory=dict)
    fields: list["Field"] = field(default_factory=list)
    on: str | None = None


def asked(text: str, variables: Mapping[str, Any]) -> tuple[str, list[Field]]:
    """Read the one operation of a document: ``query`` or ``mutation``, and its fields with variables filled in.

    Raises
    ------
    NotGraphQL
        When the text is not a document with one operation.
    """
    reader = _Reader(list(_tokens(text)), variables)
    found: tuple[str, list[Field]] | None = None
    while reader.peek():
        kind, fields = reader.definition()
        if kind != "fragment":
            found = kind, fields
    if found is None:
        raise NotGraphQL("A query attribute must be specified and must be a string.")
    return found[0], reader.spread(found[1])


def _tokens(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise NotGraphQL(f"Unexpected character at {at}")
        at = match.end()
        if match.lastgroup != "skip":
            yield match.group()


class _Reader:
    def __init__(self, tokens: list[str], variables: Mapping[str, Any]) -> None:
        self.tokens = tokens
        self.at = 0
        self.variables = dict(variables)
        self.fragments: dict[str, list[Field]] = {}

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, wanted: str | None = None) -> str:
        token = self.peek()
        if not token or (wanted is not None and token != wanted):
            raise NotGraphQL(f"Expected {wanted or 'more'}, found {token or 'the end'}")
        self.at += 1
        return token

    def accept(self, wanted: str) -> bool:
        if self.peek() != wanted:
            return False
        self.at += 1
        return True

    def definition(self) -> tuple[str, list[Field]]:
        if self.peek() == "{":
            return "query", self.selection(None)
        kind = self.take()
        if kind == "fragment":
            name = self.take()
            self.take("on")
            self.fragments[name] = self.selection(self.take())
            return kind, []
        if kind not in {"query", "mutation"}:
            raise NotGraphQL(f"Expected an operation, found {kind}")
        if self.peek() not in {"(", "{"}:
            self.take()
        if self.accept("("):
            while not self.accept(")"):
                self.declare()
        return kind, self.selection(None)

    def declare(self) -> None:
        self.take("$")
        name = self.take()
        self.take(":")
        while self.peek() not in {"=", "$", ")"}:
            self.take()
        if self.accept("="):
            default = self.value()
            self.variables.setdefault(name, default)

    def selection(self, on: str | None) -> list[Field]:
        self.take("{")
        fields: list[Field] = []
        while not self.accept("}"):
            if not self.accept("..."):
                fields.append(self.field(on))
            elif self.accept("on"):
                fields += self.selection(self.take())
            elif self.peek() == "{":
                fields += self.selection(on)
            else:
                fields.append(Field("...", self.take()))
        return fields

    def field(self, on: str | None) -> Field:
        key = name = self.take()
        if self.accept(":"):
            name = self.take()
        arguments = {}
        if self.accept("("):
            while not self.accept(")"):
                argument = self.take()
                self.take(":")
                arguments[argument] = self.value()
        fields = self.selection(None) if self.peek() == "{" else []
        return Field(name, key, arguments, fields, on)

    def value(self) -> Any:
        token = self.take()
        if token == "$":  # noqa: S105  # a mark of the language
            return self.variables.get(self.take())
        if token == "[":  # noqa: S105
            items = []
            while not self.accept("]"):
                items.append(self.value())
            return items
        if token == "{":  # noqa: S105
            members = {}
            while not self.accept("}"):
                name = self.take()
                self.take(":")
                members[name] = self.value()
            return members
        return _scalar(token)

    def spread(self, fields: list[Field]) -> list[Field]:
        spread: list[Field] = []
        for one in fields:
            if one.name == "...":
                spread += self.spread(self.fragments.get(one.key, []))
            else:
                one.fields = self.spread(one.fields)
                spread.append(one)
        return spread


def _scalar(token: str) -> Any:
    if token.startswith('"'):
        return token[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    if token.lstrip("-")[:1].isdigit():
        return float(token) if "." in token else int(token)
    return {"true": True, "false": False, "null": None}.get(token, token)
