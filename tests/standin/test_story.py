"""The demo's story is one that GitHub could have told: whole bodies, in order, about people who do not exist."""

import copy
import json
import re
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from githubkit import webhooks

from standin.story import Story, tell
from standin.world import World
from triage.events import parse

NOW = datetime(2026, 11, 30, 10, tzinfo=UTC)


@pytest.fixture(scope="module")
def story() -> Story:
    return tell(NOW)


def test_there_is_enough_to_see(story: Story) -> None:
    """More than sixty deliveries, a flood of forty comments in twelve minutes among them."""
    assert len(story.deliveries) >= 60
    comments = [one.body for one in story.deliveries if one.event == "issue_comment"]
    by_one = [body for body in comments if body["sender"]["login"] == "helpful-contrib-ai"]
    times = sorted(
        {body["comment"]["id"]: datetime.fromisoformat(body["comment"]["created_at"]) for body in by_one}.values()
    )
    assert len(times) == 40
    assert (times[-1] - times[0]).total_seconds() <= 12 * 60


def test_every_body_has_the_shape_of_its_event(story: Story) -> None:
    """GitHub's own schema, as githubkit reads it, takes each of them."""
    for one in story.deliveries:
        if one.event in {"ping", "star"}:
            continue
        body = copy.deepcopy(one.body)
        if "issue" in body:  # GitHub writes a deleted account as null, and its schema does not say so
            body["issue"]["user"] = body["issue"]["user"] or body["sender"]
        webhooks.parse_obj(one.event, body)  # type: ignore[call-overload]  # the event is a name of the story


def test_guids_are_told_once_but_for_one_duplicate(story: Story) -> None:
    """The last delivery comes twice, as GitHub's redeliveries do."""
    counts = Counter(one.guid for one in story.deliveries)
    assert [guid for guid, count in counts.items() if count > 1] == [story.deliveries[-1].guid]


def test_deliveries_come_in_the_order_of_what_they_tell(story: Story) -> None:
    """Time never runs backwards, and nothing is told that has not happened yet."""
    events = [parse(one.event, json.dumps(one.body).encode()) for one in story.deliveries]
    times = [act.at for event in events if event is not None for act in event.acts]
    assert times == sorted(times)
    assert times[-1] <= NOW.timestamp()


def test_the_world_knows_every_thread_of_the_story(story: Story) -> None:
    """What the App asks about, the stand-in can answer."""
    world = World.from_json(json.dumps(story.world))
    there = {f"{one.full_name}#{thread.number}" for one in world.repositories for thread in one.threads}
    assert set(story.expected) <= there
    assert all(lanes for lanes in story.expected.values())


def test_nobody_real_is_named(story: Story) -> None:
    """Addresses end in example.*, at GitHub's own hosts, or at an agent's published no-reply address."""
    text = json.dumps([one.body for one in story.deliveries])
    hosts = set(re.findall(r"@([a-z0-9-]+(?:\.[a-z0-9-]+)+)", text))
    assert hosts <= {"github.com", "users.noreply.github.com", "example.com", "example.org"}


def test_the_same_moment_gets_the_same_story(story: Story) -> None:
    """A demo that is shown twice is the same demo."""
    again = tell(NOW)
    assert [one.body for one in again.deliveries] == [one.body for one in story.deliveries]
    assert again.world == story.world


def test_it_is_written_for_the_demo(tmp_path: Path) -> None:
    """``python -m standin.story`` leaves a seed and the deliveries behind."""
    arguments = ["-m", "standin.story", "--now", NOW.isoformat(), "--out", str(tmp_path)]
    subprocess.run([sys.executable, *arguments], check=True)
    World.from_json((tmp_path / "world.json").read_bytes())
    lines = (tmp_path / "deliveries.jsonl").read_text(encoding="utf-8").splitlines()
    assert {frozenset(json.loads(line)) for line in lines} == {frozenset({"event", "delivery", "body"})}
