"""Is a policy file either a whole valid policy, or a list of all its problems at their places?"""

import json
import re
import string
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from triage.marked_yaml import BYTES_MOST, DEPTH_MOST, PROBLEMS_MOST
from triage.policy import ALPHAS, DEFAULT, SOURCE, Association, Burst, Labels, Policy, PolicyError, parse, schema

ROOT = Path(__file__).parents[2]
POLICIES = ROOT / "tests" / "policies"
GOOD = sorted((POLICIES / "good").glob("*.yml"))
BAD = sorted((POLICIES / "bad").glob("*.yml"))
EXPECTED = re.compile(r"^# expected (.*)$", re.MULTILINE)


def problems(text: str | bytes) -> list[str]:
    """Return the problems of a text that must be refused, without the source."""
    with pytest.raises(PolicyError) as refusal:
        parse(text, source="f")
    lines = str(refusal.value).splitlines()
    assert len(lines) == len(refusal.value.problems)
    assert all(line.startswith("f:") for line in lines)
    return [line.removeprefix("f:") for line in lines]


# --- the contract -------------------------------------------------------------


def test_the_default_policy_is_the_one_of_the_contract_and_writes_nothing() -> None:
    assert DEFAULT.model_dump(mode="json") == {
        "version": 1,
        "mode": "observe",
        "sensitivity": "cautious",
        "labels": {
            "likely_unreviewed": "triage: author review not seen",
            "burst": "triage: burst on hold",
            "disclosed": None,
            "live_person": None,
            "over_limit": None,
        },
        "exempt": {
            "users": [],
            "apps": ["dependabot", "renovate", "github-actions", "pre-commit-ci"],
            "associations": ["OWNER", "MEMBER", "COLLABORATOR"],
            "merged_here": 3,
        },
        "disclosure": {"required": False},
        "burst": {"events": 20, "minutes": 10, "action": "label"},
        "limits": {"open_pull_requests": None},
        "probe": {"enabled": False},
        "contact": {"address": None},
        "digest": {"enabled": True, "day": "monday", "hour": 9, "timezone": "UTC", "issue": True, "email": []},
    }


@pytest.mark.parametrize(
    "text", ["", b"", "\n", "# only a comment\n", "{}", "---\n", "null", b"\xef\xbb\xbf", "\ufeff"]
)
def test_an_empty_file_is_the_default_policy(text: str | bytes) -> None:
    assert parse(text) == DEFAULT


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_good_files_are_read(path: Path) -> None:
    assert parse(path.read_bytes()).version == 1


def test_every_key_is_read_as_written() -> None:
    policy = parse((POLICIES / "good" / "whole.yml").read_bytes())
    assert (policy.mode, policy.sensitivity, policy.alpha) == ("comment", "balanced", 0.005)
    assert policy.labels == Labels(
        likely_unreviewed="triage: author review not seen", burst="hold 🧯", disclosed="AI: disclosed"
    )
    assert policy.exempt.users == ("Octo-Cat", "someone_corp")
    assert policy.exempt.apps == ("dependabot", "renovate"), "an App is known by its name, with or without [bot]"
    assert policy.exempt.associations == ("OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR")
    assert policy.exempt.merged_here == 0
    assert policy.disclosure.required is True
    assert policy.burst == Burst(events=40, minutes=12, action="minimize")
    assert policy.limits.open_pull_requests == 3
    assert policy.contact.address == "hello@example.org"
    digest = policy.digest
    assert (digest.day, digest.hour, digest.timezone) == ("friday", 17, "America/Argentina/Buenos_Aires")
    assert (digest.issue, digest.email) == (False, ("triage@example.org",))


def test_the_booleans_of_yaml_1_1_are_booleans() -> None:
    policy = parse((POLICIES / "good" / "yaml_1_1_booleans.yml").read_bytes())
    assert (policy.probe.enabled, policy.disclosure.required) == (True, True)
    assert (policy.digest.enabled, policy.digest.issue) == (False, False)


def test_a_policy_cannot_be_changed_after_it_was_read() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        DEFAULT.mode = "label"  # type: ignore[misc]
    with pytest.raises(ValidationError, match="frozen"):
        DEFAULT.labels.burst = None  # type: ignore[misc]


def test_each_sensitivity_is_its_frozen_rate() -> None:
    rates = {name: parse(f"sensitivity: {name}").alpha for name in ALPHAS}
    assert rates == {"cautious": 0.001, "balanced": 0.005, "strict": 0.01}


# --- refusals -----------------------------------------------------------------


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_bad_files_are_refused_with_all_their_problems_in_order(path: Path) -> None:
    expected = EXPECTED.findall(path.read_text(encoding="utf-8"))
    assert expected, "a bad file names what is expected of it"
    assert problems(path.read_bytes()) == expected


def test_a_refusal_names_its_source_line_and_column() -> None:
    with pytest.raises(PolicyError, match=rf"\A{re.escape(SOURCE)}:1:7: mode: expected one of ") as refusal:
        parse("mode: shout")
    (problem,) = refusal.value.problems
    assert (problem.line, problem.column) == (1, 7)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"mode: \xff", "1:7: not UTF-8: save the file as UTF-8"),
        ("mode: label".encode("utf-16"), "1:1: not UTF-8: save the file as UTF-8"),
        (b"# \xc3\xa9\nmode: la\xc3", "2:9: not UTF-8: save the file as UTF-8"),
        ("mode: label\r\n\x00", "2:1: a control character (U+0000) stands here: remove it"),
        ("mode: \x1b[31m", "1:7: a control character (U+001B) stands here: remove it"),
        ("mode: \ud800", "1:7: a control character (U+D800) stands here: remove it"),
        ('labels: {burst: "\\ud800"}', "1:17: labels.burst: a label's name holds no control characters"),
        ('labels: {burst: "\\u202ehold"}', "1:17: labels.burst: a label's name holds no control characters"),
        ('mode: "\\ud800"', "1:7: mode: expected text without broken characters"),
        ('{"\\ud800": 1}', "1:2: a key must be a plain word"),
        ('mode: "\\UFFFFFFFF"', "1:10: not YAML: a number that no text can hold"),
        (f"%YAML 1.{'9' * 5000}\n---\nmode: label", "1:9: not YAML: a number that no text can hold"),
        ("mode:\tlabel", "1:6: a tab stands here: YAML is indented with spaces"),
        ("x" * (BYTES_MOST + 1), "1:1: the file has over 65,536 bytes"),
        ("é" * (BYTES_MOST // 2 + 1), "1:1: the file has over 65,536 bytes"),
        ("[" * 60_000, f"1:{DEPTH_MOST + 1}: nested deeper than 8 levels"),
        ("- " * 30_000, f"1:{2 * DEPTH_MOST + 1}: nested deeper than 8 levels"),
        ("<<: {mode: label}", "1:1: unknown key; the keys here are " + ", ".join(Policy.model_fields)),
        ("exempt: {users: [" + "a, " * 1000 + "a]}", "1:17: exempt.users: expected at most 1000 entries"),
        ("burst: {events: 99999999999999999999}", "1:17: burst.events: expected a whole number"),
        ("version: true", "1:10: version: expected a whole number"),
    ],
)
def test_hostile_texts_are_refused_at_their_place(text: str | bytes, expected: str) -> None:
    assert problems(text) == [expected]


def test_problems_are_bounded_in_number() -> None:
    many = "".join(f"sensitivit{index}: 1\n" for index in range(3000))
    assert len(problems(many)) == PROBLEMS_MOST
    assert len(problems("mode: label\n" * 5000)) == PROBLEMS_MOST


def test_a_refusal_repeats_nothing_of_a_stranger_but_plain_words() -> None:
    """The check run on a stranger's pull request shows these lines."""
    mark = "<b>@everyone</b>"
    text = f'"{mark}": 1\nmode: "{mark}"\nexempt: {{users: ["{mark}"]}}\ndigest: {{timezone: "{mark}", "{mark}": 2}}\n'
    lines = problems(text)
    assert len(lines) == 5
    assert not any("everyone" in line or "<" in line for line in lines)


def test_a_label_written_without_quotes_that_yaml_reads_as_something_else_is_refused() -> None:
    for written in ("no", "on", "Yes", "1.5", "12", "2026-12-01", "0x1F"):
        assert problems(f"labels: {{burst: {written}}}") == [
            "1:17: labels.burst: expected text; put the value in quotes"
        ]
        if written != "no":
            assert parse(f'labels: {{burst: "{written}"}}').labels.burst == written


# --- the fingerprint ----------------------------------------------------------


def test_the_fingerprint_names_the_effective_values_however_they_are_written() -> None:
    long = parse("# a comment\nmode: 'label'\nburst:\n    minutes: 10\n")
    short = parse('{"burst": {"events": 20}, "mode": "label"}')
    assert long.fingerprint == short.fingerprint
    assert parse("").fingerprint == DEFAULT.fingerprint
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", long.fingerprint)


def test_every_value_changes_the_fingerprint() -> None:
    texts = [
        "mode: label",
        "sensitivity: strict",
        "labels: {burst: null}",
        "exempt: {users: [a]}",
        "exempt: {merged_here: 4}",
        "disclosure: {required: true}",
        "burst: {action: lock}",
        "limits: {open_pull_requests: 3}",
        "probe: {enabled: true}",
        "contact: {address: a@example.org}",
        "digest: {hour: 10}",
    ]
    names = {parse(text).fingerprint for text in ["", *texts]}
    assert len(names) == len(texts) + 1


def test_the_fingerprint_of_the_default_policy_is_constant() -> None:
    """Verdicts are compared by it across versions: a new key or default is a change that somebody must mean."""
    assert DEFAULT.fingerprint == "sha256:3c2c8b14bb7c885d03a5077a0ee3278d97d5456982c2b2bedc28d4dcf47e4a1e"


# --- the published schema -----------------------------------------------------


def test_the_published_schema_is_the_parsers_own() -> None:
    published = (ROOT / "docs" / "triage.schema.json").read_text(encoding="utf-8")
    made = json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"
    assert published == made, "write json.dumps(schema(), indent=2, ensure_ascii=False) and a line end to the file"


def test_the_schema_describes_every_key_and_refuses_others() -> None:
    made = schema()
    assert made["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    for section in (made, *made["$defs"].values()):
        assert section["additionalProperties"] is False
        assert section["description"]
        for key, value in section["properties"].items():
            assert "$ref" in value or value["description"], key
            assert "default" in value, key
            assert "title" not in value, key
    assert made["properties"]["version"]["const"] == 1
    associations = made["$defs"]["Exempt"]["properties"]["associations"]["items"]["enum"]
    assert tuple(associations) == Association.__args__  # type: ignore[attr-defined]


# --- any text -----------------------------------------------------------------


def _outcome(text: str | bytes) -> Policy | str:
    try:
        return parse(text)
    except PolicyError as error:
        refusal = error
    assert 0 < len(refusal.problems) <= PROBLEMS_MOST
    assert all(one.line >= 1 and one.column >= 1 and "\n" not in one.message for one in refusal.problems)
    return str(refusal)


@given(st.binary(max_size=400))
def test_any_bytes_are_a_policy_or_a_refusal(text: bytes) -> None:
    assert _outcome(text)


_PIECES = [
    *(
        *Policy.model_fields,
        *Labels.model_fields,
        "events",
        "users",
        "timezone",
        "yes",
        "null",
        "1",
        "-1",
        "1e9",
        "0o7",
    ),
    *(
        ": ",
        ":",
        "\n",
        "\n  ",
        "\n    ",
        "- ",
        "? ",
        "[",
        "]",
        "{",
        "}",
        ", ",
        "&a ",
        "*a",
        "!!str ",
        "!<x> ",
        "2026-12-01",
    ),
    *("%YAML 1.1\n", "---\n", "...\n", "|\n", ">-\n", '"', "'", "#", "<<", "=", "~", "\\", "\\U", "\\x", "@", "`"),
    *("\t", "\r", "\ufeff", "\x85", "\u2028"),
]


@given(st.lists(st.sampled_from(_PIECES), max_size=60).map("".join))
@settings(max_examples=400)
def test_any_heap_of_yaml_is_a_policy_or_a_refusal(text: str) -> None:
    assert _outcome(text) == _outcome(text.encode())


_NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=50).filter(
    lambda name: name.lower() not in {"none", "null", "nil"}
)
_LOGINS = st.text(string.ascii_letters + string.digits, min_size=1, max_size=39)
_MAILBOXES = st.builds("{}@{}.example".format, _LOGINS, _LOGINS)


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Draw any valid policy."""
    keys = list(Labels.model_fields)
    drawn = draw(st.lists(_NAMES, min_size=len(keys), max_size=len(keys), unique_by=str.lower))
    labels = {key: draw(st.sampled_from([name, None])) for key, name in zip(keys, drawn, strict=True)}
    return Policy.model_validate(
        {
            "mode": draw(st.sampled_from(["observe", "label", "comment"])),
            "sensitivity": draw(st.sampled_from(list(ALPHAS))),
            "labels": labels,
            "exempt": {
                "users": draw(st.lists(_LOGINS, max_size=5)),
                "apps": draw(st.lists(_LOGINS, max_size=5)),
                "associations": draw(st.lists(st.sampled_from(["OWNER", "NONE", "FIRST_TIMER"]), max_size=3)),
                "merged_here": draw(st.integers(0, 100)),
            },
            "disclosure": {"required": draw(st.booleans())},
            "burst": {
                "events": draw(st.integers(2, 1000)),
                "minutes": draw(st.integers(1, 1440)),
                "action": draw(st.sampled_from(["none", "label", "minimize", "lock"])),
            },
            "limits": {"open_pull_requests": draw(st.none() | st.integers(1, 1000))},
            "probe": {"enabled": draw(st.booleans())},
            "contact": {"address": draw(st.none() | _MAILBOXES)},
            "digest": {
                "enabled": draw(st.booleans()),
                "day": draw(st.sampled_from(["monday", "sunday"])),
                "hour": draw(st.integers(0, 23)),
                "timezone": draw(st.sampled_from(["UTC", "Europe/Berlin", "Etc/GMT+12"])),
                "issue": draw(st.booleans()),
                "email": draw(st.lists(_MAILBOXES, max_size=5)),
            },
        }
    )


@given(policies(), st.booleans())
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_a_policy_that_is_written_out_is_read_back_equal(policy: Policy, flow: bool) -> None:
    text = yaml.safe_dump(policy.model_dump(mode="json"), default_flow_style=flow, allow_unicode=True)
    again = parse(text.encode())
    assert again == policy
    assert again.fingerprint == policy.fingerprint
