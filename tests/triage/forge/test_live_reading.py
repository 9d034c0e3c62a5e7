"""Reading a pull request from GitHub over HTTP: what is read, in how many requests, and what a failure leaves."""

import socket
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from standin.threads import Commit, File
from standin.world import PastPull, Repository
from triage.forge.live import LiveForge
from triage.forge.port import Gone, Refused, RepositoryRef, Suspended, Unavailable

OPENED = datetime(2026, 11, 30, 10, tzinfo=UTC)
WIDGETS = RepositoryRef(70, 42, "acme/widgets")
BIG = "x" * 400_000


def test_an_opening_is_read_whole_in_four_requests(github: Any, forge: LiveForge) -> None:
    opening = forge.opening(WIDGETS, 7, "someone")
    files, commits = opening.changes.files, opening.changes.commits
    assert files is not None
    assert [(one.path, one.status, one.additions, one.patch and one.patch[:2]) for one in files] == [
        ("src/widget.py", "modified", 2, "@@"),
        ("logo.png", "added", 0, None),
        ("old.py", "removed", 0, None),
    ]
    assert commits is not None
    assert [(one.author_login, one.author_email_domain) for one in commits] == [
        ("someone", "example.edu"),
        (None, "users.noreply.github.com"),
    ]
    assert commits[0].trailers == {
        "Signed-off-by": "Some One <s@example.edu>",
        "Co-authored-by": ("A <a@x.org>", "B <b@x.org>"),
    }
    assert commits[1].trailers == {}
    assert opening.changes.truncated is False
    assert opening.timeline is not None
    assert [(one.kind, one.actor, one.is_author) for one in opening.timeline] == [
        ("commit", None, None),
        ("commit", None, None),
        ("labeled", "maria", False),
        ("comment", "maria", False),
        ("review", "maria", False),
        ("comment", None, None),
    ]
    assert github.counted == Counter(token=1, files=1, commits=1, timeline=1, author=1)
    assert len(github.asked()) == 4


def test_the_author_is_known_by_one_query(forge: LiveForge) -> None:
    author = forge.opening(WIDGETS, 7, "someone").author
    assert author is not None
    assert author.created_at == datetime(2020, 5, 1, tzinfo=UTC)
    assert (author.merged_here, author.closed_here) == (2, 0)
    assert author.activity is not None
    assert [(one.repo, one.own_repo, one.number, one.base) for one in author.activity][-2:] == [
        ("elsewhere/thing", False, 1, "main"),
        ("acme/widgets", False, 7, "main"),
    ]
    assert any(one.own_repo for one in author.activity)


def test_beyond_a_hundred_pull_requests_the_counts_come_from_the_search(github: Any, forge: LiveForge) -> None:
    person = github.world.person("someone")
    assert person is not None
    person.pulls += [PastPull("a/b", OPENED - timedelta(hours=hour), hour) for hour in range(1, 120)]
    author = forge.opening(WIDGETS, 7, "someone").author
    assert author is not None
    assert (author.merged_here, len(author.activity or ())) == (2, 100)
    # asked by a name that the repository no longer has, a search counts nothing: that is no zero
    author = forge.opening(RepositoryRef(70, 42, "acme/gadgets"), 7, "someone").author
    assert author is not None
    assert (author.merged_here, author.closed_here) == (None, None)


@pytest.mark.parametrize(("many", "requests"), [(100, 4), (101, 5), (250, 6)])
def test_files_beyond_a_hundred_cost_a_page_each(github: Any, forge: LiveForge, many: int, requests: int) -> None:
    assert github.thread.pull is not None
    github.thread.pull.files = [File(f"f{one}") for one in range(many)]
    opening = forge.opening(WIDGETS, 7, "someone")
    assert [one.path for one in opening.changes.files or ()] == [f"f{one}" for one in range(many)]
    assert opening.changes.truncated is False
    assert len(github.asked()) == requests


def test_the_caps_of_the_api_are_told(github: Any, forge: LiveForge) -> None:
    assert github.thread.pull is not None
    github.thread.pull.files = [File(f"f{one}") for one in range(3005)]
    changes = forge.changes(WIDGETS, 7)
    assert (len(changes.files or ()), changes.truncated) == (3000, True)
    github.thread.pull.files = [File("one")]
    github.thread.pull.commits = [Commit(f"c{one}", OPENED, sha=f"{one:040x}") for one in range(260)]
    changes = forge.changes(WIDGETS, 7)
    assert (len(changes.commits or ()), changes.truncated) == (250, True)


def test_a_megabyte_of_patches_is_kept(github: Any, forge: LiveForge) -> None:
    assert github.thread.pull is not None
    github.thread.pull.files = [File(name, patch=BIG) for name in "abc"] + [File("d", patch="@@ small")]
    changes = forge.changes(WIDGETS, 7)
    assert [one.patch and len(one.patch) for one in changes.files or ()] == [400_000, 400_000, None, 8]
    assert changes.truncated is True


@pytest.mark.parametrize("shape", ["too_large", "server_error", "cut", "not_json"])
def test_a_page_that_github_gives_up_on_is_halved(github: Any, forge: LiveForge, shape: str) -> None:
    assert github.thread.pull is not None
    github.thread.pull.files = [File(f"f{one}") for one in range(160)]
    github.fail(shape, "*/files", count=2, skip=1)
    changes = forge.changes(WIDGETS, 7)
    assert [one.path for one in changes.files or ()] == [f"f{one}" for one in range(160)]
    assert changes.truncated is False
    assert github.counted["files"] == 1 + 2 + 3  # the first hundred, two failures, then pages of 25


def test_files_that_never_come_leave_what_was_read(github: Any, forge: LiveForge) -> None:
    assert github.thread.pull is not None
    github.thread.pull.files = [File(f"f{one}") for one in range(160)]
    github.fail("too_large", "*/files", count=None, skip=1)
    changes = forge.changes(WIDGETS, 7)
    assert (len(changes.files or ()), changes.truncated) == (100, True)
    assert changes.commits is not None


@pytest.mark.parametrize("shape", ["forbidden", "not_found", "gone", "server_error", "cut", "cut_body", "not_json"])
@pytest.mark.parametrize("part", ["files", "commits", "timeline", "graphql"])
def test_a_part_that_cannot_be_read_leaves_the_others(
    github: Any, forge: LiveForge, shape: str, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("triage.forge.asking.PAUSES", (0.0, 0.0))
    github.fail(shape, f"*/{part}", count=None)
    opening = forge.opening(WIDGETS, 7, "someone")
    read = {
        "files": opening.changes.files,
        "commits": opening.changes.commits,
        "timeline": opening.timeline,
        "graphql": opening.author,
    }
    assert [name for name, value in read.items() if value is None] == [part]


def test_graphql_errors_with_status_200_make_the_author_unknown(github: Any, forge: LiveForge) -> None:
    github.fail("graphql_errors", "/graphql")
    opening = forge.opening(WIDGETS, 7, "someone")
    assert opening.author is None
    assert opening.timeline is not None


@pytest.mark.parametrize("part", ["files", "commits", "timeline"])
@pytest.mark.parametrize("status", [403, 429])
def test_the_hourly_limit_makes_the_work_wait(github: Any, forge: LiveForge, part: str, status: int) -> None:
    github.fail("primary_limit", f"*/{part}", retry_after=600, status=status)
    with pytest.raises(Unavailable) as caught:
        forge.opening(WIDGETS, 7, "someone")
    assert 595 <= (caught.value.retry_after or 0) <= 602


@pytest.mark.parametrize(("form", "wait"), [("seconds", 90), ("date", 90), ("absent", 60)])
@pytest.mark.parametrize("status", [403, 429])
def test_a_secondary_limit_says_how_long(github: Any, forge: LiveForge, form: str, wait: int, status: int) -> None:
    github.fail("secondary_limit", "*/issues/7", retry_after=90, retry_form=form, status=status)
    with pytest.raises(Unavailable) as caught:
        forge.present(WIDGETS, 7)
    assert caught.value.retry_after == pytest.approx(wait, abs=3)
    assert github.counted["present"] == 1  # never asked again in this thread


def test_the_graphql_limit_makes_the_work_wait(github: Any, forge: LiveForge) -> None:
    github.fail("graphql_limit", "/graphql")
    with pytest.raises(Unavailable) as caught:
        forge.opening(WIDGETS, 7, "someone")
    assert caught.value.retry_after is not None


@pytest.mark.parametrize("shape", ["server_error", "cut", "cut_body", "not_json"])
def test_a_github_that_is_down_makes_the_work_wait(
    github: Any, forge: LiveForge, shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("triage.forge.asking.PAUSES", (0.0, 0.0))
    github.fail(shape, "/repos/*", count=None)
    with pytest.raises(Unavailable):
        forge.opening(WIDGETS, 7, "someone")
    assert len(github.asked()) < 10  # it gives up early
    github.gate.faults.due.clear()
    assert forge.opening(WIDGETS, 7, "someone").changes.files  # and recovers by itself


def test_nobody_there_makes_the_work_wait_at_once(pem: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    asked: list[str] = []
    forge = LiveForge.for_app(9, pem, f"http://127.0.0.1:{port}", count=asked.append, web_url="https://github.com")
    with pytest.raises(Unavailable, match="cannot be reached"):
        forge.opening(WIDGETS, 7, "someone")
    assert asked == ["token"]


def test_a_slow_answer_is_not_waited_for(github: Any, forge: LiveForge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triage.forge.live.TIMEOUT", 1)
    github.fail("slow", "*/issues/7", seconds=3.0)
    with pytest.raises(Unavailable, match="within 1 s"):
        forge.present(WIDGETS, 7)
    assert github.counted["present"] == 1


def test_a_short_failure_is_not_noticed(github: Any, forge: LiveForge) -> None:
    github.fail("server_error", "*/issues/7", count=2)
    assert forge.present(WIDGETS, 7).open is True
    assert github.counted["present"] == 3


def test_a_pull_request_that_is_gone_is_gone(forge: LiveForge) -> None:
    with pytest.raises(Gone):
        forge.opening(WIDGETS, 404, "someone")


def test_a_deleted_author_is_not_asked_about(github: Any, forge: LiveForge) -> None:
    github.thread.author = None
    opening = forge.opening(WIDGETS, 7, None)
    assert opening.author is None
    assert {one.is_author for one in opening.timeline or ()} == {None}
    assert github.counted["author"] == 0


def test_an_app_as_author_is_not_asked_about(github: Any, forge: LiveForge) -> None:
    assert forge.opening(WIDGETS, 7, "renovate[bot]").author is None
    assert github.counted["author"] == 0


def test_the_present_state_costs_one_request(github: Any, forge: LiveForge) -> None:
    present = forge.present(WIDGETS, 7)
    assert (present.labels, present.open, present.locked, present.draft) == (frozenset({"bug"}), True, False, False)
    assert len(github.asked()) == 1


def test_a_pull_request_that_is_not_shown_as_an_issue_is_still_read(github: Any, forge: LiveForge) -> None:
    github.fail("gone", "*/issues/7")
    assert forge.present(WIDGETS, 7).labels == {"bug"}
    with pytest.raises(Gone):
        forge.present(WIDGETS, 999)


def test_an_enterprise_server_answers_below_api_v3(github: Any, pem: str) -> None:
    forge = LiveForge.for_app(9, pem, github.url + "/api/v3", count=github.count, web_url="https://github.example.com")
    opening = forge.opening(WIDGETS, 7, "someone")
    assert opening.author is not None
    assert opening.changes.files
    assert len(github.asked()) == 4
    forge.close()


def test_a_renamed_repository_is_followed_with_its_query(github: Any, forge: LiveForge) -> None:
    assert github.thread.pull is not None
    github.thread.pull.files = [File(f"f{one}") for one in range(101)]
    changes = forge.changes(RepositoryRef(70, 42, "acme/gadgets"), 7)
    assert len(changes.files or ()) == 101
    assert github.counted["files"] == 4  # each page is asked for twice, and each is counted


def test_a_redirect_never_leaves_the_host(github: Any, forge: LiveForge) -> None:
    github.fail("moved_301", "*/issues/7", location="http://127.0.0.1:9/repositories/42/issues/7")
    with pytest.raises(Unavailable, match="another host"):
        forge.present(WIDGETS, 7)


def test_a_redirect_never_leaves_the_repository(github: Any, forge: LiveForge) -> None:
    github.world.repositories.append(Repository("acme/other", 43, installation=70))
    for location in ("/repositories/43/issues/1", "/repos/acme/other/issues/1", "/elsewhere"):
        for path in ("*/issues/7", "*/pulls/7"):
            github.fail("moved_307", path, location=github.url + location)
        with pytest.raises(Gone, match="another repository"):
            forge.present(WIDGETS, 7)


def test_redirects_in_a_circle_end(github: Any, forge: LiveForge) -> None:
    github.fail("moved_301", "*/issues/7", count=None, location="/repositories/42/issues/7")
    with pytest.raises(Unavailable, match="circle"):
        forge.present(WIDGETS, 7)


def test_texts_are_read_from_the_default_branch(github: Any, forge: LiveForge) -> None:
    github.repository.files = {".github/triage.yml": "version: 1 # é\n", "big.yml": "x" * 300_000, "empty.yml": ""}
    assert forge.text(WIDGETS, ".github/triage.yml") == "version: 1 # é\n"
    assert forge.text(WIDGETS, "empty.yml") == ""
    assert forge.text(WIDGETS, ".github") is None  # a folder
    assert forge.text(WIDGETS, "none.yml") is None
    with pytest.raises(Refused, match="larger than 262,144 bytes"):
        forge.text(WIDGETS, "big.yml")


def test_a_text_can_be_read_as_of_a_commit(github: Any, forge: LiveForge) -> None:
    assert github.thread.pull is not None
    github.thread.pull.tree = {".github/triage.yml": "version: 2\n"}
    assert forge.text(WIDGETS, ".github/triage.yml", github.thread.pull.head_sha) == "version: 2\n"


def test_the_owners_texts_are_read_where_they_are_in_reach(github: Any, forge: LiveForge) -> None:
    assert forge.organisation_text(WIDGETS, ".github/triage.yml") is None
    github.world.repositories.append(Repository("acme/.github", 44, files={".github/triage.yml": "version: 1\n"}))
    assert forge.organisation_text(WIDGETS, ".github/triage.yml") == "version: 1\n"
    github.fail("forbidden", "/repos/acme/.github/*")
    assert forge.organisation_text(WIDGETS, ".github/triage.yml") is None


def test_the_guide_holds_what_contributors_are_told(github: Any, forge: LiveForge) -> None:
    github.repository.files = {
        ".github/pull_request_template.md": "## What\n\nDid you use AI tools? [ ] no\n",
        ".github/PULL_REQUEST_TEMPLATE/docs.md": "## Docs\n",
        ".github/VOUCHED.td": "# people\nSomeone great work\ngithub:other\n-badone\n",
        "CONTRIBUTING.md": "Run the tests.\n\nSay which LLM you used.\n",
        "CONTRIBUTORS.md": "- [A](https://github.com/Ann)\n- @ben, ben@example.org\n",
    }
    guide = forge.guide(WIDGETS)
    assert guide.templates == ("## What\n\nDid you use AI tools? [ ] no\n", "## Docs\n")
    assert guide.ai_policy == "Say which LLM you used.\n\nDid you use AI tools? [ ] no"
    assert guide.vouched == {"someone", "other", "ann", "ben"}
    assert len(github.asked()) <= 8


def test_a_repository_without_a_guide_borrows_its_owners_template(github: Any, forge: LiveForge) -> None:
    assert forge.guide(WIDGETS).templates == ()
    files = {"pull_request_template.md": "## Ours\n"}
    github.world.repositories.append(Repository("acme/.github", 44, files=files))
    assert forge.guide(WIDGETS).templates == ("## Ours\n",)


def test_a_template_that_did_not_arrive_is_not_absent(
    github: Any, forge: LiveForge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("triage.forge.asking.PAUSES", ())
    github.repository.files = {".github/pull_request_template.md": "## What\n"}
    github.fail("server_error", "*/pull_request_template.md")
    with pytest.raises(Unavailable):
        forge.guide(WIDGETS)


@pytest.mark.parametrize(
    ("login", "role"), [("maria", "maintain"), ("tim", "triage"), ("someone", "read"), ("nobody-at-all", None)]
)
def test_roles_are_named(forge: LiveForge, login: str, role: str | None) -> None:
    assert forge.role(WIDGETS, login) == role


def test_a_role_out_of_reach_is_unknown(github: Any, forge: LiveForge) -> None:
    github.fail("forbidden", "*/permission")
    assert forge.role(WIDGETS, "maria") is None


def test_a_suspended_installation_is_told_apart(github: Any, forge: LiveForge) -> None:
    github.world.installations[0].suspended_at = OPENED
    with pytest.raises(Suspended):
        forge.opening(WIDGETS, 7, "someone")


def test_an_installation_that_was_removed_counts_as_suspended(forge: LiveForge) -> None:
    with pytest.raises(Suspended):
        forge.present(RepositoryRef(404, 42, "acme/widgets"), 7)


def test_a_pause_is_never_longer_than_the_limits_are_short(github: Any, forge: LiveForge) -> None:
    github.fail("primary_limit", retry_after=86_400 * 30)
    before = time.monotonic()
    with pytest.raises(Unavailable) as caught:
        forge.present(WIDGETS, 7)
    assert (caught.value.retry_after or 0) <= 3700
    assert time.monotonic() - before < 30
