"""What people and the App do: each act changes the world and sends the delivery that GitHub would send."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from standin.hooks import Hooks
from standin.shapes import Shape, account, label, node, repository, user
from standin.thread_shapes import comment, issue, pull_request
from standin.threads import Comment, Commit, Event, File, Pull, Review, ReviewComment, Thread, sha
from standin.timeline_shapes import review, review_comment
from standin.world import Label, Repository, World


@dataclass(frozen=True, slots=True)
class Stage:
    """Where an act happens, who acts and when. ``url`` is the address that links start with."""

    world: World
    hooks: Hooks
    url: str
    repository: Repository
    actor: str
    at: datetime
    by_app: bool = False

    def send(self, event: str, action: str, **parts: Any) -> None:
        """Send a delivery about this repository."""
        self.hooks.send(self.world, event, self.payload(action, **parts))

    def payload(self, action: str, **parts: Any) -> Shape:
        """Write a delivery's body."""
        body = {
            "action": action,
            **parts,
            "repository": repository(self.url, self.world, self.repository),
            "sender": user(self.url, self.world.known(self.actor)),
        }
        return body | self.installed()

    def installed(self) -> Shape:
        """Name the installation that hears of it."""
        number = self.repository.installation
        return {"installation": {"id": number, "node_id": node("IN", number)}} if number else {}

    def note(self, thread: Thread, event: str, label_name: str | None = None) -> None:
        """Put an event on the timeline."""
        entry = Event(event, self.actor, self.at, label_name, self.by_app, self.world.give_id())
        thread.events.append(entry)
        thread.updated_at = self.at

    def send_thread(self, thread: Thread, action: str, **parts: Any) -> None:
        """Send a delivery about a pull request or an issue."""
        if thread.pull is None:
            self.send("issues", action, issue=issue(self.url, self.world, self.repository, thread), **parts)
            return
        shape = pull_request(self.url, self.world, self.repository, thread)
        self.send("pull_request", action, number=thread.number, pull_request=shape, **parts)


def make_label(stage: Stage, name: str, color: str | None, description: str | None) -> Label:
    """Create a label in the repository."""
    made = Label(name, color or "ededed", description, stage.world.give_id())
    stage.repository.labels.append(made)
    stage.send("label", "created", label=label(stage.url, stage.repository, made))
    return made


def put_label(stage: Stage, thread: Thread, name: str) -> None:
    """Put a label on a thread, creating it as GitHub does when the repository has none of that name."""
    known = stage.repository.label(name) or make_label(stage, name, None, None)
    if known.name in thread.labels:
        return
    thread.labels.append(known.name)
    stage.note(thread, "labeled", known.name)
    stage.send_thread(thread, "labeled", label=label(stage.url, stage.repository, known))


def take_label(stage: Stage, thread: Thread, name: str) -> bool:
    """Take a label off; tells whether it was there."""
    known = stage.repository.label(name)
    if known is None or known.name not in thread.labels:
        return False
    thread.labels.remove(known.name)
    stage.note(thread, "unlabeled", known.name)
    stage.send_thread(thread, "unlabeled", label=label(stage.url, stage.repository, known))
    return True


def say(stage: Stage, thread: Thread, body: str) -> Comment:
    """Comment on a thread."""
    said = Comment(stage.actor, body, stage.at, stage.world.give_id(), by_app=stage.by_app)
    thread.comments.append(said)
    _send_comment(stage, thread, said, "created")
    return said


def reword(stage: Stage, thread: Thread, said: Comment, body: str) -> None:
    """Edit a comment."""
    was, said.body, said.updated_at = said.body, body, stage.at
    _send_comment(stage, thread, said, "edited", changes={"body": {"from": was}})


def _send_comment(stage: Stage, thread: Thread, said: Comment, action: str, **parts: Any) -> None:
    on = issue(stage.url, stage.world, stage.repository, thread)
    shape = comment(stage.url, stage.world, stage.repository, thread, said)
    stage.send("issue_comment", action, issue=on, comment=shape, **parts)


def set_lock(stage: Stage, thread: Thread, *, locked: bool) -> None:
    """Lock or unlock a thread."""
    if thread.locked == locked:
        return
    thread.locked = locked
    stage.note(thread, "locked" if locked else "unlocked")
    stage.send_thread(thread, "locked" if locked else "unlocked")


def open_thread(
    stage: Stage, title: str, body: str | None, pull: Pull | None, association: str | None = None
) -> Thread:
    """Open an issue, or with ``pull`` a pull request; ``association`` of ``None`` is derived as GitHub does."""
    number = max((one.number for one in stage.repository.threads), default=0) + 1
    opened = Thread(number, stage.actor, stage.at, title, body, stage.world.give_id(), pull=pull)
    opened.association = association
    stage.repository.threads.append(opened)
    stage.world.known(stage.actor)
    stage.world.fill()
    stage.send_thread(opened, "opened")
    return opened


def push(stage: Stage, thread: Thread, pull: Pull, commits: list[Commit], files: list[File] | None) -> None:
    """Push commits to a pull request; ``files`` is the whole new diff, ``None`` when it did not change."""
    before = pull.head_sha
    pull.commits += commits or [Commit(f"Push {len(pull.commits) + 1}", stage.at, author=stage.actor)]
    for commit in pull.commits:
        commit.sha = commit.sha or sha(thread.id, stage.at, commit.message, pull.commits.index(commit))
    pull.head_sha = pull.commits[-1].sha
    pull.files = pull.files if files is None else files
    thread.updated_at = stage.at
    stage.send_thread(thread, "synchronize", before=before, after=pull.head_sha)


def edit(stage: Stage, thread: Thread, title: str | None, body: str | None) -> None:
    """Edit a thread's title or body."""
    changes: Shape = {}
    if title is not None and title != thread.title:
        changes["title"] = {"from": thread.title}
        stage.note(thread, "renamed")
        thread.title = title
    if body is not None and body != thread.body:
        changes["body"] = {"from": thread.body or ""}
        thread.body = body
    thread.updated_at = stage.at
    stage.send_thread(thread, "edited", changes=changes)


def close(stage: Stage, thread: Thread, *, merged: bool = False) -> None:
    """Close a thread, or merge a pull request."""
    thread.state, thread.closed_at = "closed", stage.at
    if merged and thread.pull is not None:
        thread.pull.merged_at, thread.pull.merged_by = stage.at, stage.actor
        stage.note(thread, "merged")
    stage.note(thread, "closed")
    stage.send_thread(thread, "closed")


def reopen(stage: Stage, thread: Thread) -> None:
    """Reopen a thread."""
    thread.state, thread.closed_at = "open", None
    stage.note(thread, "reopened")
    stage.send_thread(thread, "reopened")


def set_draft(stage: Stage, thread: Thread, pull: Pull, *, draft: bool) -> None:
    """Turn a pull request into a draft, or mark it ready."""
    pull.draft = draft
    stage.note(thread, "convert_to_draft" if draft else "ready_for_review")
    stage.send_thread(thread, "converted_to_draft" if draft else "ready_for_review")


def judge(stage: Stage, thread: Thread, pull: Pull, state: str, body: str) -> Review:
    """Send a review."""
    made = Review(stage.actor, stage.at, body, state, stage.world.give_id())
    pull.reviews.append(made)
    shape = review(stage.url, stage.world, stage.repository, thread, made)
    shape |= {"state": made.state.lower()}
    stage.send(
        "pull_request_review",
        "submitted",
        review=shape,
        pull_request=_in_delivery(pull_request(stage.url, stage.world, stage.repository, thread)),
    )
    return made


def remark(stage: Stage, thread: Thread, pull: Pull, made: ReviewComment) -> ReviewComment:
    """Comment on a line of the diff, or answer such a comment."""
    made.id = stage.world.give_id()
    pull.review_comments.append(made)
    shape = review_comment(stage.url, stage.world, stage.repository, thread, made)
    stage.send(
        "pull_request_review_comment",
        "created",
        comment=shape,
        pull_request=_in_delivery(pull_request(stage.url, stage.world, stage.repository, thread)),
    )
    return made


def _in_delivery(shape: Shape) -> Shape:
    """Leave out the counts: deliveries about reviews carry the pull request as lists hold it."""
    counts = {
        "additions",
        "deletions",
        "changed_files",
        "commits",
        "comments",
        "review_comments",
        "merged",
        "merged_by",
    }
    return {name: value for name, value in shape.items() if name not in counts}


def write_files(stage: Stage, files: dict[str, str | None]) -> None:
    """Push files to the default branch; ``None`` removes one."""
    there = stage.repository.files
    added = [path for path, text in files.items() if text is not None and path not in there]
    modified = [path for path, text in files.items() if text is not None and path in there]
    removed = [path for path, text in files.items() if text is None]
    for path, text in files.items():
        if text is None:
            there.pop(path, None)
        else:
            there[path] = text
    before, after = sha(stage.repository.id, "before", stage.at), sha(stage.repository.id, "after", stage.at)
    paths = {"added": added, "removed": removed, "modified": modified}
    stage.hooks.send(stage.world, "push", _push(stage, before, after, paths))


def _push(stage: Stage, before: str, after: str, paths: dict[str, list[str]]) -> Shape:
    who = {"name": stage.actor, "email": f"{stage.actor}@users.noreply.github.com", "username": stage.actor}
    commit = {
        "id": after,
        "tree_id": sha("tree", after),
        "distinct": True,
        "message": "Change files",
        "timestamp": stage.at.isoformat(),
        "url": f"https://github.com/{stage.repository.full_name}/commit/{after}",
        "author": who,
        "committer": who,
        **paths,
    }
    body = stage.payload("", ref=f"refs/heads/{stage.repository.default_branch}", before=before, after=after)
    del body["action"]
    seconds = int(stage.at.timestamp())
    body["repository"] |= {
        "created_at": int(stage.repository.created_at.timestamp()),
        "pushed_at": seconds,
        "master_branch": stage.repository.default_branch,
        "stargazers": 0,
    }
    return body | {
        "created": False,
        "deleted": False,
        "forced": False,
        "base_ref": None,
        "compare": f"https://github.com/{stage.repository.full_name}/compare/{before[:12]}...{after[:12]}",
        "commits": [commit],
        "head_commit": commit,
        "pusher": {"name": stage.actor, "email": who["email"]},
    }


def finish_checks(stage: Stage, thread: Thread, pull: Pull, conclusion: str) -> None:
    """Report that the check suite of a pull request's head is complete."""
    base, number = f"{stage.url}/repos/{stage.repository.full_name}", stage.world.give_id()
    ends = {"ref": pull.base_ref, "sha": sha("base", stage.repository.id)}
    repo = {"id": stage.repository.id, "url": base, "name": stage.repository.name}
    suite = {
        "id": number,
        "node_id": node("CS", number),
        "head_branch": pull.head_ref,
        "head_sha": pull.head_sha,
        "status": "completed",
        "conclusion": conclusion,
        "url": f"{base}/check-suites/{number}",
        "before": ends["sha"],
        "after": pull.head_sha,
        "pull_requests": [
            {
                "url": f"{base}/pulls/{thread.number}",
                "id": thread.id,
                "number": thread.number,
                "head": {"ref": pull.head_ref, "sha": pull.head_sha, "repo": repo},
                "base": {**ends, "repo": repo},
            }
        ],
        "app": _actions(stage),
        "created_at": _iso(stage.at - timedelta(minutes=2)),
        "updated_at": _iso(stage.at),
        "latest_check_runs_count": 1,
        "check_runs_url": f"{base}/check-suites/{number}/check-runs",
        "head_commit": {
            "id": pull.head_sha,
            "tree_id": sha("tree", pull.head_sha),
            "message": pull.commits[-1].message if pull.commits else "",
            "timestamp": _iso(stage.at),
            "author": {"name": "Somebody", "email": "somebody@example.com"},
            "committer": {"name": "Somebody", "email": "somebody@example.com"},
        },
    }
    stage.send("check_suite", "completed", check_suite=suite)


def _actions(stage: Stage) -> Shape:
    return {
        "id": 15368,
        "slug": "github-actions",
        "node_id": node("A", 15368),
        "owner": account(stage.url, stage.world, "github"),
        "name": "GitHub Actions",
        "description": "",
        "external_url": "https://help.github.com/en/actions",
        "html_url": "https://github.com/apps/github-actions",
        "created_at": "2018-07-30T09:30:17Z",
        "updated_at": "2019-12-10T19:04:12Z",
        "permissions": {"checks": "write"},
        "events": ["push"],
    }


def _iso(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
