"""One line an occurrence, on stderr, without the values that a fault was made of."""

import json
import subprocess
import sys
from typing import Any

PROGRAM = """
import logging, structlog
from triage import logs
from triage.settings import Settings
logs.configure(Settings(log_format={form!r}, log_level={level!r}))
log = structlog.get_logger("test")
log.info("delivery", outcome="accepted", bytes=3)
logging.getLogger("uvicorn.error").warning("library %s", "speaks")
logging.getLogger("uvicorn.error").info("library whispers")
def fail(secret_value):
    body = "words of a " + secret_value
    raise RuntimeError("broken")
try:
    fail("stranger")
except RuntimeError:
    log.exception("judging failed")
"""


def written(form: str, level: str = "INFO") -> list[str]:
    """Run a program of its own: what is configured holds for a whole process."""
    program = PROGRAM.format(form=form, level=level)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == ""
    return done.stderr.splitlines()


def test_json_is_one_object_a_line_for_us_and_for_libraries() -> None:
    lines: list[dict[str, Any]] = [json.loads(line) for line in written("json")]
    assert [(line["event"], line["level"]) for line in lines] == [
        ("delivery", "info"),
        ("library speaks", "warning"),
        ("judging failed", "error"),
    ]
    assert (lines[0]["outcome"], lines[0]["bytes"]) == ("accepted", 3)
    assert all(line["timestamp"].endswith("Z") for line in lines)


def test_a_fault_tells_where_and_not_with_which_values() -> None:
    for form in ("json", "text"):
        told = "\n".join(written(form))
        assert "RuntimeError: broken" in told
        assert "stranger" not in told


def test_the_level_holds_for_our_own_lines_too() -> None:
    assert [json.loads(line)["event"] for line in written("json", "ERROR")] == ["judging failed"]
    assert "\x1b[" not in "\n".join(written("auto"))
