"""The project of the story: reports, a member's refactoring, its bots, and what GitHub shows once in a while."""

from datetime import timedelta

from standin.story_props import LIVE, MARIA, REFACTORER, TOMASZ, UNSURE, added, answered, changed, hours, seconds
from standin.teller import ORG, Handle, Teller

MODULES = (
    "cache", "scheduler", "sampler", "tokenizer", "http", "download",
    "metrics", "config", "loader", "batch", "kernels", "cli",
)  # fmt: skip

REPORTS = (
    ("alba-quintero", "Crash when the text is longer than the context", "Traceback below. It worked in the spring release."),
    ("fjodor-hult", "Adapters are loaded twice", "Memory goes up by exactly one adapter after the first request."),
    ("nomsa-dlami", "Metrics page is slow with many models", "We have forty. The page takes eleven seconds."),
    ("j-haverkamp", "Docs: which cards are supported?", "I could not find a list. Is there one?"),
    ("pelle-strandh", "Build fails with the system compiler", "The log ends in `error: unknown option`."),
    ("ioana-brat", "Temperature 0 is not greedy", "Two runs, two answers. Same seed."),
    ("suda-c", "Wrong end token for one model family", "It talks on until max_tokens."),
    ("t-aberle", "Please support output by grammar", "We parse the output and one in fifty is not JSON."),
    ("mina-solheim", "Log is flooded at start", "A line for each tensor. I count 1,204."),
    ("okoro-b", "Cannot cancel a batch request", "DELETE answers 204 and the card stays busy."),
)  # fmt: skip


def tell(told: Teller) -> list[Handle]:
    """Tell of the project; returns the reports."""
    found = reports(told)
    refactoring(told)
    dependencies(told)
    busy_bots(told)
    draft(told)
    fork_is_gone(told)
    author_is_gone(told)
    wrong_policy(told)
    return found


def reports(told: Teller) -> list[Handle]:
    """What people reported in the two weeks before."""
    return [
        told.issue("engine", login, hours(300 - 10 * number), title, body)
        for number, (login, title, body) in enumerate(REPORTS)
    ]


def refactoring(told: Teller) -> None:
    """A member's announced refactoring: twelve pull requests in an hour."""
    for step, module in enumerate(MODULES):
        diff = f"""\
@@ 1
-import logging
 import os
+
+from engine.log import logger
@@ 14 class {module.title()}:
-log = logging.getLogger(__name__)
+log = logger("{module}")"""
        told.pull(
            "engine",
            REFACTORER,
            hours(28) - timedelta(minutes=5 * step),
            f"Move engine.{module} to the new logger",
            "Part of the logging move that we announced on Monday. No change of behaviour.",
            lanes=("exempt",),
            association="MEMBER",
            fork=False,
            branch=f"logger/{module}",
            files=[changed(f"engine/{module}.py", diff)],
        )


def dependencies(told: Teller) -> None:
    """What keeps the dependencies fresh."""
    for at, package, old, new in ((60, "brasswire", "2.13.0", "2.14.1"), (59.9, "tinytensor", "0.8.2", "0.8.3")):
        told.pull(
            "engine",
            "dependabot[bot]",
            hours(at),
            f"Bump {package} from {old} to {new}",
            f"Bumps [{package}](https://packages.example.org/{package}) from {old} to {new}.\n\n- Release notes\n- Changelog\n- Commits",
            lanes=("exempt",),
            fork=False,
            branch=f"dependabot/pip/{package}-{new}",
            files=[changed("requirements.txt", f"@@ 3\n-{package}=={old}\n+{package}=={new}")],
        )


def busy_bots(told: Teller) -> None:
    """Checks that comment seven times in nineteen seconds, and a reviewing App that edits the author's description."""
    body = answered(
        "Our probes need to know which adapters are in memory.", "curl, before and after loading one.", "No."
    )
    pull = told.pull(
        "engine",
        "lucia-ferrante",
        hours(16),
        "Show the loaded adapters in /health",
        body,
        lanes=UNSURE,
        branch="health-adapters",
        files=[
            changed(
                "engine/http.py",
                """\
@@ 140 def health():
-    return {"ok": True}
+    return {"ok": True, "adapters": sorted(loaded)}""",
            )
        ],
    )
    for second in (0, 3, 6, 10, 13, 16, 19):
        said = f"Benchmark {second // 3 + 1} of 7: no change against main."
        told.comment(pull, "github-actions[bot]", hours(15.9) - seconds(second), said)
    told.edit(
        pull,
        "harborlint[bot]",
        hours(15.7),
        f"{body}\n<!-- This is an auto-generated comment: summary by harborlint -->\n\n## Summary by Harborlint\n\n"
        "- **New Features**\n  - The health endpoint lists adapters.\n- **Tests**\n  - All tests pass.\n\n"
        "<!-- end of auto-generated comment: summary by harborlint -->",
    )


def draft(told: Teller) -> None:
    """Not ready, and says so."""
    told.pull(
        "engine",
        "bo-nilsson",
        hours(12),
        "WIP: paged attention on CPU",
        "Not ready, I only want CI to look at it.",
        lanes=UNSURE,
        branch="paged-cpu",
        draft=True,
        files=[added("engine/paged_cpu.py", "def attend(pages):\n    return pages")],
    )


def fork_is_gone(told: Teller) -> None:
    """Somebody whom the maintainers know tidied up and deleted the fork."""
    pull = told.pull(
        "engine",
        "grace-mwangi",
        hours(90),
        "Say which model file is missing",
        "The error only said `not found`.",
        lanes=LIVE,
        branch="missing-file",
        files=[
            changed(
                "engine/loader.py",
                """\
@@ 33 def find(path):
     if not path.exists():
-        raise NotFound()
+        raise NotFound(path)""",
            )
        ],
    )
    told.vanish(pull, hours(40), fork=True)
    told.review(pull, MARIA, hours(39), "Right. I cannot push to your branch any more: shall I take the commit over?")


def author_is_gone(told: Teller) -> None:
    """The account behind it was deleted."""
    pull = told.pull(
        "docs",
        "left-the-building",
        hours(200),
        "Explain quantised weights",
        "A paragraph on int4.",
        lanes=UNSURE,
        branch="int4",
        files=[changed("guide.md", "@@ 1\n # Guide\n \n-Weights are floats.\n+Weights are floats or int4.")],
    )
    told.vanish(pull, hours(100), account=True)
    told.comment(pull, TOMASZ, hours(99), "Is anybody still here? Else I take it over next week.")


def wrong_policy(told: Teller) -> None:
    """The policy file with a slip in it."""
    told.pull(
        "engine",
        "dmitri-volkov",
        hours(7),
        "Be stricter with the triage labels",
        f"As agreed in the call of {ORG}'s maintainers.",
        lanes=UNSURE,
        branch="triage-mode",
        tree={".github/triage.yml": "version: 1\nmode: lable\nsensitivity: strict\n"},
        files=[
            changed(
                ".github/triage.yml",
                """\
@@ 1
 version: 1
-mode: label
-sensitivity: balanced
-labels:
-  disclosed: "triage: agent use disclosed"
+mode: lable
+sensitivity: strict""",
            )
        ],
    )
