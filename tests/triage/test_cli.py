"""Every command as a user runs it: what goes to stdout, what to stderr, and with which code it ends."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer.main
from made_scores import pull
from typer.core import TyperGroup
from typer.testing import CliRunner

from models.learned.classifier import load
from models.recorded.database import Database
from models.recorded.deliveries import Arrival, Deliveries
from models.recorded.store import Store
from models.recorded.tables import ThreadRow
from triage.cli import app
from triage.evaluate import evaluate
from triage.facts import to_json
from triage.policy import DEFAULT
from triage.record import record_thread

COMMANDS = {"serve", "work", "demo", "judge", "explain", "replay", "check", "deliveries"}
GOOD = to_json(pull())


@dataclass(frozen=True, slots=True)
class Told:
    """How a command ended and what it said."""

    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Told]


@pytest.fixture
def triage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in an empty folder, with settings of its own and nothing of the tester's."""
    for name in [name for name in os.environ if name.startswith("LIVEFIRST_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("LIVEFIRST_DATABASE_URL", f"sqlite:///{tmp_path / 'livefirst.db'}")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, stdin: str = "", **env: str) -> Told:
        result = CliRunner(env=env).invoke(app, arguments, input=stdin, prog_name="triage")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Told(result.exit_code, result.stdout, result.stderr)

    return run


# --- help and wrong use ---------------------------------------------------------------


def test_exactly_the_commands_that_work_are_listed() -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    assert set(group.commands) == COMMANDS
    for name, command in group.commands.items():
        assert command.help, name
        assert (command.epilog or "").startswith("Example: "), name
        assert f"triage {name}" in (command.epilog or ""), name


def test_help_shows_the_commands_and_each_its_example(triage: Run) -> None:
    told = triage("--help")
    assert told.returncode == 0
    assert all(re.search(rf"^\s+{name}\b", told.stdout, re.MULTILINE) for name in COMMANDS)
    one = triage("judge", "-h")
    assert (one.returncode, one.stderr) == (0, "")
    assert "Example: triage judge" in one.stdout


def test_the_program_itself_ends_with_the_commands_code(tmp_path: Path) -> None:
    """As a process, with a pipe that closes early, and with wrong use."""
    (tmp_path / "facts.jsonl").write_text(f"{GOOD}\n" * 200, encoding="utf-8")
    command = [sys.executable, "-m", "triage", "judge", "facts.jsonl"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        assert json.loads(program.stdout.readline())["number"] == 7
        program.stdout.close()
        assert program.stderr.read() == b""
    wrong = subprocess.run([*command, "--nothing"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (wrong.returncode, wrong.stdout) == (2, "")


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        ["forget"],
        ["judge", "--nothing"],
        ["explain"],
        ["explain", "acme/widgets"],
        ["explain", "acme/widgets#seven"],
        ["explain", "widgets#7"],
        ["replay"],
        ["deliveries", "--state", "lost"],
        ["deliveries", "--limit", "0"],
    ],
    ids=" ".join,
)
def test_wrong_use_ends_with_two_and_says_why_on_stderr(triage: Run, wrong: list[str]) -> None:
    told = triage(*wrong)
    assert told.returncode == 2
    assert told.stderr or not wrong
    if wrong:
        assert told.stdout == ""


def test_settings_that_cannot_be_used_end_with_one_and_are_named(triage: Run) -> None:
    told = triage("deliveries", LIVEFIRST_SETTLE_SECONDS="soon")
    assert (told.returncode, told.stdout) == (1, "")
    assert "LIVEFIRST_SETTLE_SECONDS" in told.stderr


def test_a_worker_needs_a_database_that_can_be_shared(triage: Run) -> None:
    told = triage("work")
    assert told.returncode == 1
    assert "PostgreSQL" in told.stderr


def test_serving_needs_a_webhook_secret(triage: Run) -> None:
    told = triage("serve")
    assert told.returncode == 1
    assert "LIVEFIRST_WEBHOOK_SECRET" in told.stderr


# --- judge ----------------------------------------------------------------------------


def test_judge_reads_a_file_or_stdin_and_writes_one_verdict_a_line(triage: Run, tmp_path: Path) -> None:
    (tmp_path / "facts.jsonl").write_text(f"{GOOD}\n\n{GOOD}\n", encoding="utf-8")
    told = triage("judge", "facts.jsonl")
    assert (told.returncode, told.stderr) == (0, "")
    assert [json.loads(line)["number"] for line in told.stdout.splitlines()] == [7, 7]
    assert triage("judge", stdin=GOOD).stdout == told.stdout.splitlines(keepends=True)[0]
    assert triage("judge").stdout == ""


def test_judge_names_bad_lines_and_judges_the_others(triage: Run, tmp_path: Path) -> None:
    lines = [GOOD, "{", '{"schema": 2}', '{"author": {"merged_here": "many"}}', "[]", GOOD]
    (tmp_path / "facts.jsonl").write_text("\n".join(lines), encoding="utf-8")
    told = triage("judge", "facts.jsonl")
    assert told.returncode == 1
    assert len(told.stdout.splitlines()) == 2
    for number in (2, 3, 4, 5):
        assert f"facts.jsonl:{number}: " in told.stderr
    assert "author.merged_here" in told.stderr
    assert "many" not in told.stderr
    assert "4 lines could not be read" in told.stderr


def test_judge_takes_a_policy(triage: Run, tmp_path: Path) -> None:
    (tmp_path / "triage.yml").write_text("exempt: {users: [someone]}\n", encoding="utf-8")
    told = triage("judge", "--policy", "triage.yml", stdin=GOOD)
    assert json.loads(told.stdout)["lane"] == "exempt"
    (tmp_path / "bad.yml").write_text("mode: loud\n", encoding="utf-8")
    refused = triage("judge", "--policy", "bad.yml", stdin=GOOD)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "bad.yml:1:7: " in refused.stderr
    for absent in (("judge", "none.jsonl"), ("judge", "--policy", "none.yml")):
        told = triage(*absent, stdin=GOOD)
        assert told.returncode == 1
        assert "none." in told.stderr


# --- check ----------------------------------------------------------------------------


def test_check_says_what_a_valid_file_does(triage: Run, tmp_path: Path) -> None:
    (tmp_path / ".github").mkdir()
    (tmp_path / ".github" / "triage.yml").write_text("mode: label\nsensitivity: strict\n", encoding="utf-8")
    told = triage("check")
    assert (told.returncode, told.stderr) == (0, "")
    assert "valid; mode label, sensitivity strict" in told.stdout
    assert triage("check", "--json").stdout == ""


def test_check_lists_every_problem_with_line_and_column(triage: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.yml").write_text("mode: loud\nmodes: 1\nburst:\n  events: none\n", encoding="utf-8")
    told = triage("check", "bad.yml")
    assert told.returncode == 1
    assert [line.split(": ")[0] for line in told.stdout.splitlines()] == [
        "bad.yml:1:7",
        "bad.yml:2:1",
        "bad.yml:4:11",
    ]
    problems = [json.loads(line) for line in triage("check", "bad.yml", "--json").stdout.splitlines()]
    assert [(one["line"], one["column"]) for one in problems] == [(1, 7), (2, 1), (4, 11)]
    assert problems[0].keys() == {"file", "line", "column", "message"}
    absent = triage("check", "none.yml")
    assert (absent.returncode, absent.stdout) == (1, "")
    assert "none.yml" in absent.stderr


# --- explain and deliveries -------------------------------------------------------------


@pytest.fixture
def kept(tmp_path: Path) -> None:
    """Store one judged pull request and three deliveries: done, failed and waiting."""
    database = Database.open(f"sqlite:///{tmp_path / 'livefirst.db'}")
    database.migrate()
    store, deliveries = Store(database), Deliveries(database)
    store.see_repository(1, 5, "acme/widgets", private=False, archived=False)
    record_thread(
        store,
        ThreadRow(repository_id=1, number=7, installation_id=5),
        evaluate(pull({"login": "some\x1b[31mone"}), DEFAULT, load()),
        [],
        now=1000.0,
    )
    arrivals = [Arrival(guid, "issues", "opened", 5, 1, f"thread:1:{n}", b"{}", 1000.0) for n, guid in enumerate("abc")]
    deliveries.keep(arrivals, settle=0.0)
    for subject in ("thread:1:0", "thread:1:1"):
        claim = deliveries.claim(subject, "w", now=2000.0, lease=10.0)
        assert claim is not None
        if subject == "thread:1:0":
            deliveries.finish(claim, {row.id: "noted" for row in claim.deliveries}, now=2000.0)
        else:
            deliveries.give_up(claim, now=2000.0, error="a fault of ours")
    database.close()


@pytest.mark.usefixtures("kept")
def test_explain_shows_every_signal_with_its_weight(triage: Run) -> None:
    told = triage("explain", "Acme/Widgets#7")
    assert (told.returncode, told.stderr) == (0, "")
    assert "acme/widgets#7: unsure" in told.stdout
    for said in ("bullet_share", "p_agent", "Unknown: ", "seed"):
        assert said in told.stdout
    assert "\x1b" not in told.stdout
    verdict = json.loads(triage("explain", "acme/widgets#7", "--json").stdout)
    assert verdict["lane"] == "unsure"
    assert {one["signal"] for one in verdict["evidence"]} >= {"bullet_share"}


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("unknown", ["acme/widgets#8", "acme/gadgets#7"])
def test_explain_says_that_it_knows_no_such_pull_request(triage: Run, unknown: str) -> None:
    told = triage("explain", unknown)
    assert (told.returncode, told.stdout) == (1, "")
    assert f"{unknown} has no verdict yet" in told.stderr


def listed(told: Told) -> dict[str, str]:
    assert told.returncode == 0, told.stderr
    rows: list[dict[str, Any]] = [json.loads(line) for line in told.stdout.splitlines()]
    assert all({"guid", "event", "state", "attempts"} <= row.keys() for row in rows)
    return {row["guid"]: row["state"] for row in rows}


@pytest.mark.usefixtures("kept")
def test_deliveries_lists_what_became_of_each(triage: Run) -> None:
    assert listed(triage("deliveries", "--json")) == {"a": "done", "b": "failed", "c": "waiting"}
    assert listed(triage("deliveries", "--json", "--state", "failed")) == {"b": "failed"}
    assert listed(triage("deliveries", "a", "--json")) == {"a": "done"}
    assert listed(triage("deliveries", "--json", "--limit", "1")) == {"c": "waiting"}
    table = triage("deliveries")
    assert all(said in table.stdout for said in ("issues.opened", "failed", "noted"))
    unknown = triage("deliveries", "none")
    assert (unknown.returncode, unknown.stdout) == (1, "")


@pytest.mark.usefixtures("kept")
def test_retry_has_failed_ones_judged_again(triage: Run) -> None:
    told = triage("deliveries", "--state", "failed", "--retry", "--json")
    assert "1 to be judged again" in told.stderr
    assert listed(triage("deliveries", "--json")) == {"a": "done", "b": "waiting", "c": "waiting"}
    assert "0 to be judged again" in triage("deliveries", "a", "--retry").stderr


# --- replay -----------------------------------------------------------------------------


def saved(event: str, guid: str, body: object) -> str:
    return json.dumps({"event": event, "delivery": guid, "body": body})


OPENED = {
    "action": "opened",
    "number": 7,
    "repository": {"id": 1, "full_name": "acme/widgets", "default_branch": "main"},
    "sender": {"id": 3, "login": "ann", "type": "User"},
    "pull_request": {
        "number": 7,
        "title": "Fix a",
        "body": "It was 1.",
        "state": "open",
        "user": {"id": 3, "login": "ann", "type": "User"},
        "created_at": "2026-11-30T10:00:00Z",
        "updated_at": "2026-11-30T10:00:00Z",
    },
}


def test_replay_feeds_saved_deliveries_through_the_same_way_in(triage: Run, tmp_path: Path) -> None:
    """On a server of its own, with the configured database; sent again they are known."""
    lines = [saved("pull_request", "g-1", OPENED), saved("star", "g-2", {}), saved("pull_request", "g-3", "{ not JSON")]
    (tmp_path / "saved.jsonl").write_text("\n".join(lines[:2]), encoding="utf-8")
    told = triage("replay", "saved.jsonl")
    assert (told.returncode, told.stdout) == (0, "1 accepted\n1 ignored\n"), told.stderr
    assert json.loads(triage("explain", "acme/widgets#7", "--json").stdout)["author"] == "ann"
    (tmp_path / "saved.jsonl").write_text("\n".join(lines), encoding="utf-8")
    again = triage("replay", "saved.jsonl", "--json")
    assert again.returncode == 1  # the third is refused
    assert [(one["guid"], one["status"]) for one in map(json.loads, again.stdout.splitlines())] == [
        ("g-1", 202),
        ("g-2", 202),
        ("g-3", 400),
    ]
    assert '"duplicate"' in again.stdout


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "saved.jsonl:2: "),
        ('{"event": "push"}', "saved.jsonl:2: no 'body'"),
        ('{"event": 1, "delivery": "a", "body": {}}', ":2: "),
    ],
)
def test_replay_sends_nothing_of_a_file_that_it_cannot_read(triage: Run, tmp_path: Path, line: str, why: str) -> None:
    (tmp_path / "saved.jsonl").write_text(f"{saved('star', 'g-1', {})}\n{line}\n", encoding="utf-8")
    told = triage("replay", "saved.jsonl")
    assert (told.returncode, told.stdout) == (1, "")
    assert why in told.stderr
    assert listed(triage("deliveries", "--json")) == {}


def test_replay_names_a_server_that_is_not_there(triage: Run, tmp_path: Path) -> None:
    (tmp_path / "saved.jsonl").write_text(saved("star", "g-1", {}), encoding="utf-8")
    told = triage("replay", "saved.jsonl", "--to", "http://127.0.0.1:9", LIVEFIRST_WEBHOOK_SECRET="s")
    assert told.returncode == 1
    assert "http://127.0.0.1:9" in told.stderr
    assert "is not set" in triage("replay", "saved.jsonl", "--to", "http://127.0.0.1:9").stderr
    assert triage("replay", "none.jsonl").returncode == 1
