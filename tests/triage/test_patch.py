"""Hunks give the added and removed lines with their numbers, and say when they are not whole."""

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unidiff import PatchSet

from triage.patch import Hunks, is_test, scan

LINES = st.lists(
    st.sampled_from(["a", "b", "", "-- x", "++ y", "@@ -1 +1 @@", "\\ z", " i", "+", "-", "--- a", "+++ b"]),
    max_size=30,
)


def hunks(old: list[str], new: list[str], context: int = 3) -> str:
    return "".join(line + "\n" for line in list(difflib.unified_diff(old, new, "a", "b", lineterm="", n=context))[2:])


@given(LINES, LINES, st.integers(0, 3))
def test_it_reads_what_unidiff_reads(old: list[str], new: list[str], context: int) -> None:
    patch = hunks(old, new, context)
    seen = scan(patch)
    files = PatchSet("--- a/f\n+++ b/f\n" + patch) if patch else []
    lines = [line for file in files for hunk in file for line in hunk]
    assert seen.added == tuple((line.target_line_no, line.value.rstrip("\n")) for line in lines if line.is_added)
    assert seen.removed == tuple((line.source_line_no, line.value.rstrip("\n")) for line in lines if line.is_removed)
    assert seen.whole


@given(LINES, LINES)
def test_the_changed_lines_carry_the_old_text_into_the_new(old: list[str], new: list[str]) -> None:
    seen = scan(hunks(old, new))
    rest = dict(enumerate(old, 1))
    for number, text in seen.removed:
        assert rest.pop(number) == text
    kept = iter(rest.values())
    added = dict(seen.added)
    assert [added[n] if n in added else next(kept) for n in range(1, len(new) + 1)] == new


@given(st.text())
def test_any_text_is_read(patch: str) -> None:
    assert scan(patch).hunks >= 0


@given(LINES, LINES, st.integers(1, 200))
def test_a_cut_patch_never_invents_lines(old: list[str], new: list[str], cut: int) -> None:
    patch = hunks(old, new)
    part = scan(patch[:cut])
    assert {number for number, _ in part.added} <= {number for number, _ in scan(patch).added}


def test_a_removed_line_that_looks_like_a_header_is_a_removed_line() -> None:
    assert scan("@@ -1,2 +1,1 @@\n--- a\n b\n").removed == ((1, "-- a"),)


def test_a_missing_newline_and_carriage_returns_are_no_lines() -> None:
    patch = "@@ -1 +1,2 @@\r\n-a\r\n\\ No newline at end of file\r\n+b\r\n+c\r\n\\ No newline at end of file"
    assert scan(patch) == Hunks(((1, "b"), (2, "c")), ((1, "a"),), 1, whole=True)


@pytest.mark.parametrize(
    "patch", [None, "garbage", "@@ -1,5 +1,5 @@\n a\n", "@@@ -1 -1 +1 @@@\n++a\n", "@@ -1 +1 @@\n a\nrest\n"]
)
def test_what_is_not_whole_says_so(patch: str | None) -> None:
    assert not scan(patch).whole


def test_an_empty_patch_is_known_to_change_nothing() -> None:
    assert scan("") == Hunks()


def test_a_header_with_absurd_numbers_is_no_header() -> None:
    assert scan(f"@@ -1 +{'9' * 5000} @@\n+a\n").added == ()


@pytest.mark.parametrize(
    "path", ["tests/a.py", "src/test_a.py", "a_test.go", "a.spec.ts", "FooTest.java", "x/__tests__/a.js"]
)
def test_test_files_are_told_by_their_path(path: str) -> None:
    assert is_test(path)


@pytest.mark.parametrize("path", ["src/latest.py", "contest/a.py", "attestation.go", "docs/testing.md", "a.py"])
def test_other_files_are_no_tests(path: str) -> None:
    assert not is_test(path)
