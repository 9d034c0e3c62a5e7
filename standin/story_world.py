"""Where the story plays: two repositories of one invented organisation, their rules, their people and their past."""

from datetime import datetime, timedelta
from typing import Final

from standin.story_props import MARIA, REFACTORER, TOMASZ
from standin.teller import ORG
from standin.threads import Pull, Thread
from standin.world import App, Installation, PastPull, Person, Repository, World

INSTALLATION: Final = 7001
APP: Final = 4711

POLICY: Final = """\
version: 1
mode: label
sensitivity: balanced
labels:
  disclosed: "triage: agent use disclosed"
"""
TEMPLATE: Final = """\
<!-- Thank you! Small and finished beats large and nearly finished. -->

## What does this change?

## How did you check it?

## Did you use an AI tool, and for what?
"""
CONTRIBUTING: Final = """\
# Contributing to the engine

Talk to us in an issue before you change more than one module. A change comes with a test, or says why it cannot.

## AI tools

AI tools are welcome. You answer for what you send: read it first, say in the template what you used it for, and answer
reviews in your own words. A contribution that nobody has read waits until somebody has.
"""
VOUCHED: Final = """\
# People whom a maintainer knows
grace-mwangi
"""
README: Final = "# Lanternfish engine\n\nRuns small models on the machine that you have.\n"
GUIDE: Final = "# Guide\n\nWeights are floats.\n"

# (login, days since the account was made, pull requests to other projects in the last half year)
PEOPLE: Final = (
    ("yusuf-on-a-train", 41, 0),
    ("montse-ferrer", 1460, 3),
    ("anneliese-vogt", 2900, 14),
    ("peter-okafor", 1900, 9),
    ("hana-novakova", 820, 5),
    ("kwame-asante", 3100, 22),
    ("sofia-marchetti", 1100, 8),
    ("ravi-menon", 2050, 11),
    ("henrik-dale", 2600, 30),
    ("lucia-ferrante", 700, 2),
    ("grace-mwangi", 1500, 6),
    ("bo-nilsson", 260, 1),
    ("dmitri-volkov", 1700, 4),
    ("oksana-petrenko", 2300, 12),
    ("brindle-and-co", 1250, 4),
    ("fennimore-k", 1900, 10),
    ("tulsipark", 2400, 6),
    ("lowtide-42", 900, 3),
    ("marrowgate", 640, 7),
)

# What is merged here from before: (login, how many)
MERGED: Final = (("anneliese-vogt", 2), ("henrik-dale", 4), (REFACTORER, 3))
FIRST_NUMBER: Final = 1802


def world(now: datetime) -> World:
    """Make the world as it is before the first delivery."""
    roles = {MARIA: "maintain", TOMASZ: "write", REFACTORER: "triage"}
    rules = {
        "README.md": README,
        "CONTRIBUTING.md": CONTRIBUTING,
        ".github/triage.yml": POLICY,
        ".github/pull_request_template.md": TEMPLATE,
        ".github/VOUCHED.td": VOUCHED,
    }
    engine = Repository(f"{ORG}/engine", roles=roles, files=rules, threads=_merged(now))
    docs = Repository(f"{ORG}/docs", roles=dict(roles), files={"README.md": "# Docs\n", "guide.md": GUIDE})
    return World(
        app=App(id=APP, slug="livefirst", owner=ORG),
        installations=[Installation(INSTALLATION, ORG)],
        people=[Person(ORG, type="Organization"), *_people(now)],
        repositories=[engine, docs],
        rate_limit=1_000_000,
    )


def _people(now: datetime) -> list[Person]:
    """Return the accounts with what they sent elsewhere, at a person's uneven pace."""
    known = [Person(login, created_at=now - timedelta(days=2000)) for login in (MARIA, TOMASZ, REFACTORER)]
    for login, days, count in PEOPLE:
        ago = (timedelta(days=12 + (n * n * 7 + 3 * n) % 160, hours=(5 * n) % 11) for n in range(count))
        pulls = [
            PastPull(f"sampleproject-{n % 5}/app", now - at, 100 + n, merged=n % 3 != 1) for n, at in enumerate(ago)
        ]
        known.append(Person(login, created_at=now - timedelta(days=days), pulls=pulls))
    # Ninety pull requests to forty projects in one night.
    restless = [
        PastPull(f"sampleproject-{n % 40}/app", now - timedelta(hours=30, minutes=9 * n), n + 1, "open")
        for n in range(90)
    ]
    return [*known, Person("oakhollow-7", created_at=now - timedelta(days=900), pulls=restless)]


def _merged(now: datetime) -> list[Thread]:
    logins = [login for login, count in MERGED for _ in range(count)]
    threads = []
    for n, login in enumerate(logins):
        at = now - timedelta(days=200 - 9 * n)
        pull = Pull(f"earlier-{n}", merged_at=at, merged_by=MARIA)
        threads.append(
            Thread(
                FIRST_NUMBER + n,
                login,
                at - timedelta(days=2),
                f"Earlier change {n + 1}",
                state="closed",
                closed_at=at,
                pull=pull,
            )
        )
    return threads
