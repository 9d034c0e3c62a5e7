"""Leftovers are found where they cannot be meant, and absence is only concluded from what was read."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.facts import ChangedFile, Commit, Facts, PullRequest, Repository
from triage.signals import leftovers
from triage.signals.leftovers import claim_gap, placeholder_comments, prompt_residue, stray_files
from triage.signals.leftovers.claims import claimed
from triage.signals.leftovers.placeholders import stands_in
from triage.signals.leftovers.residue import spoken
from triage.signals.leftovers.stray import kind_of


def patch_of(*added: str) -> str:
    return f"@@ -0,0 +1,{len(added)} @@\n" + "".join(f"+{line}\n" for line in added)


def new(path: str, *added: str) -> ChangedFile:
    return ChangedFile(path, "added", len(added), 0, patch_of(*(added or ("x",))))


CODE = new("src/a.py", "x = 1")


def facts(*files: ChangedFile, body: str | None = "", repo: str = "acme/widgets", **pull: object) -> Facts:
    request = dataclasses.replace(PullRequest(title="Fix it", body=body, files=files), **pull)  # type: ignore[arg-type]
    return Facts(repo=repo, pull_request=request, repository=Repository(templates=()))


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("PLAN.md", "plan or summary"),
        ("IMPLEMENTATION_SUMMARY.md", "plan or summary"),
        ("src/lib/REFACTORING_PLAN.md", None),
        ("server/FIX_SUMMARY.md", "plan or summary"),
        ("pr_description.txt", "plan or summary"),
        ("CLAUDE.md", "agent configuration"),
        (".cursor/rules/a.mdc", "agent configuration"),
        (".aider.chat.history.md", "agent configuration"),
        ("a/AGENTS.md", "agent configuration"),
        ("prompt.txt", "prompt"),
        ("src/a.py.bak", "backup"),
        ("a.c.orig", "backup"),
        ("test_fix.py", "scratch file"),
        ("debug_login.py", "scratch file"),
        ("output.txt", "scratch file"),
        (".DS_Store", "editor debris"),
        (".idea/workspace.xml", "editor debris"),
        ("CHANGELOG.md", None),
        ("README.md", None),
        ("SUMMARY.md", None),
        ("RELEASE_NOTES.md", None),
        ("docs/migration-plan.md", None),
        ("docs/integrations/cursor.md", None),
        (".github/ISSUE_TEMPLATE/bug_report.md", None),
        (".changeset/fix-status-results.md", None),
        ("newsfragments/12.fix.md", None),
        ("tests/data/a.orig", None),
        ("tests/test_fix.py", None),
        ("test_parser.py", None),
        ("src/agents/planner.py", None),
        ("src/prompts/system.md", None),
    ],
)
def test_stray_files_are_told_by_their_path(path: str, kind: str | None) -> None:
    found = kind_of(path)
    assert (found.name if found else None) == kind


def test_added_strays_count_by_worth_and_folders_once() -> None:
    debris = (new(".idea/a.xml"), new(".idea/b.xml"))
    reading = stray_files(facts(CODE, new("PLAN.md"), new("a.bak"), *debris))
    assert reading.value == 1.75
    assert reading.quote == "PLAN.md"
    assert reading.sentence == (
        "3 files look left over from the work (backup, editor debris, plan or summary), of 5 added."
    )


def test_changed_files_never_count() -> None:
    assert stray_files(facts(CODE, ChangedFile("CLAUDE.md", "modified", 1, 0, "@@ -1 +1 @@\n-a\n+b\n"))).value == 0.0


@pytest.mark.parametrize(
    ("title", "body"),
    [("Add AGENTS.md", ""), ("Configure agents", ""), ("Fix it", "This also adds AGENTS.md, as agreed.")],
)
def test_a_file_that_the_change_is_about_is_not_stray(title: str, body: str) -> None:
    assert stray_files(facts(CODE, new("AGENTS.md"), title=title, body=body)).value == 0.0


def test_a_change_of_nothing_else_is_about_it() -> None:
    assert stray_files(facts(new("PLAN.md"))).value == 0.0


def test_an_agents_footer_does_not_excuse_its_configuration() -> None:
    assert stray_files(facts(CODE, new("CLAUDE.md"), body="Generated with Claude Code")).value == 1.0


def test_absence_of_strays_is_unknown_when_files_are() -> None:
    assert stray_files(facts(CODE, truncated=True)).value is None
    assert stray_files(facts(CODE, files=None)).value is None
    assert stray_files(facts(ChangedFile("a.py"))).value is None
    assert stray_files(facts(CODE, new("PLAN.md"), truncated=True)).value == 1.0


@pytest.mark.parametrize(
    "line",
    [
        "    # ... existing code ...",
        "// rest of the implementation",
        "x = 1  # In a real implementation, ask the server",
        "/* Your code here */",
        ' raise NotImplementedError("not implemented yet")',
        "<!-- ... rest of the file -->",
    ],
)
def test_comments_in_place_of_code(line: str) -> None:
    assert stands_in(line)


@pytest.mark.parametrize(
    "line",
    [
        'print("rest of the implementation")',
        "raise NotImplementedError",
        "# TODO: handle the rest",
        "url = '//existing code ...'",
        "the rest of the implementation",
        "# for now this is enough",
        "# skip the rest",
    ],
)
def test_other_lines_do_not_stand_in_for_code(line: str) -> None:
    assert not stands_in(line)


def test_placeholders_count_on_added_lines_of_sources_only() -> None:
    line = "# ... rest of the code"
    assert placeholder_comments(facts(new("a.py", "x", line))).value == 1.0
    assert placeholder_comments(facts(new("a.py", "x", line))).quote == "a.py:2"
    for path in ("README.md", "tests/a.py"):
        assert placeholder_comments(facts(new(path, line))).value == 0.0
    removed = ChangedFile("a.py", "modified", 0, 1, f"@@ -1 +0,0 @@\n-{line}\n")
    assert placeholder_comments(facts(removed)).value == 0.0
    assert placeholder_comments(facts(ChangedFile("a.py", "modified"))).value is None


@pytest.mark.parametrize(
    "line",
    [
        "Sure! Here's the updated description for your pull request",
        "Here is the PR description:",
        "As an AI language model, I",
        "It works. :contentReference[oaicite:3]{index=3}",
        "as shown 【4†source】",
        "see turn0search12",
    ],
)
def test_an_assistants_words_to_its_user(line: str) -> None:
    assert spoken(line, first=True)


@pytest.mark.parametrize(
    "line",
    [
        "Here is the updated patch, as discussed",
        "Sure, I can add a test",
        "As an AI agent, I was asked by a maintainer to fix it",
        "Here's a short summary of what I did",
        "I used an AI assistant for the wording",
        "Great, this fixes it",
    ],
)
def test_people_and_honest_disclosure_are_not_residue(line: str) -> None:
    assert not spoken(line, first=True)


def test_residue_is_found_in_body_commit_and_code() -> None:
    line = "Certainly! Here is the code"
    assert prompt_residue(facts(CODE, body=line)).quote == "description, line 1"
    assert prompt_residue(facts(CODE, body=f"Fix.\n{line}")).value == 0.0
    assert prompt_residue(facts(CODE, commits=(Commit(line),))).quote == "commit 1"
    assert prompt_residue(facts(new("a.py", "x", f"# {line}"))).quote == "a.py:2"


@pytest.mark.parametrize(
    "body", ["> As an AI language model, I", "```\nturn0search1\n```", 'It said "As an AI language model, I"']
)
def test_quoted_residue_is_not_the_authors(body: str) -> None:
    assert prompt_residue(facts(CODE, body=body)).value == 0.0


@pytest.mark.parametrize(
    "text", ["<function_calls>", "[a](sandbox:/mnt/data/a.py)", "<|im_start|>", "[attached_file:1]"]
)
def test_debris_of_tools_counts_anywhere(text: str) -> None:
    assert prompt_residue(facts(CODE, body=f"Fix the parser.\n{text}")).quote == "description, line 2"
    assert prompt_residue(facts(new("a.py", "x", f"# {text}"))).quote == "a.py:2"


def test_configuration_in_angle_brackets_is_no_debris() -> None:
    assert prompt_residue(facts(new("pom.xml", '<parameter name="a">b</parameter>', "<invoke>"))).value == 0.0


def test_residue_is_not_read_in_test_data_nor_in_projects_about_models() -> None:
    assert prompt_residue(facts(new("tests/fixtures/a.py", "# oaicite:1"))).value == 0.0
    assert prompt_residue(facts(new("a.py", "# oaicite:1"), repo="acme/llm-server")).value is None
    assert prompt_residue(facts(new("src/openai/a.py", "# oaicite:1"))).value is None
    assert prompt_residue(facts(new("src/db/cursor.py", "x"), new("CLAUDE.md"))).value == 0.0


def test_absence_of_residue_is_unknown_when_not_all_was_read() -> None:
    assert prompt_residue(facts(ChangedFile("a.png", "added"))).value is None
    assert prompt_residue(facts(CODE, body=None)).value is None


def test_claims_of_things_added() -> None:
    line = "- Added `src/cache.py`, `Cache.drop()` and `MAX_AGE`; created the helper function `make_key`"
    assert list(claimed(line)) == ["cache.py", "drop", "MAX_AGE", "make_key"]


@pytest.mark.parametrize(
    "line",
    [
        "Add support for `FooBar`",
        "Added a test for `parse_line`",
        "Fixes `old_name` in `src/a.py`",
        "Add `--verbose`",
        "Added `npm run build`",
        "Added `async`",
        "Add `v1.2.3`",
        "Added `https://example.org/a_b`",
        "Added `acme/widgets`",
        "Added `redis`",
        "Add `$HOME`",
        "calls the new `FooBar` API",
    ],
)
def test_names_that_nothing_decides_are_no_claims(line: str) -> None:
    assert list(claimed(line)) == []


def test_the_gap_is_the_share_of_claims_that_the_diff_lacks() -> None:
    body = "- Added `make_key`\n- Added `Cache.drop()`\n- Created `src/missing.py`\n- Uses `existing_name`"
    reading = claim_gap(facts(new("src/a.py", "def make_key(): ...", "def drop(self): ..."), body=body))
    assert reading.value == pytest.approx(1 / 3, abs=1e-6)
    assert reading.quote == "description, line 3"
    assert reading.sentence == "Of 3 things that the description names as added, 1 appears nowhere in the diff."


def test_the_gap_is_unknown_with_few_claims_or_an_unread_diff() -> None:
    body = "Added `make_key`, `drop_key` and `Cache.drop()`"
    assert claim_gap(facts(CODE, body="Added `make_key` and `drop_key`")).value is None
    assert claim_gap(facts(CODE, body=body, truncated=True)).value is None
    assert claim_gap(facts(CODE, ChangedFile("b.py", "added"), body=body)).value is None
    assert claim_gap(facts(CODE, body=body)).value == 1.0


@given(st.text() | st.none(), st.text(), st.text() | st.none(), st.text())
def test_any_text_is_read(body: str | None, path: str, patch: str | None, message: str) -> None:
    seen = facts(ChangedFile(path, "added", 1, 0, patch), body=body, commits=(Commit(message),))
    for signal in leftovers.SIGNALS:
        assert signal.read(seen).sentence


@pytest.mark.parametrize(
    "text", ["Added `a" * 9000, "fix_" * 16_000, "here's the " * 6000, "sure, " * 10_000, "'" * 65_000, "# " * 30_000]
)
def test_nothing_can_blow_it_up(text: str) -> None:
    lines = [text[at : at + 1900] for at in range(0, len(text), 1900)]
    seen = facts(*(new(text[-4000:], *lines) for _ in range(20)), body=text, commits=(Commit(text),))
    assert all(signal.read(seen).sentence for signal in leftovers.SIGNALS)
