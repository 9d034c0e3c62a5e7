"""Verbosity reads the author's own words, and says unknown where it does not know."""

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.facts import ChangedFile, Commit, Facts, PullRequest, Repository
from triage.signals import verbosity

AGENT = (
    "## Summary\n\n- **Cache**: adds a cache\n- **Tests**: adds tests\n- **Docs**: adds docs\n\n"
    "## \u2705 Testing\n\n- \u2705 All 42 tests pass\n- Verified that the build is green\n"
)


def facts(body: str | None = "", room: Repository | None = None, **pull: object) -> Facts:
    request = dataclasses.replace(PullRequest(body=body), **pull)  # type: ignore[arg-type]
    return Facts(pull_request=request, repository=room or Repository(templates=()))


def test_an_unread_description_is_unknown_everywhere() -> None:
    readings = {signal.name: signal.read(facts(None)).value for signal in verbosity.SIGNALS}
    assert set(readings.values()) == {None}
    assert all(signal.read(Facts()).value is None for signal in verbosity.SIGNALS)


def test_an_empty_description_is_known_and_reads_below_what_people_write() -> None:
    empty = facts("", additions=3, deletions=1)
    assert verbosity.resid_words(empty).value == pytest.approx(-3.384 / 2.132, abs=1e-6)
    assert (verbosity.words_per_line(empty).value or 0) < 0
    for signal in (verbosity.bullet_share, verbosity.extra_headings, verbosity.bold_lead, verbosity.emoji_structure):
        assert signal(empty).value == 0.0


def test_words_are_measured_against_the_repositorys_own_people() -> None:
    room = Repository(templates=(), baseline={"resid_words": (math.log(4), 1.0)})
    reading = verbosity.resid_words(facts("one two three", room))
    assert reading.value == 0.0
    assert reading.sentence == "The description has 3 words of its own; people here usually write 3."
    assert reading.quote == "description, line 1"


def test_a_repository_where_all_write_alike_does_not_blow_up_a_word() -> None:
    room = Repository(baseline={"resid_words": (math.log(4), 0.0)})
    assert verbosity.resid_words(facts("one two three four", room)).value == pytest.approx(
        math.log(5 / 4) / 0.5, abs=1e-6
    )


def test_template_words_and_boxes_do_not_count() -> None:
    template = "## Code agent policy\nAgents such as Claude must say so and run all tests.\n- [ ] not an agent\n"
    with_template = facts(template.replace("[ ]", "[x]"), Repository(templates=(template,)))
    assert verbosity.resid_words(with_template).n == 0
    assert verbosity.bullet_share(with_template).value == 0.0
    assert verbosity.extra_headings(with_template).value == 0.0


def test_headings_are_unknown_when_the_templates_are() -> None:
    assert verbosity.extra_headings(facts("## A\n", Repository())).value is None


def test_few_words_of_a_translation_stay_below_the_usual() -> None:
    assert (verbosity.resid_words(facts("Traducci\u00f3 al catal\u00e0 i llat\u00ed")).value or 0) < 0


def test_words_per_line_compares_with_the_diff_or_is_unknown() -> None:
    long, short = facts("word " * 900, additions=2, deletions=1), facts("word " * 20, additions=200, deletions=10)
    assert (verbosity.words_per_line(long).value or 0) > 2
    assert (verbosity.words_per_line(short).value or 0) < 0
    assert verbosity.words_per_line(long).sentence == "900 words of description for 3 changed lines."
    assert verbosity.words_per_line(facts("a", additions=0, deletions=0)).value is None
    assert verbosity.words_per_line(facts("a")).value is None
    files = (ChangedFile("a", additions=1, deletions=1), ChangedFile("b", additions=2, deletions=None))
    assert verbosity.words_per_line(facts("a", files=files)).value is None
    assert verbosity.words_per_line(facts("a", files=files[:1])).value is not None
    assert verbosity.words_per_line(facts("a", files=files[:1], truncated=True)).value is None


def test_layout_of_an_agents_description() -> None:
    seen = facts(AGENT)
    assert verbosity.bullet_share(seen).value == pytest.approx(5 / 7, abs=1e-6)
    assert verbosity.bold_lead(seen).value == 3.0
    assert verbosity.bold_lead(seen).quote == "description, line 3"
    assert verbosity.extra_headings(seen).value == 2.0
    assert verbosity.emoji_structure(seen).value == 2.0


def test_one_bullet_alone_is_no_layout() -> None:
    assert verbosity.bullet_share(facts("- fix it")).value == 0.25


@pytest.mark.parametrize(
    "line",
    [
        "All tests pass.",
        "all 12 unit tests are passing",
        "Verified that it works",
        "✅ Build and lint",
        "No regressions",
        "Alle Tests laufen durch",
        "Tous les tests passent",
        "所有测试已通过",
        "Thoroughly tested",
    ],
)
def test_results_that_nothing_bears_out_are_counted(line: str) -> None:
    assert verbosity.validation_claims(facts(line, files=())).value == 1.0


@pytest.mark.parametrize(
    "line",
    [
        "Tested locally.",
        "I tested this on my machine",
        "Not yet verified with the new API",
        "- [ ] All tests pass",
        "Please merge once all tests pass",
        "I couldn't get it verified on Windows",
        "> All tests pass",
        "`all tests pass`",
    ],
)
def test_what_people_say_of_tests_is_no_claim(line: str) -> None:
    body = f"```\n{line}\n```" if line.startswith("`") else line
    assert verbosity.validation_claims(facts(body, files=())).value == 0.0


def test_claims_count_only_where_no_check_ran_and_no_test_changed() -> None:
    assert verbosity.validation_claims(facts(AGENT, files=(ChangedFile("a.py"),))).value == 2.0
    assert verbosity.validation_claims(facts(AGENT, files=(ChangedFile("tests/a.py"),))).value == 0.0
    assert verbosity.validation_claims(facts(AGENT, files=(), checks="pending")).value == 0.0
    assert verbosity.validation_claims(facts(AGENT)).value is None
    assert verbosity.validation_claims(facts(AGENT, files=(), truncated=True)).value is None


def test_commit_bodies_count_long_and_listed_ones_without_trailers() -> None:
    commits = (
        Commit("feat: add a cache\n\n- one\n- two\n- three\n"),
        Commit("Fix it\n\nSigned-off-by: A <a@example.org>\nCo-authored-by: B <b@example.org>\nReviewed-by: C"),
        Commit("Merge branch 'main'"),
        Commit(None),
    )
    reading = verbosity.commit_bodies(facts(commits=commits))
    assert (reading.value, reading.n) == (1.0, 2)
    assert verbosity.commit_bodies(facts(commits=(Commit(None),))).value is None


@given(st.text() | st.none(), st.text(), st.integers(0, 10**9))
def test_any_text_is_read(body: str | None, message: str, lines: int) -> None:
    seen = facts(body, commits=(Commit(message),), additions=lines, deletions=0, files=())
    for signal in verbosity.SIGNALS:
        value = signal.read(seen).value
        assert value is None or math.isfinite(value)
