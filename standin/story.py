"""The story of the demo: two repositories, their people, and what arrives there in two weeks.

``python -m standin.story --now 2026-11-30T10:00:00+00:00 --out FOLDER`` writes ``world.json``, the seed of the stand-in
that answers for it, and ``deliveries.jsonl``, what the App hears, oldest first. Nobody and nothing in it is real.
"""

import argparse
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from standin import shapes, story_agents, story_people, story_project
from standin.story_world import APP, INSTALLATION, world
from standin.teller import ORG, URL, Delivery, Teller
from standin.world import World


@dataclass(frozen=True, slots=True)
class Story:
    """What is told: the stand-in's seed, the deliveries, and for each pull request the lanes it may honestly end in.

    ``quick_wins`` are those worth merging in passing. Pull requests are named ``owner/repo#number``.
    """

    world: Mapping[str, Any]
    deliveries: tuple[Delivery, ...]
    expected: Mapping[str, frozenset[str]]
    quick_wins: frozenset[str]


def tell(now: datetime) -> Story:
    """Tell the story so that it ends seconds before ``now``; the same moment gets the same story."""
    told = Teller(world(now), now)
    reports = story_project.tell(told)
    story_people.tell(told)
    story_agents.tell(told, reports)
    deliveries = told.tell()
    pulls = {f"{ORG}/{one.repo}#{one.opened.number}": one for one in told.handles}
    expected = {name: one.lanes for name, one in pulls.items()}
    quick_wins = frozenset(name for name, one in pulls.items() if one.quick_win)
    # GitHub sends a delivery again when it does not hear that the first one arrived.
    heard = (*_greetings(told.world, now), *deliveries, deliveries[-1])
    return Story(json.loads(told.world.to_json()), heard, expected, quick_wins)


def _greetings(there: World, now: datetime) -> tuple[Delivery, ...]:
    """What GitHub also sends: a ping when the App is made, and news that no App of ours listens to."""
    made = shapes.time(now - timedelta(days=30))
    hook = {
        "type": "App",
        "id": 1,
        "name": "web",
        "active": True,
        "events": ["check_suite", "issue_comment", "issues", "pull_request", "push"],
        "config": {"content_type": "json", "insecure_ssl": "0", "url": "https://triage.example.org/webhooks/github"},
        "updated_at": made,
        "created_at": made,
        "app_id": APP,
        "deliveries_url": f"{URL}/app/hook/deliveries",
    }
    repository = there.repositories[0]
    star = {
        "action": "created",
        "starred_at": shapes.time(now - timedelta(days=14)),
        "repository": shapes.repository(URL, there, repository),
        "sender": shapes.user(URL, there.known("montse-ferrer")),
        "installation": {"id": INSTALLATION, "node_id": shapes.node("IN", INSTALLATION)},
    }
    return (
        Delivery("ping", "00000000-0000-4000-8000-000000000001", {"zen": "Read it first.", "hook_id": 1, "hook": hook}),
        Delivery("star", "00000000-0000-4000-8000-000000000002", star),
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
