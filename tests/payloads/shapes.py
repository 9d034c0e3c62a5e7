"""Bodies of our own writing, for what GitHub's published examples never show.

Whole enough that GitHub's own models accept them (a test checks), small enough to read: each differs from the plain
one in the one thing that its name says.
"""

from collections.abc import Mapping
from typing import Any, Final

Shape = dict[str, Any]

API: Final = "https://api.github.com"
WEB: Final = "https://github.com"
REPOSITORY_ID: Final = 186_853_002
NUMBER: Final = 7
AT: Final = "2026-11-30T10:00:00Z"
LATER: Final = "2026-11-30T10:08:30Z"
SHA: Final = "5a1f0d6c3f0b7a5d4d3e9b2f1c0e8d7a6b5c4d3e"


def user(number: int = 501, login: str = "newcomer", kind: str = "User") -> Shape:
    """Write an account."""
    at = f"{API}/users/{login}"
    lists = ("followers", "subscriptions", "organizations", "repos", "received_events")
    return {
        "login": login,
        "id": number,
        "node_id": f"U_{number}",
        "avatar_url": f"https://avatars.githubusercontent.com/u/{number}",
        "gravatar_id": "",
        "url": at,
        "html_url": f"{WEB}/{login}",
        **{f"{name}_url": f"{at}/{name}" for name in lists},
        "following_url": f"{at}/following{{/other_user}}",
        "gists_url": f"{at}/gists{{/gist_id}}",
        "starred_url": f"{at}/starred{{/owner}}{{/repo}}",
        "events_url": f"{at}/events{{/privacy}}",
        "type": kind,
        "site_admin": False,
    }


MAINTAINER: Final = user(11, "maintainer")
NEWCOMER: Final = user()
ROBOT: Final = user(41_898_282, "github-actions[bot]", "Bot")

_LISTS: Final = (
    # Addresses of a repository's parts.
    *("archive", "assignees", "blobs", "branches", "collaborators", "comments", "commits", "compare", "contents"),
    *("contributors", "deployments", "downloads", "events", "forks", "git_commits", "git_refs", "git_tags", "hooks"),
    *("issue_comment", "issue_events", "issues", "keys", "labels", "languages", "merges", "milestones"),
    *("notifications", "pulls", "releases", "stargazers", "statuses", "subscribers", "subscription", "tags", "teams"),
    "trees",
)


def repository(*, private: bool = False, owner: Shape | None = None, **fields: Any) -> Shape:
    """Write a repository."""
    owner = owner or user(9, "acme", "Organization")
    full_name = f"{owner['login']}/widgets"
    at = f"{API}/repos/{full_name}"
    return {
        "id": REPOSITORY_ID,
        "node_id": "R_1",
        "name": "widgets",
        "full_name": full_name,
        "private": private,
        "visibility": "private" if private else "public",
        "owner": owner,
        "html_url": f"{WEB}/{full_name}",
        "description": None,
        "fork": False,
        "url": at,
        **{f"{name}_url": f"{at}/{name}" for name in _LISTS},
        "created_at": AT,
        "updated_at": AT,
        "pushed_at": AT,
        "git_url": f"git://github.com/{full_name}.git",
        "ssh_url": f"git@github.com:{full_name}.git",
        "clone_url": f"{WEB}/{full_name}.git",
        "svn_url": f"{WEB}/{full_name}",
        "homepage": None,
        "size": 3,
        "stargazers_count": 0,
        "watchers_count": 0,
        "language": "Python",
        "has_issues": True,
        "has_projects": True,
        "has_downloads": True,
        "has_wiki": True,
        "has_pages": False,
        "has_discussions": False,
        "forks_count": 1,
        "mirror_url": None,
        "archived": False,
        "disabled": False,
        "open_issues_count": 2,
        "license": None,
        "forks": 1,
        "open_issues": 2,
        "watchers": 0,
        "default_branch": "main",
        "allow_forking": True,
        "is_template": False,
        "topics": [],
        "web_commit_signoff_required": False,
        **fields,
    }


def label(name: str = "triage: author review not seen", number: int = 77) -> Shape:
    """Write a label."""
    return {
        "id": number,
        "node_id": f"LA_{number}",
        "url": f"{API}/repos/acme/widgets/labels/{number}",
        "name": name,
        "color": "ededed",
        "archived_at": None,
        "archived_by": None,
        "default": False,
        "description": None,
    }


def app(slug: str = "coding-agent") -> Shape:
    """Write the App through which something was done."""
    return {
        "id": 90_210,
        "slug": slug,
        "node_id": "A_1",
        "owner": user(9, "acme", "Organization"),
        "name": "Coding Agent",
        "description": "",
        "external_url": "https://example.com",
        "html_url": f"{WEB}/apps/{slug}",
        "created_at": AT,
        "updated_at": AT,
        "permissions": {"issues": "write"},
        "events": [],
    }


def end(ref: str, repo: Shape | None) -> Shape:
    """Write one end of a pull request."""
    return {"label": f"acme:{ref}", "ref": ref, "sha": SHA, "user": NEWCOMER, "repo": repo}


def pull(**fields: Any) -> Shape:
    """Write a pull request."""
    at = f"{API}/repos/acme/widgets/pulls/{NUMBER}"
    names = ("self", "html", "issue", "comments", "review_comments", "review_comment", "commits", "statuses")
    return {
        "url": at,
        "id": 3001,
        "node_id": "PR_1",
        "html_url": f"{WEB}/acme/widgets/pull/{NUMBER}",
        "diff_url": f"{WEB}/acme/widgets/pull/{NUMBER}.diff",
        "patch_url": f"{WEB}/acme/widgets/pull/{NUMBER}.patch",
        "issue_url": f"{API}/repos/acme/widgets/issues/{NUMBER}",
        "commits_url": f"{at}/commits",
        "review_comments_url": f"{at}/comments",
        "review_comment_url": f"{API}/repos/acme/widgets/pulls/comments{{/number}}",
        "comments_url": f"{API}/repos/acme/widgets/issues/{NUMBER}/comments",
        "statuses_url": f"{API}/repos/acme/widgets/statuses/{SHA}",
        "number": NUMBER,
        "state": "open",
        "locked": False,
        "title": "Round the total, not the parts",
        "user": NEWCOMER,
        "body": "The total was off by a cent.",
        "created_at": AT,
        "updated_at": LATER,
        "closed_at": None,
        "merged_at": None,
        "merge_commit_sha": None,
        "assignee": None,
        "assignees": [],
        "requested_reviewers": [],
        "requested_teams": [],
        "labels": [],
        "milestone": None,
        "draft": False,
        "head": end("rounding", repository()),
        "base": end("main", repository()),
        "_links": {name: {"href": at} for name in names},
        "author_association": "NONE",
        "auto_merge": None,
        "active_lock_reason": None,
        "merged": False,
        "mergeable": None,
        "rebaseable": None,
        "mergeable_state": "unknown",
        "merged_by": None,
        "comments": 0,
        "review_comments": 0,
        "maintainer_can_modify": True,
        "commits": 1,
        "additions": 3,
        "deletions": 1,
        "changed_files": 1,
        **fields,
    }


def issue(*, of_pull: bool, **fields: Any) -> Shape:
    """Write an issue, or a pull request as comments show it."""
    at = f"{API}/repos/acme/widgets/issues/{NUMBER}"
    page = f"{WEB}/acme/widgets/{'pull' if of_pull else 'issues'}/{NUMBER}"
    reactions = ("total_count", "+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")
    as_pull = {
        "url": f"{API}/repos/acme/widgets/pulls/{NUMBER}",
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "merged_at": None,
    }
    return {
        "url": at,
        "repository_url": f"{API}/repos/acme/widgets",
        "labels_url": f"{at}/labels{{/name}}",
        "comments_url": f"{at}/comments",
        "events_url": f"{at}/events",
        "html_url": page,
        "id": 4001,
        "node_id": "I_1",
        "number": NUMBER,
        "title": "Round the total, not the parts",
        "user": NEWCOMER,
        "labels": [],
        "state": "open",
        "locked": False,
        "assignee": None,
        "assignees": [],
        "milestone": None,
        "comments": 1,
        "created_at": AT,
        "updated_at": LATER,
        "closed_at": None,
        "author_association": "NONE",
        "active_lock_reason": None,
        "body": "The total was off by a cent.",
        "reactions": {"url": f"{at}/reactions", **dict.fromkeys(reactions, 0)},
        "timeline_url": f"{at}/timeline",
        "performed_via_github_app": None,
        "state_reason": None,
        **({"pull_request": as_pull, "draft": False} if of_pull else {}),
        **fields,
    }


def comment(**fields: Any) -> Shape:
    """Write a comment."""
    at = f"{API}/repos/acme/widgets/issues/comments/6001"
    reactions = ("total_count", "+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")
    return {
        "url": at,
        "html_url": f"{WEB}/acme/widgets/pull/{NUMBER}#issuecomment-6001",
        "issue_url": f"{API}/repos/acme/widgets/issues/{NUMBER}",
        "id": 6001,
        "node_id": "IC_1",
        "user": NEWCOMER,
        "created_at": LATER,
        "updated_at": LATER,
        "author_association": "NONE",
        "body": "Done, thanks!",
        "reactions": {"url": f"{at}/reactions", **dict.fromkeys(reactions, 0)},
        "performed_via_github_app": None,
        **fields,
    }


def review(**fields: Any) -> Shape:
    """Write a review."""
    page = f"{WEB}/acme/widgets/pull/{NUMBER}#pullrequestreview-7001"
    return {
        "id": 7001,
        "node_id": "PRR_1",
        "user": MAINTAINER,
        "body": None,
        "commit_id": SHA,
        "submitted_at": LATER,
        "updated_at": LATER,
        "state": "commented",
        "html_url": page,
        "pull_request_url": f"{API}/repos/acme/widgets/pulls/{NUMBER}",
        "author_association": "MEMBER",
        "_links": {"html": {"href": page}, "pull_request": {"href": page}},
        **fields,
    }


def review_comment(**fields: Any) -> Shape:
    """Write an inline comment that answers another one."""
    at = f"{API}/repos/acme/widgets/pulls/comments/8002"
    reactions = ("total_count", "+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")
    return {
        "url": at,
        "pull_request_review_id": 7001,
        "id": 8002,
        "node_id": "PRRC_2",
        "diff_hunk": "@@ -1 +1 @@",
        "path": "src/total.py",
        "position": 1,
        "original_position": 1,
        "commit_id": SHA,
        "original_commit_id": SHA,
        "user": NEWCOMER,
        "body": "Good catch, fixed.",
        "created_at": LATER,
        "updated_at": LATER,
        "html_url": at,
        "pull_request_url": f"{API}/repos/acme/widgets/pulls/{NUMBER}",
        "author_association": "FIRST_TIME_CONTRIBUTOR",
        "_links": {name: {"href": at} for name in ("self", "html", "pull_request")},
        "reactions": {"url": f"{at}/reactions", **dict.fromkeys(reactions, 0)},
        "start_line": None,
        "original_start_line": None,
        "start_side": None,
        "line": 12,
        "original_line": 12,
        "side": "RIGHT",
        "in_reply_to_id": 8001,
        "subject_type": "line",
        **fields,
    }


def body(action: str | None, sender: Shape, *, repo: Shape | None = None, **parts: Any) -> Shape:
    """Put a body together as an App gets it."""
    head = {} if action is None else {"action": action}
    installation = {"id": 55, "node_id": "MDIz"}
    return {**head, **parts, "repository": repo or repository(), "sender": sender, "installation": installation}


def push(*, ref: str = "refs/heads/main", paths: Mapping[str, list[str]] | None = None, **fields: Any) -> Shape:
    """Write a push of one commit."""
    person = {"name": "Maintainer", "email": "maintainer@example.com", "username": "maintainer", "date": AT}
    commit = {
        "id": SHA,
        "tree_id": SHA,
        "distinct": True,
        "message": "Set the rules",
        "timestamp": AT,
        "url": f"{WEB}/acme/widgets/commit/{SHA}",
        "author": person,
        "committer": person,
        "added": [],
        "removed": [],
        "modified": [],
        **(paths or {}),
    }
    told = {
        "ref": ref,
        "before": "0" * 40,
        "after": SHA,
        "created": False,
        "deleted": False,
        "forced": False,
        "base_ref": None,
        "compare": f"{WEB}/acme/widgets/compare",
        "commits": [commit],
        "head_commit": commit,
        "pusher": {"name": "maintainer", "email": "maintainer@example.com"},
    }
    return body(None, MAINTAINER, **told | fields)


def _fork() -> Shape:
    return repository(owner=NEWCOMER, id=REPOSITORY_ID + 1, fork=True)


_PRIVATE: Final = repository(private=True)
_LABELLED: Final = {"pull_request": pull(labels=[label()]), "label": label()}

# What each is for -> (event, body).
SHAPES: Final[Mapping[str, tuple[str, Shape]]] = {
    "opened from a fork": (
        "pull_request",
        body("opened", NEWCOMER, number=NUMBER, pull_request=pull(head=end("rounding", _fork()))),
    ),
    "opened by a first timer": (
        "pull_request",
        body("opened", NEWCOMER, number=NUMBER, pull_request=pull(author_association="FIRST_TIMER")),
    ),
    "opened without a description": (
        "pull_request",
        body("opened", NEWCOMER, number=NUMBER, pull_request=pull(body=None)),
    ),
    "opened by an App": (
        "pull_request",
        body("opened", ROBOT, number=NUMBER, pull_request=pull(user=ROBOT, author_association="CONTRIBUTOR")),
    ),
    "opened in a private repository": (
        "pull_request",
        body("opened", NEWCOMER, repo=_PRIVATE, number=NUMBER, pull_request=pull(head=end("rounding", _PRIVATE))),
    ),
    "edited": (
        "pull_request",
        body("edited", NEWCOMER, number=NUMBER, pull_request=pull(), changes={"body": {"from": "Fix."}}),
    ),
    "closed, its fork deleted": (
        "pull_request",
        body(
            "closed",
            MAINTAINER,
            number=NUMBER,
            pull_request=pull(
                head=end("rounding", None), state="closed", closed_at=LATER, merged=True, merged_at=LATER
            ),
        ),
    ),
    "pushed to, its author's account deleted": (
        "pull_request",
        body("synchronize", MAINTAINER, number=NUMBER, before="0" * 40, after=SHA, pull_request=pull(user=None)),
    ),
    "labelled by this App": ("pull_request", body("labeled", ROBOT, number=NUMBER, **_LABELLED)),
    "label taken off": (
        "pull_request",
        body("unlabeled", MAINTAINER, number=NUMBER, pull_request=pull(), label=label()),
    ),
    "comment on a pull request": (
        "issue_comment",
        body("created", NEWCOMER, issue=issue(of_pull=True), comment=comment()),
    ),
    "comment through an App": (
        "issue_comment",
        body(
            "created",
            NEWCOMER,
            issue=issue(of_pull=True, performed_via_github_app=app()),
            comment=comment(performed_via_github_app=app()),
        ),
    ),
    "comment by an App": (
        "issue_comment",
        body("created", ROBOT, issue=issue(of_pull=False), comment=comment(user=ROBOT, author_association="NONE")),
    ),
    "comment of a deleted account": (
        "issue_comment",
        body("created", MAINTAINER, issue=issue(of_pull=True), comment=comment(user=None)),
    ),
    "review without words": (
        "pull_request_review",
        body("submitted", MAINTAINER, review=review(), pull_request=pull()),
    ),
    "answer to an inline comment": (
        "pull_request_review_comment",
        body("created", NEWCOMER, comment=review_comment(), pull_request=pull()),
    ),
    "issue opened through an App": (
        "issues",
        body("opened", NEWCOMER, issue=issue(of_pull=False, performed_via_github_app=app())),
    ),
    "issue labelled": (
        "issues",
        body("labeled", MAINTAINER, issue=issue(of_pull=False, labels=[label()]), label=label()),
    ),
    "push of a policy": ("push", push(paths={"modified": [".github/triage.yml"]})),
}
