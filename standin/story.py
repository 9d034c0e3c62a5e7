"""The story of the demo: two repositories, their people, and what arrives there in a week.

``python -m standin.story --now 2026-11-30T10:00:00+00:00 --out FOLDER`` writes ``world.json``, the seed of the stand-in
that answers for it, and ``deliveries.jsonl``, what the App hears, oldest first. Nobody and nothing in it is real.
"""

import argparse
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from standin import story_agents, story_people
from standin.teller import ORG, Delivery, Teller
from standin.world import App, Installation, PastPull, Person, Repository, World

INSTALLATION: Final = 7001

POLICY: Final = """\
version: 1
mode: label
sensitivity: balanced
labels:
  disclosed: "triage: agent use disclosed"
"""
TEMPLATE: Final = """\
## What does this change?

## How did you check it?

## Did you use an AI tool, and for what?
"""


@dataclass(frozen=True, slots=True)
class Story:
    """What is told: the stand-in's seed, the deliveries, and for each pull request the lanes it may honestly end in."""

    world: Mapping[str, Any]
    deliveries: tuple[Delivery, ...]
    expected: Mapping[str, frozenset[str]]


def tell(now: datetime) -> Story:
    """Tell the story so that it ends at ``now``; the same moment gets the same story."""
    told = Teller(_world(now), now)
    story_people.tell(told)
    story_agents.tell(told)
    deliveries = told.tell()
    expected = {f"{ORG}/{one.repo}#{one.opened.number}": one.lanes for one in told.handles}
    return Story(json.loads(told.world.to_json()), (*_greetings(now), *deliveries, deliveries[-1]), expected)


def _world(now: datetime) -> World:
    maintainers = {story_people.MARIA: "maintain", story_people.TOMASZ: "write"}
    return World(
        app=App(id=4711, slug="livefirst", owner=ORG),
        installations=[Installation(INSTALLATION, ORG)],
        people=[
            Person(ORG, type="Organization"),
            *(Person(login, created_at=now - timedelta(days=2000)) for login in maintainers),
            Person(
                "patch-o-matic-9000",
                created_at=now - timedelta(days=14),
                pulls=[
                    PastPull(f"project-{n % 40}/app", now - timedelta(hours=30, minutes=9 * n), n + 1, "open")
                    for n in range(90)
                ],
            ),
        ],
        repositories=[
            Repository(
                f"{ORG}/engine",
                roles=dict(maintainers),
                files={
                    "README.md": "# Lanternfish engine\n",
                    ".github/triage.yml": POLICY,
                    ".github/pull_request_template.md": TEMPLATE,
                },
            ),
            Repository(f"{ORG}/docs", roles=dict(maintainers), files={"README.md": "# Docs\n"}),
        ],
        rate_limit=1_000_000,
    )


def _greetings(now: datetime) -> tuple[Delivery, ...]:
    """What GitHub also sends: a ping at the start, and news that no App of ours listens to."""
    ping = {"zen": "Keep it logically awesome.", "hook_id": 1}
    star = {"action": "created", "starred_at": now.isoformat()}
    return Delivery("ping", "00000000-0000-4000-8000-000000000001", ping), Delivery(
        "star", "00000000-0000-4000-8000-000000000002", star
    )


def main() -> None:
    """Write the story into a folder."""
    parser = argparse.ArgumentParser(prog="python -m standin.story", description="Writes the story of the demo.")
    parser.add_argument("--now", type=datetime.fromisoformat, default=datetime.now(UTC), help="when it ends")
    parser.add_argument("--out", type=Path, default=Path(), help="folder for world.json and deliveries.jsonl")
    asked = parser.parse_args()
    story = tell(asked.now)
    asked.out.mkdir(parents=True, exist_ok=True)
    (asked.out / "world.json").write_text(json.dumps(story.world, indent=1), encoding="utf-8")
    with (asked.out / "deliveries.jsonl").open("w", encoding="utf-8") as lines:
        for one in story.deliveries:
            lines.write(json.dumps({"event": one.event, "delivery": one.guid, "body": one.body}) + "\n")


if __name__ == "__main__":
    main()
