"""The demo tells its story to the real server, and everybody in it ends up where an honest reader would put them."""

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from models.recorded.database import Database
from models.recorded.deliveries import Deliveries
from models.recorded.store import Store
from standin.story import tell
from triage import demo

pytestmark = pytest.mark.timeout(240)


def test_the_story_ends_as_it_should(tmp_path: Path) -> None:
    """Every delivery is answered 202 and judged, and every pull request stands in the lane that its story tells."""
    with demo.running(tmp_path) as told:
        assert {answer.status for answer in told.answers} == {202}
        database = Database.open(told.database_url)
        store, deliveries = Store(database), Deliveries(database)
        names = {row.id: row.full_name for row in store.repositories()}
        pulls = {f"{names[row.repository_id]}#{row.number}": row for row in store.threads(open_only=False)}
        states = {row.state for row in deliveries.listed()}
        database.close()
    story = tell(datetime.now(UTC))
    stands = {name: pulls[name].lane if name in pulls else None for name in story.expected}
    wrong = {name: (stands[name], lanes) for name, lanes in story.expected.items() if stands[name] not in lanes}
    assert not wrong, "stands in, should stand in"
    assert {name for name, row in pulls.items() if row.quick_win} == story.quick_wins
    assert states == {"done"}


def test_one_command_prints_the_queue_and_ends() -> None:
    """``triage demo --once`` needs nothing, prints the lanes and the page's address, and exits with 0."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("LIVEFIRST_")}
    done = subprocess.run(
        [sys.executable, "-m", "triage", "demo", "--once"], capture_output=True, text=True, check=False, env=env
    )
    assert done.returncode == 0, done.stderr
    for said in ("Live people", "Author's review not seen", "Bursts on hold", "The page: http://127.0.0.1:"):
        assert said in done.stdout
    assert "all judged" in done.stderr
