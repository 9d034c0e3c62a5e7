"""How GitHub writes accounts, Apps, repositories, labels and files in JSON."""

import base64
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote

from standin.threads import sha
from standin.world import Installation, Label, Person, Repository, World

Shape = dict[str, Any]
WEB: Final = "https://github.com"


def time(value: datetime | None) -> str | None:
    """Write an instant as GitHub does."""
    return None if value is None else value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def node(kind: str, number: int) -> str:
    """Make the global id of something."""
    return f"{kind}_{number}"


def user(url: str, person: Person) -> Shape:
    """Write an account as it stands inside other answers."""
    at = f"{url}/users/{quote(person.login)}"
    page = f"{WEB}/apps/{person.login.removesuffix('[bot]')}" if person.type == "Bot" else f"{WEB}/{person.login}"
    return {
        "login": person.login,
        "id": person.id,
        "node_id": node("U", person.id),
        "avatar_url": f"https://avatars.githubusercontent.com/u/{person.id}?v=4",
        "gravatar_id": "",
        "url": at,
        "html_url": page,
        "followers_url": f"{at}/followers",
        "following_url": f"{at}/following{{/other_user}}",
        "gists_url": f"{at}/gists{{/gist_id}}",
        "starred_url": f"{at}/starred{{/owner}}{{/repo}}",
        "subscriptions_url": f"{at}/subscriptions",
        "organizations_url": f"{at}/orgs",
        "repos_url": f"{at}/repos",
        "events_url": f"{at}/events{{/privacy}}",
        "received_events_url": f"{at}/received_events",
        "type": person.type,
        "user_view_type": "public",
        "site_admin": False,
    }


def account(url: str, world: World, login: str | None) -> Shape | None:
    """Write an account by login; a deleted one (``None``) is null."""
    return None if login is None else user(url, world.known(login))


def profile(url: str, person: Person) -> Shape:
    """Write an account in full."""
    nothing = dict.fromkeys(("company", "location", "hireable", "bio", "twitter_username"))
    return {
        **user(url, person),
        **nothing,
        "name": person.name,
        "email": person.email,
        "blog": "",
        "public_repos": 0,
        "public_gists": 0,
        "followers": 0,
        "following": 0,
        "created_at": time(person.created_at),
        "updated_at": time(person.created_at),
    }


def app(url: str, world: World) -> Shape:
    """Write the App."""
    mine = world.app
    return {
        "id": mine.id,
        "slug": mine.slug,
        "node_id": node("A", mine.id),
        "client_id": mine.client_id,
        "owner": account(url, world, mine.owner),
        "name": mine.name,
        "description": "",
        "external_url": "https://example.com",
        "html_url": f"{WEB}/apps/{mine.slug}",
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
        "permissions": mine.permissions,
        "events": mine.events,
    }


def installation(url: str, world: World, one: Installation) -> Shape:
    """Write an installation of the App."""
    owner = world.known(one.account)
    return {
        "id": one.id,
        "client_id": world.app.client_id,
        "account": user(url, owner),
        "repository_selection": "selected",
        "access_tokens_url": f"{url}/app/installations/{one.id}/access_tokens",
        "repositories_url": f"{url}/installation/repositories",
        "html_url": f"{WEB}/settings/installations/{one.id}",
        "app_id": world.app.id,
        "app_slug": world.app.slug,
        "target_id": owner.id,
        "target_type": "Organization" if owner.type == "Organization" else "User",
        "permissions": one.permissions,
        "events": world.app.events,
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
        "single_file_name": None,
        "has_multiple_single_files": False,
        "single_file_paths": [],
        "suspended_by": user(url, owner) if one.suspended_at else None,
        "suspended_at": time(one.suspended_at),
    }


_ADDRESSES: Final = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}


def repository(url: str, world: World, one: Repository) -> Shape:
    """Write a repository as it stands inside other answers and in deliveries."""
    at, page = f"{url}/repos/{one.full_name}", f"{WEB}/{one.full_name}"
    opened = sum(thread.state == "open" for thread in one.threads)
    counts = ("forks", "forks_count", "stargazers_count", "watchers", "watchers_count", "size")
    return {
        "id": one.id,
        "node_id": node("R", one.id),
        "name": one.name,
        "full_name": one.full_name,
        "private": one.private,
        "owner": account(url, world, one.owner),
        "html_url": page,
        "description": None,
        "fork": False,
        "url": at,
        **{name: at + rest for name, rest in _ADDRESSES.items()},
        "git_url": f"git://github.com/{one.full_name}.git",
        "ssh_url": f"git@github.com:{one.full_name}.git",
        "clone_url": f"{page}.git",
        "svn_url": page,
        "created_at": time(one.created_at),
        "updated_at": time(one.created_at),
        "pushed_at": time(one.created_at),
        **dict.fromkeys(counts, 0),
        **dict.fromkeys(("homepage", "language", "mirror_url", "license")),
        **dict.fromkeys(("has_issues", "has_projects", "has_downloads", "has_wiki", "allow_forking"), True),
        **dict.fromkeys(("has_pages", "has_discussions", "disabled", "is_template"), False),
        "archived": one.archived,
        "web_commit_signoff_required": False,
        "open_issues": opened,
        "open_issues_count": opened,
        "topics": [],
        "visibility": "private" if one.private else "public",
        "default_branch": one.default_branch,
    }


def full_repository(url: str, world: World, one: Repository) -> Shape:
    """Write a repository in full."""
    return {**repository(url, world, one), "network_count": 0, "subscribers_count": 0}


def label(url: str, repo: Repository, one: Label) -> Shape:
    """Write a label."""
    return {
        "id": one.id,
        "node_id": node("LA", one.id),
        "url": f"{url}/repos/{repo.full_name}/labels/{quote(one.name)}",
        "name": one.name,
        "color": one.color,
        "default": False,
        "description": one.description,
        "archived_at": None,
        "archived_by": None,
    }


def labels(url: str, repo: Repository, names: Sequence[str]) -> list[Shape]:
    """Write the labels of a thread by their names."""
    found = (repo.label(name) for name in names)
    return [label(url, repo, one) for one in found if one is not None]


def file(url: str, repo: Repository, path: str, text: str | None, kind: str = "file") -> Shape:
    """Write an entry of the default branch; with ``text`` its content too."""
    at = f"{url}/repos/{repo.full_name}"
    here = f"{at}/contents/{path}?ref={repo.default_branch}"
    blob = sha(path, text)
    git = f"{at}/git/{'blobs' if kind == 'file' else 'trees'}/{blob}"
    page = f"{WEB}/{repo.full_name}/blob/{repo.default_branch}/{path}"
    raw = f"https://raw.githubusercontent.com/{repo.full_name}/{repo.default_branch}/{path}"
    shape = {
        "name": path.rpartition("/")[2],
        "path": path,
        "sha": blob,
        "size": len((text or "").encode()),
        "url": here,
        "html_url": page,
        "git_url": git,
        "download_url": raw if kind == "file" else None,
        "type": kind,
        "_links": {"self": here, "git": git, "html": page},
    }
    if text is not None:
        shape |= {"content": base64.encodebytes(text.encode()).decode(), "encoding": "base64"}
    return shape
