"""`triage serve` with settings that cannot work: one line that names the setting, exit code 1, nobody let in."""

import contextlib
import os
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from plugins_github import AppKey

from triage import server

NOT_A_KEY = "-----BEGIN RSA PRIVATE KEY-----\nhunter2\n-----END RSA PRIVATE KEY-----\n"


def run(home: Path, command: str = "serve", **settings: str) -> "subprocess.CompletedProcess[str]":
    """Run a command that must end by itself."""
    cleared = {name: value for name, value in os.environ.items() if not name.startswith("LIVEFIRST_")}
    given = {"DATABASE_URL": f"sqlite:///{home / 'livefirst.db'}", "PORT": str(server.free_port()), **settings}
    env = cleared | {f"LIVEFIRST_{name}": value for name, value in given.items()}
    return subprocess.run(
        [sys.executable, "-m", "triage", command], env=env, capture_output=True, text=True, check=False, timeout=60
    )


def refused(done: "subprocess.CompletedProcess[str]", *words: str) -> str:
    """Assert that a command ended with one clear line, and return it."""
    assert done.returncode == 1, done
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("triage: ")
    for word in words:
        assert word in line, line
    assert "hunter2" not in line
    return line


def test_no_secret(tmp_path: Path) -> None:
    refused(run(tmp_path), "LIVEFIRST_WEBHOOK_SECRET", "not set")
    assert not (tmp_path / "livefirst.db").exists()


def test_a_setting_that_is_no_number(tmp_path: Path) -> None:
    refused(run(tmp_path, WEBHOOK_SECRET="s", WORKERS="hunter2"), "LIVEFIRST_WORKERS")


@pytest.mark.parametrize("command", ["serve", "work"])
def test_a_database_of_an_unknown_kind(tmp_path: Path, command: str) -> None:
    done = run(tmp_path, command, WEBHOOK_SECRET="s", DATABASE_URL="mysql://ann:hunter2@db/livefirst")
    refused(done, "LIVEFIRST_DATABASE_URL", "sqlite:///")


def test_a_key_file_that_is_not_there(tmp_path: Path) -> None:
    gone = str(tmp_path / "no.pem")
    done = run(tmp_path, WEBHOOK_SECRET="s", APP_ID="7", PRIVATE_KEY_FILE=gone)
    refused(done, "LIVEFIRST_PRIVATE_KEY_FILE", gone, "No such file")


@pytest.mark.parametrize("text", [NOT_A_KEY, "", "\u00e4"])
def test_a_key_file_that_holds_no_key(tmp_path: Path, text: str) -> None:
    file = tmp_path / "bad.pem"
    file.write_text(text, encoding="utf-8")
    done = run(tmp_path, WEBHOOK_SECRET="s", APP_ID="7", PRIVATE_KEY_FILE=str(file))
    refused(done, "LIVEFIRST_PRIVATE_KEY")


def test_half_of_the_credentials(tmp_path: Path, app_key: AppKey) -> None:
    refused(run(tmp_path, WEBHOOK_SECRET="s", APP_ID="7"), "LIVEFIRST_PRIVATE_KEY_FILE")
    refused(run(tmp_path, WEBHOOK_SECRET="s", PRIVATE_KEY=app_key.private), "LIVEFIRST_APP_ID")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    done = run(tmp_path, WEBHOOK_SECRET="s", DATABASE_URL=f"sqlite:///{tmp_path}/no/such/livefirst.db")
    refused(done, "LIVEFIRST_DATABASE_URL")


@pytest.mark.parametrize("command", ["serve", "work"])
def test_a_database_server_that_does_not_answer(tmp_path: Path, command: str) -> None:
    address = f"postgresql://ann:hunter2@127.0.0.1:{server.free_port()}/livefirst"
    refused(run(tmp_path, command, WEBHOOK_SECRET="s", DATABASE_URL=address), "LIVEFIRST_DATABASE_URL")


def test_a_queue_that_does_not_answer(tmp_path: Path) -> None:
    address = f"postgresql://ann:hunter2@127.0.0.1:{server.free_port()}/livefirst"
    refused(run(tmp_path, WEBHOOK_SECRET="s", QUEUE_URL=address), "LIVEFIRST_QUEUE_URL")


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "livefirst.db").write_text("a text of some length, which no database begins with", encoding="ascii")
    refused(run(tmp_path, WEBHOOK_SECRET="s"), "not a database")


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_port_that_is_taken(tmp_path: Path, host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with contextlib.closing(socket.socket(family)) as taken:
        try:
            taken.bind((host, 0))
        except OSError:
            pytest.skip("this machine has no IPv6 loopback")
        taken.listen()
        port = str(taken.getsockname()[1])
        done = run(tmp_path, WEBHOOK_SECRET="s", SIGN_IN_TOKEN="t", HOST=host, PORT=port)
        refused(done, "LIVEFIRST_PORT", port, "in use")


def test_a_host_that_is_not_this_machine(tmp_path: Path) -> None:
    refused(run(tmp_path, WEBHOOK_SECRET="s", SIGN_IN_TOKEN="t", HOST="192.0.2.1"), "LIVEFIRST_HOST", "192.0.2.1")


def test_a_database_of_a_newer_program(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "livefirst.db")) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
        connection.execute("INSERT INTO alembic_version VALUES ('9999')")
        connection.commit()
    refused(run(tmp_path, WEBHOOK_SECRET="s"), "newer")
