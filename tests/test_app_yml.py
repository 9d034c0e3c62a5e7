"""Does the App ask GitHub for exactly what it uses?"""

from pathlib import Path
from typing import Any

import pytest
import yaml

from triage.events import HANDLED

ALWAYS_SENT = {"installation", "installation_repositories", "github_app_authorization"}
# The permission that GitHub asks for before it sends an event: https://docs.github.com/en/webhooks/webhook-events-and-payloads
NEEDS = {
    "check_suite": "checks",
    "issue_comment": "issues",
    "issues": "issues",
    "pull_request": "pull_requests",
    "pull_request_review": "pull_requests",
    "pull_request_review_comment": "pull_requests",
    "push": "contents",
}


@pytest.fixture
def manifest() -> dict[str, Any]:
    text = (Path(__file__).parents[1] / "app.yml").read_text(encoding="utf-8")
    loaded: dict[str, Any] = yaml.safe_load(text)
    return loaded


def test_listens_to_exactly_what_is_handled(manifest: dict[str, Any]) -> None:
    assert sorted(manifest["default_events"]) == sorted(HANDLED)


def test_lists_no_event_that_always_arrives(manifest: dict[str, Any]) -> None:
    assert not ALWAYS_SENT & set(manifest["default_events"])


def test_asks_for_the_least(manifest: dict[str, Any]) -> None:
    assert manifest["default_permissions"] == {
        "metadata": "read",
        "contents": "read",
        "issues": "write",
        "pull_requests": "write",
        "checks": "write",
        "members": "read",
    }


def test_every_event_has_its_permission(manifest: dict[str, Any]) -> None:
    assert {NEEDS[event] for event in manifest["default_events"]} <= set(manifest["default_permissions"])


def test_is_a_manifest_that_github_takes(manifest: dict[str, Any]) -> None:
    """GitHub requires both addresses; the hook's ends in the door's path."""
    assert manifest["url"].startswith("https://")
    assert manifest["hook_attributes"]["url"].endswith("/webhooks/github")
    assert manifest["public"] is False
