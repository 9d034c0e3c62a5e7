"""The author's own words are what is left of a body, whatever the body holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.prose import APPENDED, LONGEST, count_words, normal, residual

TEMPLATE = """## What does this change?

<!-- Describe it -->

## Code agent policy

If Claude Code, Copilot, Cursor or Codex wrote this, say so. Agents must run all tests.

- [ ] I am not an agent
- [ ] All tests pass
**Linked issue:** #
"""

PIECES = st.sampled_from(
    [
        "<!--",
        "-->",
        "```",
        "~~~",
        "> ",
        "- ",
        "# ",
        "1. ",
        "**",
        "--",
        "===",
        "---",
        "\r\n",
        "\n",
        "\r",
        "\u200b",
        "\u2028",
        "/azp run",
        "@bot rebase",
        "Signed-off-by: a",
        "Linked issue: ",
        "why: ",
        "word",
        " ",
        "\t",
        "`",
        "[x]",
        "🚀",
        "<!-- CURSOR_SUMMARY -->",
        "## Summary by CodeRabbit",
        "<b>",
        "中文",
        "- [ ] I am not an agent",
        ":",
        "?",
    ]
)
TEXT = st.one_of(st.text(), st.lists(PIECES, max_size=40).map("".join))


def test_a_template_with_agent_words_and_ticked_boxes_leaves_nothing() -> None:
    body = TEMPLATE.replace("[ ]", "[x]").replace("**Linked issue:** #", "**Linked issue:** #12")
    assert residual(body, templates=[TEMPLATE]).text == "**Linked issue:** #12"
    own = residual(TEMPLATE.replace("[ ]", "[X]") + "\r\nFix a typo.\r\n", templates=[TEMPLATE])
    assert own.text == "Fix a typo."
    assert (own.words, own.headings, own.bullets) == (3, (), ())


def test_what_is_filled_in_behind_a_templates_line_is_kept_without_the_line() -> None:
    own = residual("Why is it needed? The cache is stale.", templates=["Why is it needed?\n"])
    assert own.text == "The cache is stale."


def test_common_lines_go_whatever_their_case_and_space() -> None:
    assert residual("  THIS  is checked\nmine", common_lines=["this is checked"]).text == "mine"


def test_unknown_templates_take_nothing_away() -> None:
    assert residual("## Summary\n- a", templates=None, common_lines=None).nonempty_lines == 2


@pytest.mark.parametrize("body", [None, "", "  \r\n\t", "<!-- only a comment", "> quoted\n> text", "```\ncode"])
def test_bodies_without_own_words_read_as_empty(body: str | None) -> None:
    own = residual(body)
    assert (own.text, own.words, own.nonempty_lines, own.truncated) == ("", 0, 0, False)


def test_a_link_is_one_word() -> None:
    assert residual("https://example.org/a/b?c=d-e").words == 1


def test_carriage_returns_change_nothing() -> None:
    body = "# Title\n\n- **one** thing\n- two\n\n```\ncode\n```\nend\n"
    assert residual(body.replace("\n", "\r\n")) == residual(body) == residual(body.replace("\n", "\r"))


def test_commands_trailers_quotes_and_signatures_are_not_own_words() -> None:
    body = (
        "Fix the parser.\n/azp run\n@dependabot rebase\nSigned-off-by: A B <a@example.org>\n"
        "On Mon, Jan 5, 2026 at 9:00 AM A B wrote:\n> why?\nBecause.\n-- \nA B\nExample Ltd\n"
    )
    assert residual(body).text == "Fix the parser.\nBecause."


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (
            "<!-- This is an auto-generated comment: release notes by coderabbit.ai -->",
            "<!-- end of auto-generated comment -->",
        ),
        ("<!-- CURSOR_SUMMARY -->", "<!-- /CURSOR_SUMMARY -->"),
        ("<!-- greptile_comment -->", "<!-- /greptile_comment -->"),
        ("<!-- ELLIPSIS_HIDDEN -->", "<!-- ELLIPSIS_HIDDEN -->"),
        ("<!-- start pr-codex -->", "<!-- end pr-codex -->"),
        ("## Summary by Sourcery", "## My own heading"),
        ("## Summary by CodeRabbit", "# My own heading"),
    ],
)
def test_only_the_block_that_an_app_appended_goes(start: str, end: str) -> None:
    own = residual(f"Before.\n{start}\n### New Features\n- **Bold**: added\n{end}\nAfter.").text.split("\n")
    assert own == ["Before.", *([end] if end.startswith("#") else []), "After."]


def test_every_appended_block_is_dated() -> None:
    assert all(len(seen) == 7 and seen[4] == "-" for seen, *_ in APPENDED)


def test_layout_is_read() -> None:
    own = residual("Title\n=====\n## \U0001f680 Two\n- **Lead**: x\n* plain\n3) third\n- \u2705 done\n**bold** text\n")
    assert [line.heading for line in own.headings] == [1, 2]
    assert len(own.bullets) == 4
    assert [line.text for line in own.bold_leads] == ["- **Lead**: x"]
    assert len(own.emoji_leads) == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Traducci\u00f3 al catal\u00e0 i llat\u00ed", 5),
        ("\u4fee\u590d\u4e86\u4e00\u4e2a\u9519\u8bef", 4),
        ("\u4fee\u590d parser \u9519\u8bef", 3),
        ("\u0627\u0644\u0633\u0644\u0627\u0645 \u200f\u0639\u0644\u064a\u0643\u0645", 2),
        ("\ud55c\uad6d\uc5b4 \ubb38\uc7a5", 2),
        ("<details><summary>More</summary> - **\u2014**", 1),
        ("\U0001f468\u200d\U0001f469\u200d\U0001f467 ok", 1),
    ],
)
def test_words_are_counted_in_any_script(text: str, words: int) -> None:
    assert count_words(text) == words


def test_a_long_german_body_keeps_its_words_and_headings() -> None:
    body = (
        "## Worum es geht\n\n"
        + "Die \u00c4nderung r\u00e4umt die Pr\u00fcfung auf. " * 80
        + "\n\n## Offene Fragen\n\nKeine."
    )
    own = residual(body)
    assert (own.words, len(own.headings)) == (486, 2)


@pytest.mark.parametrize(
    "body",
    [
        "x" * 25000000,
        "> " * 10000 + "a",
        "\n".join(">" * n for n in range(1, 400)),
        "a " * 500000,
        "<!--" * 20000,
        "`" * 65000 + "a`",
        "<a " * 30000,
        "- " + " " * 65000,
        "why: " * 20000,
        "*" * 60000 + "a",
        "[x] " * 20000,
    ],
)
def test_nothing_can_blow_it_up(body: str) -> None:
    own = residual(body, templates=["why:\n"])
    assert own.truncated == (len(body) > LONGEST)
    assert len(own.text) <= LONGEST


@given(TEXT)
def test_what_is_left_of_what_is_left_is_the_same(body: str) -> None:
    once = residual(body, templates=[TEMPLATE, "why:"])
    twice = residual(once.text, templates=[TEMPLATE, "why:"])
    assert (twice.text, twice.words) == (once.text, once.words)


@given(st.binary())
def test_any_bytes_are_read(raw: bytes) -> None:
    assert residual(raw.decode(errors="replace")).words >= 0


@given(TEXT)
def test_a_body_that_is_its_template_leaves_nothing(body: str) -> None:
    assert residual(body, templates=[body]).text == ""


@given(st.text())
def test_a_normal_line_is_its_own_normal_form(line: str) -> None:
    assert normal(normal(line)) == normal(line)
