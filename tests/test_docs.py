"""Do the pages say what the code does: every signal, key, command, setting, lane, path, table and permission?"""

import ast
import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
import typer.main
import yaml
from pydantic import BaseModel
from pydantic_core import PydanticUndefined
from starlette.routing import BaseRoute, Route
from typer.core import TyperGroup

from models.learned.classifier import load
from models.recorded import tables
from triage import cli, decide, facts, metrics, policy
from triage.evaluate import evaluate, verdict
from triage.settings import PREFIX, Settings
from triage.signals import ALL
from webhooks.app import create_app

ROOT: Final = Path(__file__).parents[1]
DOCS: Final = ROOT / "docs"
PAGES: Final = sorted(DOCS.rglob("*.md"))
TEXTS: Final = [*PAGES, *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md"))]
MODULES: Final = sorted(
    path
    for room in ("webhooks", "triage", "models", "standin", "bench", "tests")
    for path in (ROOT / room).rglob("*.py")
    if "node_modules" not in path.parts
)
FENCED: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK: Final = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)")


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    """Return the fenced blocks of one language."""
    return [body for told, body in FENCED.findall(text) if told == language]


def sections(name: str, level: int) -> dict[str, str]:
    """Return heading -> text of the sections of one level; backticks around a heading are left out."""
    text = FENCED.sub("", page(name))
    parts = re.split(rf"^{'#' * level} (.+)$", text, flags=re.MULTILINE)
    assert len(parts[1::2]) == len(set(parts[1::2])), f"{name}: a heading stands twice"
    return dict(zip((head.strip("`") for head in parts[1::2]), parts[2::2], strict=True))


def slugs(path: Path) -> set[str]:
    """Return the anchors that GitHub gives to a page's headings."""
    text = FENCED.sub("", path.read_text(encoding="utf-8"))
    heads = re.findall(r"^#{1,6} (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.strip().lower()).replace(" ", "-") for head in heads}


# --- what the code has, the pages have ----------------------------------------


def test_every_signal_has_its_heading_and_its_line() -> None:
    told = sections("signals.md", 3)
    assert set(told) == {signal.name for signal in ALL}
    for signal in ALL:
        heads = " and ".join(signal.heads) or "no head"
        subjects = ", ".join(subject.replace("_", " ") for subject in signal.subjects)
        line = f"*{signal.family} · {heads} · grade {signal.grade} · {subjects}*"
        assert line in told[signal.name], f"{signal.name}: write {line}"
        for label in ("**Reads:**", "**Does not mean:**", "**Clears:**"):
            assert label in told[signal.name], f"{signal.name} lacks {label}"


def policy_keys(model: type[BaseModel] = policy.Policy, before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (dotted key, default) of every value of the policy file."""
    for name, field in model.model_fields.items():
        if isinstance(field.default, BaseModel):
            yield from policy_keys(type(field.default), f"{before}{name}.")
        else:
            yield before + name, list(field.default) if isinstance(field.default, tuple) else field.default


def test_every_policy_key_has_its_heading_and_its_default() -> None:
    told = sections("policy.md", 3)
    keys = dict(policy_keys())
    assert set(told) == set(keys)
    for key, default in keys.items():
        written = re.search(r"^Default: `(.*)`\.?$", told[key], flags=re.MULTILINE)
        assert written, f"{key}: its default is not written"
        assert yaml.safe_load(written[1]) == default, key


def test_every_example_of_a_policy_is_valid() -> None:
    examples = blocks(page("policy.md"), "yaml")
    assert len(examples) >= len(list(policy_keys()))
    for example in examples:
        policy.parse(example, source="docs/policy.md")


def test_every_command_has_its_heading_options_and_example() -> None:
    group = typer.main.get_command(cli.app)
    assert isinstance(group, TyperGroup)
    told = sections("commands.md", 2)
    assert {head for head in told if head.startswith("triage ")} == {f"triage {name}" for name in group.commands}
    examples = "".join(blocks(page("commands.md"), "console"))
    for name, command in group.commands.items():
        assert f"triage {name}" in examples, f"{name}: no example"
        for param in command.params:
            if param.param_type_name == "option" and param.name != "help":
                assert f"- `{param.opts[0]}" in told[f"triage {name}"], f"{name}: {param.opts[0]} is not explained"


def test_every_setting_has_its_heading_and_its_default() -> None:
    told = sections("settings.md", 3)
    fields = {PREFIX + name.upper(): field for name, field in Settings.model_fields.items()}
    assert set(told) == {*fields, f"{PREFIX}ENV_FILE"}
    for name, field in fields.items():
        assert field.default is not PydanticUndefined
        line = "Default: none." if field.default is None else f"Default: `{field.default}`."
        assert line in told[name].splitlines(), f"{name}: write {line}"


def test_every_lane_has_its_heading() -> None:
    assert set(sections("lanes.md", 2)) >= set(decide.LANES)


def paths(routes: Iterable[BaseRoute]) -> Iterator[str]:
    """Yield "METHOD /path" of every route, those of included routers too; mounted files have no method."""
    for route in routes:
        included = getattr(route, "original_router", None)
        if included is not None:
            yield from paths(included.routes)
        elif isinstance(route, Route):
            yield from (f"{method} {route.path}" for method in (route.methods or set()) - {"HEAD"})


def test_every_path_has_its_heading() -> None:
    told = {head for head in sections("api.md", 2) if head.split()[0] in {"GET", "POST"}}
    assert told == set(paths(create_app(Settings()).routes))


def test_every_metric_is_explained() -> None:
    source = Path(metrics.__file__).read_text(encoding="utf-8")
    names = set(re.findall(r'"(livefirst_\w+)"', source))
    assert names
    missing = {name for name in names if f"`{name}" not in page("operations.md")}
    assert not missing


def test_every_table_is_named_where_privacy_is_explained() -> None:
    names = {row.__table__.name for row in vars(tables).values() if hasattr(row, "__table__")}
    told = set(re.findall(r"^\| `(\w+)` \|", page("privacy.md"), flags=re.MULTILINE))
    assert told == names


def test_every_permission_and_event_of_the_app_is_explained() -> None:
    manifest = yaml.safe_load((ROOT / "app.yml").read_text(encoding="utf-8"))
    rows = dict(re.findall(r"^\| `(\w+)` \| (read|write) \| \S.+\|$", page("operations.md"), flags=re.MULTILINE))
    assert rows == manifest["default_permissions"]
    events = set(re.findall(r"^- `(\w+)`: \S", page("operations.md"), flags=re.MULTILINE))
    assert events == set(manifest["default_events"])


def keys_of(value: object) -> object:
    """Reduce JSON to its keys; of a list, the keys of its first entry."""
    if isinstance(value, dict):
        return {key: keys_of(child) for key, child in value.items()}
    return [keys_of(value[0])] if isinstance(value, list) and value and isinstance(value[0], dict) else None


def test_the_example_verdict_has_the_keys_of_a_real_one() -> None:
    given, told = (json.loads(block) for block in blocks(page("verdict.md"), "json"))
    seen = facts.parse(json.dumps(given))
    assert seen.as_of is not None
    assert seen.as_of < datetime.now(UTC)
    assert keys_of(told) == keys_of(verdict(evaluate(seen, policy.DEFAULT, load())))


# --- the pages themselves -----------------------------------------------------


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_link_is_broken(path: Path) -> None:
    text = FENCED.sub("", path.read_text(encoding="utf-8"))
    for target in LINK.findall(text):
        if target.startswith(("https://", "http://", "mailto:")):
            continue
        name, _, anchor = target.partition("#")
        there = (path.parent / name).resolve() if name else path
        assert there.exists(), f"{target} is broken"
        assert there.is_relative_to(ROOT), f"{target} leaves the repository"
        assert not anchor or anchor in slugs(there), f"{target} names no heading"


def test_every_page_is_reached_from_the_first_one() -> None:
    linked = {(DOCS / target.partition("#")[0]).resolve() for target in LINK.findall(page("index.md"))}
    assert {path.resolve() for path in DOCS.glob("*.md")} - linked == {(DOCS / "index.md").resolve()}


def test_the_readme_leads_to_the_first_page() -> None:
    assert "docs/index.md" in LINK.findall((ROOT / "README.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_says_what_it_answers_or_promises(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    promise = (ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0]
    assert promise.endswith((".", "?", "!")), f"{path.name}: its docstring begins with no sentence"


def test_ci_runs_what_the_readme_tells_a_reader_to_run() -> None:
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert "make check" in run
    assert "make test" in run
    told = re.findall(r"^(?:\$ )?(make \w+)", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert {"make demo", "make test"} <= set(told)


def test_the_changelog_has_a_place_for_what_is_not_released() -> None:
    assert "\n## [Unreleased]\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
