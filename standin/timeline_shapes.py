"""How GitHub writes commits, reviews, the timeline and check runs in JSON."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from standin.shapes import WEB, Shape, account, app, node, time
from standin.thread_shapes import association, comment, reactions
from standin.threads import Commit, Event, Pull, Review, ReviewComment, Thread, sha
from standin.world import CheckRun, Repository, World


def _git(one: Commit) -> tuple[Shape, Shape]:
    who = {"name": one.name, "email": one.email}
    return (
        {**who, "date": time(one.authored_at)},
        {**who, "date": time(one.committed_at or one.authored_at)},
    )


_UNSIGNED: Final = {"verified": False, "reason": "unsigned", "signature": None, "payload": None, "verified_at": None}


def commit(url: str, world: World, repo: Repository, one: Commit) -> Shape:
    """Write a commit of a pull request."""
    base, page = f"{url}/repos/{repo.full_name}", f"{WEB}/{repo.full_name}/commit/{one.sha}"
    author, committer = _git(one)
    tree = sha("tree", one.sha)
    return {
        "sha": one.sha,
        "node_id": f"C_{one.sha}",
        "commit": {
            "author": author,
            "committer": committer,
            "message": one.message,
            "tree": {"sha": tree, "url": f"{base}/git/trees/{tree}"},
            "url": f"{base}/git/commits/{one.sha}",
            "comment_count": 0,
            "verification": _UNSIGNED,
        },
        "url": f"{base}/commits/{one.sha}",
        "html_url": page,
        "comments_url": f"{base}/commits/{one.sha}/comments",
        "author": account(url, world, one.author),
        "committer": account(url, world, one.author),
        "parents": [],
    }


def review(url: str, world: World, repo: Repository, thread: Thread, one: Review) -> Shape:
    """Write a review."""
    at = f"{url}/repos/{repo.full_name}/pulls/{thread.number}"
    page = f"{WEB}/{repo.full_name}/pull/{thread.number}#pullrequestreview-{one.id}"
    return {
        "id": one.id,
        "node_id": node("PRR", one.id),
        "user": account(url, world, one.author),
        "body": one.body,
        "state": one.state,
        "html_url": page,
        "pull_request_url": at,
        "author_association": association(repo, one.author),
        "_links": {"html": {"href": page}, "pull_request": {"href": at}},
        "submitted_at": time(one.submitted_at),
        "commit_id": (thread.pull or Pull()).head_sha,
    }


def review_comment(url: str, world: World, repo: Repository, thread: Thread, one: ReviewComment) -> Shape:
    """Write a comment on a line of the diff."""
    pull = thread.pull or Pull()
    base = f"{url}/repos/{repo.full_name}"
    at, up = f"{base}/pulls/comments/{one.id}", f"{base}/pulls/{thread.number}"
    page = f"{WEB}/{repo.full_name}/pull/{thread.number}#discussion_r{one.id}"
    nothing = dict.fromkeys(("start_line", "original_start_line", "start_side"))
    shape: Shape = {
        "url": at,
        "pull_request_review_id": one.review,
        "id": one.id,
        "node_id": node("PRRC", one.id),
        "diff_hunk": one.diff_hunk,
        "path": one.path,
        "commit_id": pull.head_sha,
        "original_commit_id": pull.head_sha,
        "user": account(url, world, one.author),
        "body": one.body,
        "created_at": time(one.created_at),
        "updated_at": time(one.created_at),
        "html_url": page,
        "pull_request_url": up,
        "author_association": association(repo, one.author),
        "_links": {"self": {"href": at}, "html": {"href": page}, "pull_request": {"href": up}},
        "reactions": reactions(at),
        **nothing,
        "line": one.line,
        "original_line": one.line or 1,
        "side": "RIGHT",
        "position": one.line,
        "original_position": one.line or 1,
        "subject_type": "line" if one.line else "file",
    }
    if one.in_reply_to is not None:
        shape["in_reply_to_id"] = one.in_reply_to
    return shape


def event(url: str, world: World, repo: Repository, one: Event) -> Shape:
    """Write an event of the timeline that is no comment, review or commit."""
    shape: Shape = {
        "id": one.id,
        "node_id": node("EV", one.id),
        "url": f"{url}/repos/{repo.full_name}/issues/events/{one.id}",
        "actor": account(url, world, one.actor),
        "event": one.event,
        "commit_id": None,
        "commit_url": None,
        "created_at": time(one.at),
        "performed_via_github_app": app(url, world) if one.by_app else None,
    }
    if one.label is not None:
        known = repo.label(one.label)
        shape["label"] = {"name": one.label, "color": known.color if known else "ededed"}
    if one.event in {"closed", "reopened"}:
        shape["state_reason"] = None
    if one.event == "locked":
        shape["lock_reason"] = None
    if one.event == "renamed":
        shape["rename"] = {"from": one.was or "", "to": ""}
    return shape


def timeline(url: str, world: World, repo: Repository, thread: Thread) -> list[Shape]:
    """Write everything that happened on a thread, oldest first."""
    return [shape for _, shape in sorted(_happenings(url, world, repo, thread), key=lambda pair: pair[0])]


def _happenings(url: str, world: World, repo: Repository, thread: Thread) -> Iterator[tuple[datetime, Shape]]:
    for said in thread.comments:
        shape = comment(url, world, repo, thread, said)
        yield said.created_at, {**shape, "event": "commented", "actor": shape["user"]}
    for happened in thread.events:
        yield happened.at, event(url, world, repo, happened)
    if thread.pull is None:
        return
    for one in thread.pull.commits:
        yield one.committed_at or one.authored_at, _committed(commit(url, world, repo, one))
    for judged in thread.pull.reviews:
        yield judged.submitted_at, {**review(url, world, repo, thread, judged), "event": "reviewed"}
    for first in thread.pull.review_comments:
        if first.in_reply_to is None:
            talk = [first, *(one for one in thread.pull.review_comments if one.in_reply_to == first.id)]
            comments = [review_comment(url, world, repo, thread, one) for one in talk]
            yield (
                first.created_at,
                {"event": "line-commented", "node_id": node("PRRT", first.id), "comments": comments},
            )


def _committed(shape: Shape) -> Shape:
    inner = shape["commit"]
    return {
        "sha": shape["sha"],
        "node_id": shape["node_id"],
        "url": inner["url"],
        "html_url": shape["html_url"],
        **{name: inner[name] for name in ("author", "committer", "tree", "message", "verification")},
        "parents": [],
        "event": "committed",
    }


def check_run(url: str, world: World, repo: Repository, one: CheckRun) -> Shape:
    """Write a check run."""
    at = f"{url}/repos/{repo.full_name}/check-runs/{one.id}"
    return {
        "id": one.id,
        "head_sha": one.head_sha,
        "node_id": node("CR", one.id),
        "external_id": "",
        "url": at,
        "html_url": f"{WEB}/{repo.full_name}/runs/{one.id}",
        "details_url": f"{WEB}/{repo.full_name}/runs/{one.id}",
        "status": one.status,
        "conclusion": one.conclusion,
        "started_at": time(one.at),
        "completed_at": time(one.at) if one.status == "completed" else None,
        "output": {
            "title": one.title,
            "summary": one.summary,
            "text": None,
            "annotations_count": 0,
            "annotations_url": f"{at}/annotations",
        },
        "name": one.name,
        "check_suite": {"id": one.id},
        "app": app(url, world),
        "pull_requests": [],
    }
