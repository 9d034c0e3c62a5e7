"""What does a repository want done, as its ``.github/triage.yml`` says?

Promise: a text is either a whole valid policy or a list of all its problems with line and column, never half of each.
Keys that are left out have the defaults below, which write nothing to GitHub.
"""

import hashlib
import json
import re
import unicodedata
from functools import lru_cache
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from triage.marked_yaml import PROBLEMS_MOST, MarkedError, Problem, read
from triage.policy_refusal import problem

__all__ = ["DEFAULT", "SOURCE", "Policy", "PolicyError", "Problem", "parse", "schema"]

SOURCE: Final = ".github/triage.yml"
LABEL_MOST: Final = 50  # characters, GitHub's bound

Mode = Literal["observe", "label", "comment"]
Sensitivity = Literal["cautious", "balanced", "strict"]
Association = Literal[
    "OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR", "FIRST_TIME_CONTRIBUTOR", "FIRST_TIMER", "MANNEQUIN", "NONE"
]
BurstAction = Literal["none", "label", "minimize", "lock"]
Day = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

ALPHAS: Final[dict[Sensitivity, float]] = {"cautious": 0.001, "balanced": 0.005, "strict": 0.01}

_LOGIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_SLUG: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_MAILBOX: Final = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z0-9-]{2,63}")
_ZONE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+){0,2}")


class PolicyError(ValueError):
    """A policy file that cannot be used: every problem, in the order of the file. ``str()`` gives one a line."""

    def __init__(self, problems: tuple[Problem, ...], source: str) -> None:
        super().__init__("\n".join(f"{source}:{one.line}:{one.column}: {one.message}" for one in problems))
        self.problems = problems
        self.source = source


def _version(number: int) -> int:
    if number != 1:
        raise ValueError("this version of Livefirst reads version 1")
    return number


def _label_name(name: str) -> str:
    if not 0 < len(name) <= LABEL_MOST:
        raise ValueError(f"a label's name has 1 to {LABEL_MOST} characters")
    # Line and paragraph separators and the marks that turn the reading order hide what a label says.
    if any(
        unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}
        or char in "\u202a\u202b\u202c\u202d\u202e"
        or "\u2066" <= char <= "\u2069"
        for char in name
    ):
        raise ValueError("a label's name holds no control characters")
    if name != name.strip():
        raise ValueError("a label's name does not begin or end with a space")
    if name.lower() in {"none", "null", "nil"}:
        raise ValueError("write null, without quotes, to never set this label")
    return name


def _login(name: str) -> str:
    if name.endswith("[bot]"):
        raise ValueError("an App is listed under exempt.apps, without its [bot]")
    if not _LOGIN.fullmatch(name):
        raise ValueError("expected a login: letters, digits and hyphens, without the @")
    return name


def _app(name: str) -> str:
    slug = name.removesuffix("[bot]")
    if not _SLUG.fullmatch(slug):
        raise ValueError("expected an App's name as in its address: letters, digits and hyphens")
    return slug


def _mailbox(address: str) -> str:
    if len(address) > 254 or not _MAILBOX.fullmatch(address):  # noqa: PLR2004  # RFC 5321, 4.5.3.1.3
        raise ValueError("expected one mail address, such as triage@example.org")
    return address


def _zone(name: str) -> str:
    if len(name) > 64 or not _ZONE.fullmatch(name):  # noqa: PLR2004  # the longest name of the tz database has 32
        raise ValueError("expected a time zone such as UTC or Europe/Berlin")
    return name


LabelName = Annotated[
    StrictStr, AfterValidator(_label_name), Field(json_schema_extra={"minLength": 1, "maxLength": LABEL_MOST})
]
Login = Annotated[StrictStr, AfterValidator(_login)]
AppName = Annotated[StrictStr, AfterValidator(_app)]
Mailbox = Annotated[StrictStr, AfterValidator(_mailbox)]
Zone = Annotated[StrictStr, AfterValidator(_zone)]


class _Section(BaseModel):
    """A mapping of the file: frozen, no other keys, no conversion of types."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, use_attribute_docstrings=True)


class Labels(_Section):
    """The name of each label that the App may set; null means never."""

    likely_unreviewed: LabelName | None = "triage: author review not seen"
    """On a pull request of the lane likely_unreviewed."""
    burst: LabelName | None = "triage: burst on hold"
    """On the threads that a flood by one person hit."""
    disclosed: LabelName | None = None
    """On a pull request that states its use of an agent and does not contradict it."""
    live_person: LabelName | None = None
    """On a pull request whose author is visibly there."""
    over_limit: LabelName | None = None
    """On the pull requests of a newcomer who has more open than limits.open_pull_requests."""

    @model_validator(mode="after")
    def _told_apart(self) -> "Labels":
        seen: dict[str, str] = {}
        for key in type(self).model_fields:
            name = getattr(self, key)
            if name is not None and seen.setdefault(name.lower(), key) != key:
                message = "has the same name as labels.{other}: GitHub does not tell case apart"
                raise PydanticCustomError("same_label", message, {"key": key, "other": seen[name.lower()]})
        return self


class Exempt(_Section):
    """Whom the App never judges in public."""

    users: tuple[Login, ...] = Field(default=(), max_length=1000)
    """Logins, in any case, without the @."""
    apps: tuple[AppName, ...] = Field(
        default=("dependabot", "renovate", "github-actions", "pre-commit-ci"), max_length=1000
    )
    """Apps by the name in their address, with or without [bot]."""
    associations: tuple[Association, ...] = ("OWNER", "MEMBER", "COLLABORATOR")
    """What GitHub says of the author and this repository."""
    merged_here: StrictInt = Field(default=3, ge=0, le=100)
    """This many merged pull requests here exempt a person, except from the burst rule; 0 turns it off."""


class Disclosure(_Section):
    """The repository's rule on stating the use of an agent."""

    required: StrictBool = False
    """Whether the repository requires that the use of an agent is stated."""


class Burst(_Section):
    """When the acts of one person are a flood, and what then happens."""

    events: StrictInt = Field(default=20, ge=2, le=1000)
    """Comments, reviews and pull requests by one person ..."""
    minutes: StrictInt = Field(default=10, ge=1, le=1440)
    """... within this many minutes."""
    action: BurstAction = "label"
    """What is done with the threads that the flood hit."""


class Limits(_Section):
    """Bounds on what one newcomer may have open."""

    open_pull_requests: Annotated[StrictInt, Field(ge=1, le=1000)] | None = None
    """Open pull requests per person without merged work here; above it, over_limit. null means no limit."""


class Probe(_Section):
    """One question to the author about their own diff."""

    enabled: StrictBool = False
    """Whether the App may ask it, once."""


class Contact(_Section):
    """How people can reach the maintainers."""

    address: Mailbox | None = None
    """A mailbox that people can write to; null means none is named."""


class Digest(_Section):
    """The weekly summary."""

    enabled: StrictBool = True
    """Whether it is made."""
    day: Day = "monday"
    """The day of the week."""
    hour: StrictInt = Field(default=9, ge=0, le=23)
    """The hour of that day."""
    timezone: Zone = "UTC"
    """The time zone of day and hour, by its name in the tz database."""
    issue: StrictBool = True
    """Whether one issue of the repository is updated with it."""
    email: tuple[Mailbox, ...] = Field(default=(), max_length=50)
    """Mailboxes that it is sent to."""


class Policy(_Section):
    """A whole policy; ``Policy()`` is the default one."""

    version: Annotated[StrictInt, AfterValidator(_version), Field(json_schema_extra={"const": 1})] = 1
    """The version of this file's format."""
    mode: Mode = "observe"
    """observe writes nothing to GitHub; label sets labels; comment also keeps one comment up to date."""
    sensitivity: Sensitivity = "cautious"
    """The promised share of people's pull requests labelled by error: 0.1 %, 0.5 % or 1 %."""
    labels: Labels = Labels()
    exempt: Exempt = Exempt()
    disclosure: Disclosure = Disclosure()
    burst: Burst = Burst()
    limits: Limits = Limits()
    probe: Probe = Probe()
    contact: Contact = Contact()
    digest: Digest = Digest()

    @property
    def alpha(self) -> float:
        """The share of people's pull requests that may be labelled by error."""
        return ALPHAS[self.sensitivity]

    @property
    def fingerprint(self) -> str:
        """Name the effective values: the same values have the same name, however the file is written."""
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
        return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


DEFAULT: Final = Policy()


def parse(text: str | bytes, *, source: str = SOURCE) -> Policy:
    """Read a policy file; an empty one is the default policy.

    Whether the time zone exists is left to the caller: that question reads files.

    Raises
    ------
    PolicyError
        With every problem that was found (at most 50), in the order of the file.
    """
    return _parsed(text, source)


@lru_cache(maxsize=64)  # every verdict asks for its repository's policy, and reading one costs as much as judging
def _parsed(text: str | bytes, source: str) -> Policy:
    try:
        marked = read(text)
    except MarkedError as error:
        raise PolicyError((error.problem,), source) from None
    problems = list(marked.problems)
    policy = DEFAULT
    if not isinstance(marked.value, dict) and marked.value is not None:
        problems.append(Problem(*marked.values[()], "expected keys at the top, such as: mode: observe"))
    else:
        try:
            policy = Policy.model_validate(marked.value or {})
        except ValidationError as error:
            details = error.errors(include_input=True, include_url=False)
            problems += [problem(one, marked, Policy) for one in details[:PROBLEMS_MOST]]
    if problems:
        raise PolicyError(tuple(sorted(problems)[:PROBLEMS_MOST]), source)
    return policy


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the file, for editors; the parser is a little stricter on names."""
    made = Policy.model_json_schema()
    _drop_titles(made)
    made.pop("description")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Livefirst policy",
        "description": f"What the GitHub App Livefirst does in a repository ({SOURCE}).",
        **made,
    }


def _drop_titles(part: object) -> None:
    """Remove the titles that only repeat a key; a property called title would be a mapping and stays."""
    if isinstance(part, dict):
        if isinstance(part.get("title"), str):
            del part["title"]
        for child in part.values():
            _drop_titles(child)
