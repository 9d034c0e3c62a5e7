"""How GitHub writes issues, pull requests and their comments in JSON."""

from datetime import datetime
from typing import Final

from standin.call import role_of
from standin.shapes import WEB, Shape, account, app, labels, node, repository, time
from standin.threads import Comment, File, Pull, Thread, sha
from standin.world import Repository, World

NO_REACTIONS: Final = ("total_count", "+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")


def association(repo: Repository, login: str | None) -> str:
    """Tell how an account stands to a repository, from its role and its merged work."""
    if login is None:
        return "NONE"
    if login.casefold() == repo.owner.casefold():
        return "OWNER"
    if login in repo.roles and role_of(repo, login) in {"admin", "maintain", "write", "triage"}:
        return "COLLABORATOR"
    merged = any(one.author == login and one.pull and one.pull.merged_at for one in repo.threads)
    return "CONTRIBUTOR" if merged else "NONE"


def reactions(at: str) -> Shape:
    """Write that nobody reacted."""
    return {"url": f"{at}/reactions", **dict.fromkeys(NO_REACTIONS, 0)}


def last_change(thread: Thread) -> datetime:
    """Tell when a thread was last touched."""
    return max(thread.updated_at or thread.created_at, *(one.created_at for one in thread.comments), thread.created_at)


def issue(url: str, world: World, repo: Repository, one: Thread) -> Shape:
    """Write a thread as an issue; a pull request is one too."""
    at, base = f"{url}/repos/{repo.full_name}/issues/{one.number}", f"{url}/repos/{repo.full_name}"
    page = f"{WEB}/{repo.full_name}/{'pull' if one.pull else 'issues'}/{one.number}"
    shape: Shape = {
        "url": at,
        "repository_url": base,
        "labels_url": f"{at}/labels{{/name}}",
        "comments_url": f"{at}/comments",
        "events_url": f"{at}/events",
        "timeline_url": f"{at}/timeline",
        "html_url": page,
        "id": one.id,
        "node_id": node("PR" if one.pull else "I", one.id),
        "number": one.number,
        "title": one.title,
        "user": account(url, world, one.author),
        "labels": labels(url, repo, one.labels),
        "state": one.state,
        "state_reason": "completed" if one.state == "closed" and not one.pull else None,
        "locked": one.locked,
        "active_lock_reason": None,
        "assignee": None,
        "assignees": [],
        "milestone": None,
        "comments": len(one.comments),
        "created_at": time(one.created_at),
        "updated_at": time(last_change(one)),
        "closed_at": time(one.closed_at),
        "closed_by": None,
        "author_association": one.association or association(repo, one.author),
        "body": one.body,
        "reactions": reactions(at),
        "performed_via_github_app": app(url, world) if one.by_app else None,
    }
    if one.pull:
        address = f"{base}/pulls/{one.number}"
        shape["draft"] = one.pull.draft
        shape["pull_request"] = {
            "url": address,
            "html_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "merged_at": time(one.pull.merged_at),
        }
    return shape


def _side(url: str, world: World, repo: Repository, ref: str, at: str, owner: str) -> Shape:
    return {
        "label": f"{owner}:{ref}",
        "ref": ref,
        "sha": at,
        "user": account(url, world, owner),
        "repo": repository(url, world, repo),
    }


def _head(url: str, world: World, repo: Repository, thread: Thread, pull: Pull) -> Shape:
    owner = thread.author or "ghost"
    shape = _side(url, world, repo, pull.head_ref, pull.head_sha, owner)
    if pull.head_repo is None:
        return {**shape, "repo": None, "user": account(url, world, thread.author)}
    if pull.head_repo:
        known = world.repository(pull.head_repo)
        fork = known or Repository(pull.head_repo, id=repo.id * 1000 + thread.number, created_at=repo.created_at)
        shape["repo"] = {**repository(url, world, fork), "fork": True}
    return shape


def pull_in_list(url: str, world: World, repo: Repository, one: Thread) -> Shape:
    """Write a pull request as lists hold it."""
    pull = one.pull or Pull()
    base = f"{url}/repos/{repo.full_name}"
    at, page = f"{base}/pulls/{one.number}", f"{WEB}/{repo.full_name}/pull/{one.number}"
    links = {
        "self": at,
        "html": page,
        "issue": f"{base}/issues/{one.number}",
        "comments": f"{base}/issues/{one.number}/comments",
        "review_comments": f"{at}/comments",
        "review_comment": f"{base}/pulls/comments{{/number}}",
        "commits": f"{at}/commits",
        "statuses": f"{base}/statuses/{pull.head_sha}",
    }
    return {
        "url": at,
        "id": one.id,
        "node_id": node("PR", one.id),
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        **{f"{name}_url": links[name] for name in ("issue", "commits", "comments", "statuses")},
        "review_comments_url": links["review_comments"],
        "review_comment_url": links["review_comment"],
        "number": one.number,
        "state": one.state,
        "locked": one.locked,
        "active_lock_reason": None,
        "title": one.title,
        "user": account(url, world, one.author),
        "body": one.body,
        "created_at": time(one.created_at),
        "updated_at": time(last_change(one)),
        "closed_at": time(one.closed_at),
        "merged_at": time(pull.merged_at),
        "merge_commit_sha": sha("merge", one.id),
        "assignee": None,
        "assignees": [],
        "requested_reviewers": [],
        "requested_teams": [],
        "labels": labels(url, repo, one.labels),
        "milestone": None,
        "draft": pull.draft,
        "head": _head(url, world, repo, one, pull),
        "base": _side(url, world, repo, pull.base_ref, sha("base", repo.id), repo.owner),
        "_links": {name: {"href": address} for name, address in links.items()},
        "author_association": one.association or association(repo, one.author),
        "auto_merge": None,
    }


def pull_request(url: str, world: World, repo: Repository, one: Thread) -> Shape:
    """Write a pull request in full."""
    pull = one.pull or Pull()
    return {
        **pull_in_list(url, world, repo, one),
        "merged": pull.merged_at is not None,
        "mergeable": None,
        "rebaseable": None,
        "mergeable_state": "unknown",
        "merged_by": account(url, world, pull.merged_by),
        "comments": len(one.comments),
        "review_comments": len(pull.review_comments),
        "maintainer_can_modify": True,
        "commits": len(pull.commits),
        "additions": sum(file.additions for file in pull.files),
        "deletions": sum(file.deletions for file in pull.files),
        "changed_files": len(pull.files),
    }


def changed_file(url: str, repo: Repository, pull: Pull, one: File) -> Shape:
    """Write a file of a diff."""
    page = f"{WEB}/{repo.full_name}"
    shape: Shape = {
        "sha": sha(one.path, one.patch),
        "filename": one.path,
        "status": one.status,
        "additions": one.additions,
        "deletions": one.deletions,
        "changes": one.additions + one.deletions,
        "blob_url": f"{page}/blob/{pull.head_sha}/{one.path}",
        "raw_url": f"{page}/raw/{pull.head_sha}/{one.path}",
        "contents_url": f"{url}/repos/{repo.full_name}/contents/{one.path}?ref={pull.head_sha}",
    }
    if one.patch is not None:
        shape["patch"] = one.patch
    if one.previous is not None:
        shape["previous_filename"] = one.previous
    return shape


def comment(url: str, world: World, repo: Repository, thread: Thread, one: Comment) -> Shape:
    """Write a comment."""
    base = f"{url}/repos/{repo.full_name}"
    at = f"{base}/issues/comments/{one.id}"
    page = f"{WEB}/{repo.full_name}/{'pull' if thread.pull else 'issues'}/{thread.number}#issuecomment-{one.id}"
    return {
        "url": at,
        "html_url": page,
        "issue_url": f"{base}/issues/{thread.number}",
        "id": one.id,
        "node_id": node("IC", one.id),
        "user": account(url, world, one.author),
        "created_at": time(one.created_at),
        "updated_at": time(one.updated_at or one.created_at),
        "author_association": one.association or association(repo, one.author),
        "body": one.body,
        "reactions": reactions(at),
        "performed_via_github_app": app(url, world) if one.by_app else None,
    }
