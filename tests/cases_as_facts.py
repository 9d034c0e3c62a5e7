"""Turns a public case (``shared/cases/cases.jsonl``) into facts: what the case states and nothing else.

A case is a paraphrase with a few figures. A figure becomes the plainest facts that have it; what the case does not
state stays unknown, so that nothing is found here that the case did not show.
"""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from triage.facts import (
    Activity,
    Author,
    ChangedFile,
    Commit,
    Facts,
    PullRequest,
    Repository,
    TimelineEvent,
)

NOW: Final = datetime(2026, 11, 30, 10, tzinfo=UTC)
OPENED: Final = NOW - timedelta(hours=2)
LOGIN: Final = "someone"
HERE: Final = "acme/widgets"
MONTH: Final = timedelta(days=30)

# Associations as the cases word them. "Apparent staff" and "not MEMBER on the platform" are nobody to GitHub.
ASSOCIATIONS: Final = {
    "OWNER": "OWNER",
    "member": "MEMBER",
    "maintainer": "MEMBER",
    "core team (stated)": "MEMBER",
    "bot, started by member": "MEMBER",
    "first-time contributor": "FIRST_TIME_CONTRIBUTOR",
}
APPS: Final = {"dependency bot": "dependabot[bot]", "CI bot comments": "github-actions[bot]"}
WORD: Final = "change "


def facts(case: dict[str, Any]) -> Facts:
    """Lay out one case."""
    told = case["facts"]
    return Facts(
        as_of=NOW,
        subject="pull_request",
        repo=HERE,
        number=7,
        author=_author(case, told),
        pull_request=_pull_request(case, told),
        timeline=_timeline(told),
        activity=tuple(sorted([*_pulls(told), *_comments(told), *_forks(told)], key=lambda one: one.at)),
        repository=Repository(templates=(), common_lines=()),
    )


def _author(case: dict[str, Any], told: dict[str, Any]) -> Author:
    app = next((APPS[kind] for kind in case["kind"] if kind in APPS), None)
    age = told["account_age_days"]
    return Author(
        login=app or LOGIN,
        type="Bot" if app or "bot" in (told["author_association"] or "").split(",")[0] else "User",
        created_at=None if age is None else NOW - timedelta(days=age),
        association=ASSOCIATIONS.get(told["author_association"] or ""),
        merged_here=told["prior_merged_prs"],
    )


def _pull_request(case: dict[str, Any], told: dict[str, Any]) -> PullRequest:
    files = None
    if told["leftover_files"]:
        files = (ChangedFile("SUMMARY.md", "added", 80, 0, "@@ -0,0 +1 @@\n+# Summary of the implementation"),)
    trailers = {"Co-authored-by": "Claude <noreply@anthropic.com>"} if "co-author trailer" in case["kind"] else {}
    linked = told["issue_to_pr_s"]
    prefix = told["agent_branch_prefix"]
    return PullRequest(
        title="Change a thing",
        body=_body(told),
        created_at=OPENED,
        head_ref=None if prefix is None else prefix.replace("…", "change-a-thing"),
        draft=False,
        additions=told["diff_lines"],
        deletions=None if told["diff_lines"] is None else 0,
        changed_files=told["diff_files"],
        linked_issue_created_at=None if linked is None else OPENED - timedelta(seconds=linked),
        files=files,
        commits=(Commit(message="Change a thing", authored_at=OPENED, author_login=LOGIN, trailers=trailers),)
        if told["disclosed"] is not None
        else None,
    )


def _body(told: dict[str, Any]) -> str | None:
    words = told["body_words"]
    if words is None and told["body_chars"] is not None:
        words = told["body_chars"] // len(WORD)
    if words is None and told["headings"] is None and not told["disclosed"]:
        return None
    paragraphs = [WORD * min(words or 0, 40)]
    left = (words or 0) - 40
    while left > 0:
        paragraphs.append(WORD * min(left, 40))
        left -= 40
    headings = told["headings"] or 0
    lines = [f"## Part {number + 1}" for number in range(headings)]
    body = "\n\n".join([*(f"{lines.pop(0)}\n\n{text}" if lines else text for text in paragraphs), *lines])
    disclosure = "\n\nI used an AI agent for this change and reviewed it myself." if told["disclosed"] else ""
    return (body.strip() + disclosure).strip()


def _pulls(told: dict[str, Any]) -> list[Activity]:
    repos = told["repos_touched"] or 1
    age = told["account_age_days"]
    window = MONTH if age is None else timedelta(days=max(age, 1))
    for count, within in (
        (told["prs_24h"], timedelta(hours=24)),
        (told["prs_7d"], timedelta(days=7)),
        (told["prs_total"], window),
    ):
        if count:
            step = within / count
            return [
                Activity(OPENED - step * number, "pull_request", _repo(number % repos), own_repo=False, number=number)
                for number in range(count)
            ]
    return []


def _repo(number: int) -> str:
    return HERE if number == 0 else f"other{number}/project"


def _comments(told: dict[str, Any]) -> list[Activity]:
    burst = told["comment_burst"]
    if burst is None or burst.get("window_s") is None:
        return []
    step = timedelta(seconds=burst["window_s"]) / burst["comments"]
    places = burst.get("repos") or 1
    return [
        Activity(OPENED - step * number, "comment", _repo(number % places), own_repo=False, number=number)
        for number in range(burst["comments"])
    ]


def _forks(told: dict[str, Any]) -> list[Activity]:
    words = (told["other"] or "").split()
    if len(words) < 4 or words[1] != "forks":
        return []
    count, step = int(words[0]), timedelta(seconds=5)
    return [Activity(OPENED - step * number, "fork", _repo(number + 1), own_repo=False) for number in range(count)]


def _timeline(told: dict[str, Any]) -> tuple[TimelineEvent, ...] | None:
    latency = told["reply_latency_s"]
    if latency is None:
        return None
    asked = OPENED + timedelta(minutes=10)
    return (
        TimelineEvent(asked, "comment", "reviewer", "User", is_author=False, body="Could you explain the change?"),
        TimelineEvent(asked + timedelta(seconds=latency), "comment", LOGIN, "User", is_author=True, body="Done."),
    )
