"""Marks and statements are read where the author made them; templates, quotes and namesakes are nobody's statement."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from triage.facts import Author, Commit, Facts, PullRequest, Repository, TimelineEvent
from triage.signals import disclosure

TEMPLATE = """## What
<!-- Claude, Copilot and other agents: read CONTRIBUTING first -->
## Code agent policy
Pull requests generated with Claude Code or written by ChatGPT without a person are closed.
## Did you use AI for this?
- [ ] I am not a code agent
- [ ] I used AI tools such as Copilot
"""


def _facts(
    body: str | None = "",
    *,
    login: str = "ada",
    account: str = "User",
    branch: str | None = "fix-header",
    commits: Sequence[Commit] | None = (),
    app: str | None = None,
    comments: Sequence[str] = (),
    templated: bool = False,
    required: bool | None = None,
) -> Facts:
    at = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
    return Facts(
        author=Author(login=login, type=account),
        pull_request=PullRequest(
            body=body, head_ref=branch, commits=None if commits is None else tuple(commits), app_author=app
        ),
        timeline=tuple(TimelineEvent(at, "comment", login, account, is_author=True, body=text) for text in comments),
        repository=Repository(templates=(TEMPLATE,) if templated else None, disclosure_required=required),
    )


CLAUDE = Commit(message="Fix header\n\nCo-Authored-By: Claude <noreply@anthropic.com>")


@pytest.mark.parametrize(
    ("facts", "tool"),
    [
        (_facts(branch="claude/fix-header-Ab3dE"), "Claude Code"),
        (_facts(branch="ada:codex/fix-header"), "Codex"),
        (_facts(branch="copilot/fix-1234"), "Copilot"),
        (_facts(branch="cursor/fix-the-header-1a2b"), "Cursor"),
        (_facts(branch="devin/1730000000-fix"), "Devin"),
        (_facts(commits=[CLAUDE]), "Claude"),
        (_facts(commits=[Commit(trailers={"Co-authored-by": "Cursor <cursoragent@cursor.com>"})]), "Cursor"),
        (_facts(commits=[Commit(message="x\n\nAssisted-by: Claude:opus-4")]), "Claude"),
        (
            _facts(
                commits=[Commit(trailers={"Co-authored-by": "Copilot <198982749+Copilot@users.noreply.github.com>"})]
            ),
            "Copilot",
        ),
        (_facts(commits=[Commit(message="x", author_login="google-labs-jules[bot]")]), "Jules"),
        (_facts("Fix.\n\n\U0001f916 Generated with [Claude Code](https://claude.ai/code)"), "Claude Code"),
        (_facts("See https://app.devin.ai/sessions/0123abcd"), "Devin"),
        (_facts("https://chatgpt.com/codex/tasks/task_e_68a"), "Codex"),
        (_facts("Fix.\n\nCo-authored-by: Claude <no-reply@anthropic.com>"), "Claude"),
        (_facts(app="copilot-swe-agent"), "Copilot"),
        (_facts(login="devin-ai-integration[bot]", account="Bot"), "Devin"),
        (_facts(comments=["Session: https://ampcode.com/threads/T-0aa"]), "Amp"),
    ],
)
def test_an_agents_mark_is_seen(facts: Facts, tool: str) -> None:
    reading = disclosure.trace(facts)
    assert reading.value == 1.0
    assert reading.sentence.endswith(f"carries the mark of {tool}.")
    assert reading.quote
    assert disclosure.discloses(facts)


@pytest.mark.parametrize(
    ("who", "facts"),
    [
        ("a person called Claude", _facts(commits=[Commit(message="x\n\nCo-authored-by: Claude <claude@example.fr>")])),
        ("the account claude", _facts(login="claude", branch="claude/fix-header")),
        ("a branch on the text cursor", _facts(branch="cursor/blink-rate")),
        ("a project that speaks of agents", _facts("Add a page on Claude and Copilot to the docs.")),
        ("a quoted footer", _facts("> Generated with [Claude Code](https://claude.ai/code)\n\nWhy is this here?")),
        ("a fenced footer", _facts("```\nGenerated with Claude Code\n```\nis now stripped")),
        ("a fenced trailer", _facts("```\nCo-authored-by: Claude <noreply@anthropic.com>\n```\nis now stripped")),
        ("a template", _facts(TEMPLATE + "\nFixes the header.", templated=True)),
        ("a dependency bot", _facts(login="dependabot[bot]", account="Bot", branch="dependabot/pip/x-2")),
        ("a web edit", _facts(commits=[Commit(message="Update README.md", author_login="ada")])),
        ("an assistant with a name", _facts(commits=[Commit(message="x\n\nAssisted-by: Kim Lee <kim@example.org>")])),
        ("two people", _facts(commits=[Commit(message="x\n\nCo-authored-by: Kim <1+kim@users.noreply.github.com>")])),
    ],
)
def test_no_mark(who: str, facts: Facts) -> None:
    reading = disclosure.trace(facts)
    assert reading.value == 0.0, f"{who}: {reading.sentence}"


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("I used Claude for the tests.", 1.0),
        ("I've used ChatGPT to translate this text.", 1.0),
        ("The text was written with the help of GitHub Copilot, the code is mine.", 1.0),
        ("AI was used for the regular expression.", 1.0),
        ("AI-assisted: yes", 1.0),
        ("Der Text ist mit Hilfe von ChatGPT übersetzt.", 1.0),
        ("He traducido esto con ayuda de ChatGPT.", 1.0),
        ("这段代码使用 ChatGPT 修改过。", 1.0),
        ("No AI was used.", 0.0),
        ("I did not use ChatGPT, and wrote this without AI.", 0.0),
        ("- [x] I used AI tools such as Copilot", 1.0),
        ("- [X] I am not a code agent", 0.0),
        ("- [ ] I used AI tools", None),
        ("- [x] I have read the AI policy", None),
        ("Fixes the text cursor in the header. Users can use it now.", None),
        ("J'ai utilisé le cache existant.", None),
        ("", None),
    ],
)
def test_the_authors_word_is_read(body: str, value: float | None) -> None:
    reading = disclosure.policy_disclosed(_facts(body))
    assert reading.value == value, reading.sentence


@pytest.mark.parametrize(
    ("answer", "value"), [("No", 0.0), ("Nein.", 0.0), ("Yes", 1.0), ("Copilot, for the tests", 1.0), ("", None)]
)
def test_the_repositorys_question_is_answered_below_it(answer: str, value: float | None) -> None:
    body = f"## What\nFix.\n## Did you use AI for this?\n{answer}\n"
    assert disclosure.policy_disclosed(_facts(body, templated=True)).value == value


def test_a_template_with_a_ticked_box_discloses_nothing() -> None:
    """Case B-088: the policy's own words name agents, and the author ticked that there is none."""
    facts = _facts(TEMPLATE.replace("[ ] I am not", "[x] I am not") + "\nFix.", templated=True)
    assert disclosure.policy_disclosed(facts).value == 0.0
    assert not disclosure.discloses(facts)


def test_a_later_word_of_the_author_discloses() -> None:
    assert (
        disclosure.policy_disclosed(_facts("Fix.", comments=["Sorry, I used Codex as our site was down."])).value == 1.0
    )


@pytest.mark.parametrize(
    ("why", "facts", "value"),
    [
        ("not asked for", _facts(commits=[CLAUDE]), None),
        ("asked, silent, a trailer", _facts("Fix.", commits=[CLAUDE], required=True), 1.0),
        ("asked, denied, a branch", _facts("No AI was used.", branch="codex/fix", required=True), 1.0),
        ("asked, stated", _facts("I used Claude for this.", commits=[CLAUDE], required=True), 0.0),
        ("asked, a footer", _facts("Generated with Claude Code", commits=[CLAUDE], required=True), 0.0),
        ("asked, nothing to state", _facts("Fix.", required=True), 0.0),
    ],
)
def test_a_required_disclosure_and_a_mark_must_agree(why: str, facts: Facts, value: float | None) -> None:
    assert disclosure.disclosure_conflict(facts).value == value, why


def test_the_disclosure_axis_moves_no_head_by_itself() -> None:
    heads = {signal.name: signal.heads for signal in disclosure.SIGNALS}
    assert heads == {"trace": (), "policy_disclosed": (), "disclosure_conflict": ("unreviewed",)}


def test_nothing_read_is_unknown() -> None:
    for signal in disclosure.SIGNALS:
        assert signal.read(Facts()).value is None, signal.name
    assert disclosure.trace(_facts(None, branch=None, commits=None)).value is None
