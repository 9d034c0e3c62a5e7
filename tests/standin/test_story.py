"""The demo's story is one that GitHub could have told: whole bodies, in order, about people who do not exist."""

import copy
import json
import re
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from githubkit import webhooks

from standin.story import Story, tell
from standin.story_talk import PACE
from standin.threads import Thread
from standin.world import World
from triage import policy
from triage.events import parse
from triage.patch import scan

NOW = datetime(2026, 11, 30, 10, tzinfo=UTC)

# Where an address in the story may lead: GitHub's own hosts, and those that are reserved for examples.
HOSTS = {
    "api.github.com",
    "avatars.githubusercontent.com",
    "github.com",
    "help.github.com",
    "packages.example.org",
    "triage.example.org",
    "example.com",
}
MAIL = {"github.com", "users.noreply.github.com", "example.com", "example.org"}


@pytest.fixture(scope="module")
def story() -> Story:
    return tell(NOW)


@pytest.fixture(scope="module")
def threads(story: Story) -> dict[str, Thread]:
    world = World.from_json(json.dumps(story.world))
    return {f"{one.full_name}#{thread.number}": thread for one in world.repositories for thread in one.threads}


def by(story: Story, login: str, event: str = "issue_comment") -> list[dict[str, Any]]:
    """Return the bodies that somebody's acts sent, a redelivery once."""
    heard = {one.guid: one for one in story.deliveries if one.event == event}
    return [one.body for one in heard.values() if one.body["sender"]["login"] == login]


def opened_by(story: Story, login: str) -> list[dict[str, Any]]:
    """Return somebody's pull requests as their openings tell them."""
    return [body["pull_request"] for body in by(story, login, "pull_request") if body["action"] == "opened"]


def test_there_is_enough_to_see(story: Story) -> None:
    """More than a hundred deliveries of each kind that the App listens to, and two of kinds that it does not."""
    counts = Counter(one.event for one in story.deliveries)
    assert counts.total() >= 110
    assert set(counts) == {
        *("pull_request", "pull_request_review", "pull_request_review_comment", "issue_comment", "issues"),
        *("check_suite", "ping", "star"),
    }


def test_a_flood_is_forty_comments_in_twelve_minutes_on_fifteen_threads(story: Story) -> None:
    """The flood reaches issues and pull requests alike, says something else each time, and is seconds old."""
    bodies = by(story, "wrenfield-t")
    times = [datetime.fromisoformat(body["comment"]["created_at"]) for body in bodies]
    assert len(bodies) == 40
    assert times[-1] - times[0] <= timedelta(minutes=12)
    assert NOW - times[-1] < timedelta(minutes=1)
    assert len({body["issue"]["number"] for body in bodies}) == 15
    assert {"pull_request" in body["issue"] for body in bodies} == {True, False}
    assert len({body["comment"]["body"] for body in bodies}) == 40


def test_one_answers_every_review_after_seven_to_nine_minutes(story: Story) -> None:
    """Six rounds, each answered in minutes and at length."""
    answers = [(body["comment"]["created_at"], body["comment"]["body"]) for body in by(story, "fennimore-k")]
    asked = [one.body["review"] for one in story.deliveries if one.event == "pull_request_review"]
    times = [datetime.fromisoformat(review["submitted_at"]) for review in asked]
    told = [datetime.fromisoformat(at) for at, _ in answers]
    waits = [(at - max(time for time in times if time < at)).total_seconds() for at in told]
    assert waits == list(PACE)
    assert all(7 * 60 <= wait <= 9 * 60 for wait in waits)
    assert all(body.count("- **") == 3 for _, body in answers)


def test_a_long_description_covers_a_three_line_fix(story: Story, threads: dict[str, Thread]) -> None:
    """Two thousand characters, a plan and a summary left over, and tests claimed where none is."""
    (pull,) = opened_by(story, "brindle-and-co")
    thread = threads[f"lanternfish/engine#{pull['number']}"]
    assert thread.pull is not None
    source, *left = thread.pull.files
    assert len(pull["body"]) >= 2000
    assert "All tests pass" in pull["body"]
    assert source.additions == 3
    assert {file.path for file in left} == {"PLAN.md", "IMPLEMENTATION_SUMMARY.md"}


def test_a_member_sends_twelve_in_an_hour(story: Story) -> None:
    """A maintainer's announced refactoring comes as fast as any flood."""
    pulls = opened_by(story, "ines-caldeira")
    times = [datetime.fromisoformat(pull["created_at"]) for pull in pulls]
    assert len(pulls) == 12
    assert times[-1] - times[0] <= timedelta(hours=1)
    assert {pull["author_association"] for pull in pulls} == {"MEMBER"}


def test_a_student_answers_the_next_morning(story: Story) -> None:
    """A first pull request is small, and its author answers the question that was asked, hours later."""
    (pull,) = opened_by(story, "yusuf-on-a-train")
    (answer,) = by(story, "yusuf-on-a-train")
    assert pull["author_association"] == "FIRST_TIME_CONTRIBUTOR"
    assert pull["additions"] + pull["deletions"] < 5
    assert "decode" in answer["comment"]["body"]
    assert story.expected[f"lanternfish/engine#{pull['number']}"] <= {"live_person", "unsure"}


def test_seven_comments_of_a_workflow_take_nineteen_seconds(story: Story) -> None:
    times = [datetime.fromisoformat(body["comment"]["created_at"]) for body in by(story, "github-actions[bot]")]
    assert (len(times), times[-1] - times[0]) == (7, timedelta(seconds=19))


def test_what_is_gone_reads_null(story: Story) -> None:
    """A deleted account is a null user; a deleted fork is a null repository of the head."""
    pulls = [one.body["pull_request"] for one in story.deliveries if "pull_request" in one.body]
    assert any(pull["head"]["repo"] is None for pull in pulls)
    assert any(one.body["issue"]["user"] is None for one in story.deliveries if one.event == "issue_comment")


def test_every_body_has_the_shape_of_its_event(story: Story) -> None:
    """GitHub's own schema, as githubkit reads it, takes each of them."""
    for one in story.deliveries:
        body = copy.deepcopy(one.body)
        if "issue" in body:  # GitHub writes a deleted account as null, and its schema does not say so
            body["issue"]["user"] = body["issue"]["user"] or body["sender"]
        webhooks.parse_obj(one.event, body)


def test_guids_are_told_once_but_for_one_duplicate(story: Story) -> None:
    """The last delivery comes twice, as GitHub's redeliveries do."""
    counts = Counter(one.guid for one in story.deliveries)
    assert [guid for guid, count in counts.items() if count > 1] == [story.deliveries[-1].guid]
    assert story.deliveries[-1] == story.deliveries[-2]


def test_deliveries_come_in_the_order_of_what_they_tell(story: Story) -> None:
    """Time never runs backwards, and nothing is told that has not happened yet."""
    events = [parse(one.event, json.dumps(one.body).encode()) for one in story.deliveries]
    times = [act.at for event in events if event is not None for act in event.acts]
    assert times == sorted(times)
    assert times[-1] <= NOW.timestamp()


def test_the_world_knows_every_thread_of_the_story(story: Story, threads: dict[str, Thread]) -> None:
    """What the App asks about, the stand-in can answer, and every pull request that is opened has a lane to end in."""
    opened = {
        f"{one.body['repository']['full_name']}#{one.body['number']}"
        for one in story.deliveries
        if one.event == "pull_request"
    }
    assert set(story.expected) == opened
    assert opened <= set(threads)
    assert all(lanes for lanes in story.expected.values())
    assert story.quick_wins <= set(story.expected)
    assert len(story.quick_wins) == 1


def test_the_world_is_as_the_last_delivery_leaves_it(story: Story, threads: dict[str, Thread]) -> None:
    """Head, counts and labels that a delivery told last are those that the stand-in answers."""
    last = {
        f"{one.body['repository']['full_name']}#{one.body['number']}": one.body["pull_request"]
        for one in story.deliveries
        if one.event == "pull_request"
    }
    for name, told in last.items():
        pull = threads[name].pull
        assert pull is not None
        assert told["head"]["sha"] == pull.head_sha
        assert told["changed_files"] == len(pull.files)
        assert told["additions"] == sum(file.additions for file in pull.files)
        assert [label["name"] for label in told["labels"]] == threads[name].labels == []


def test_every_diff_counts_what_it_holds(threads: dict[str, Thread]) -> None:
    """The headers of hunks and the counts of files are those of the lines below them."""
    files = [file for thread in threads.values() if thread.pull for file in thread.pull.files]
    assert files
    for file in files:
        header = re.compile(r"@@ -\d+,(\d+) \+\d+,(\d+) @@.*")
        expected = [tuple(map(int, match.groups())) for match in header.finditer(file.patch or "")]
        hunks = [part.split("\n")[1:] for part in re.split(r"^@@", file.patch or "", flags=re.MULTILINE)[1:]]
        lines = [[line for line in hunk if line] for hunk in hunks]
        assert expected == [
            (sum(line[0] in " -" for line in hunk), sum(line[0] in " +" for line in hunk)) for hunk in lines
        ], file.path
        assert file.additions == len(scan(file.patch).added)
        assert file.deletions == sum(line[0] == "-" for hunk in lines for line in hunk)


def test_one_policy_is_good_and_the_proposed_one_is_not(story: Story) -> None:
    """The engine labels by a valid policy, the docs have none, and a pull request proposes a mistake."""
    engine, docs = World.from_json(json.dumps(story.world)).repositories
    now = policy.parse(engine.files[policy.SOURCE], source=policy.SOURCE)
    assert (now.mode, now.sensitivity) == ("label", "balanced")
    assert policy.SOURCE not in docs.files
    assert "AI tool" in engine.files[".github/pull_request_template.md"]
    proposed = [thread.pull.tree[policy.SOURCE] for thread in engine.threads if thread.pull and thread.pull.tree]
    with pytest.raises(policy.PolicyError, match="mode"):
        policy.parse(proposed[0], source=policy.SOURCE)


def test_nobody_real_is_named(story: Story) -> None:
    """Addresses end in example.*, at GitHub's own hosts, or at an agent's published no-reply address."""
    text = json.dumps([one.body for one in story.deliveries] + [story.world])
    assert set(re.findall(r"[\w.+-]@([a-z0-9-]+(?:\.[a-z0-9-]+)+)", text)) <= MAIL
    assert set(re.findall(r"https?://([\w.-]+)", text)) <= HOSTS


def test_the_same_moment_gets_the_same_story(story: Story) -> None:
    """A demo that is shown twice is the same demo."""
    again = tell(NOW)
    assert again == story


def test_it_is_written_for_the_demo(tmp_path: Path) -> None:
    """``python -m standin.story`` leaves a seed and the deliveries behind."""
    arguments = ["-m", "standin.story", "--now", NOW.isoformat(), "--out", str(tmp_path)]
    subprocess.run([sys.executable, *arguments], check=True)
    World.from_json((tmp_path / "world.json").read_bytes())
    lines = (tmp_path / "deliveries.jsonl").read_text(encoding="utf-8").splitlines()
    assert {frozenset(json.loads(line)) for line in lines} == {frozenset({"event", "delivery", "body"})}
