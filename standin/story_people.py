"""The people of the story: a first pull request, a translation, a pair at one desk, and those who say what they used."""

from datetime import timedelta
from typing import Final

from standin.teller import ORG, Teller
from standin.threads import Commit, File

MARIA: Final = "maria-lindqvist"  # maintains the engine
TOMASZ: Final = "tomasz-wrona"  # maintains the engine too
REFACTORER: Final = "ines-caldeira"  # a member of the organisation

LIVE_OR_UNSURE: Final = ("live_person", "unsure")


def hours(count: float) -> timedelta:
    """Return a time before now."""
    return timedelta(hours=count)


def change(path: str, removed: str, added: str, context: str = "    def load(self):") -> File:
    """Return a small change of one file."""
    old, new = removed.splitlines(), added.splitlines()
    head = f"@@ -40,{len(old) + 1} +40,{len(new) + 1} @@ {context}"
    lines = [f" {context}", *(f"-{line}" for line in old), *(f"+{line}" for line in new)]
    return File(path, "modified", len(new), len(old), "\n".join([head, *lines]))


def added(path: str, text: str) -> File:
    """Return a new file."""
    lines = text.splitlines()
    return File(
        path, "added", len(lines), 0, "\n".join([f"@@ -0,0 +1,{len(lines)} @@", *(f"+{line}" for line in lines)])
    )


def tell(told: Teller) -> None:
    """Tell of the people."""
    student(told)
    translator(told)
    pair(told)
    quick_win(told)
    terse(told)
    design_note(told)
    disclosed(told)
    refactoring(told)
    bots(told)
    oddities(told)


def student(told: Teller) -> None:
    """A student's first pull request, who answers the next morning."""
    pull = told.pull(
        "engine",
        "yusuf-on-a-train",
        hours(26),
        "Handle empty prompt in tokenizer",
        'hi, first time I contribute anywhere so sorry if I do it wrong. When the prompt is "" the tokenizer crashes '
        "with IndexError (I hit it in my course project). I return an empty list now. Is that what you want or should "
        "it raise?\n",
        lanes=LIVE_OR_UNSURE,
        association="FIRST_TIME_CONTRIBUTOR",
        branch="empty-prompt",
        files=[
            change(
                "engine/tokenizer.py",
                "        first = text[0]",
                "        if not text:\n            return []\n        first = text[0]",
            )
        ],
    )
    told.comment(
        pull,
        MARIA,
        hours(22),
        "Thanks! What happens in `decode` when it gets the empty list back? And could you add a test?",
    )
    told.comment(
        pull,
        "yusuf-on-a-train",
        hours(9.3),
        'good question. I tried decode([]) this morning, it gives "" so that is fine. I add a test for both ways, did '
        "not know pytest before but it is nice",
    )
    told.push(
        pull,
        "yusuf-on-a-train",
        hours(8.9),
        "test for empty prompt",
        [
            change(
                "engine/tokenizer.py",
                "        first = text[0]",
                "        if not text:\n            return []\n        first = text[0]",
            ),
            added(
                "tests/test_tokenizer_empty.py",
                "def test_empty_prompt_and_back(tokenizer):\n    assert tokenizer.encode('') == []\n    assert tokenizer.decode([]) == ''",
            ),
        ],
    )


def translator(told: Teller) -> None:
    """A translation with five words of description."""
    told.pull(
        "docs",
        "montse-ferrer",
        hours(50),
        "Traducció al català",
        "Primera part de la guia.",
        lanes=LIVE_OR_UNSURE,
        files=[
            added(
                "ca/guia.md", "# Guia\n\nAquesta guia explica com carregar un model.\n\nPrimer cal instal·lar el motor."
            )
        ],
    )


def pair(told: Teller) -> None:
    """Two who sit at one desk: quick short answers, as people give them."""
    pull = told.pull(
        "engine",
        "peter-okafor",
        hours(5),
        "Free the KV cache on abort",
        "We leak a slot when a request is aborted between prefill and decode. Found it with Tomasz at his desk, the "
        "scheduler never hears of the abort.",
        lanes=("live_person", "unsure", "exempt"),
        branch="abort-leak",
        files=[
            change(
                "engine/scheduler.py",
                "        self.done(request)",
                "        self.cache.free(request)\n        self.done(request)",
            )
        ],
    )
    for minutes, asked, answered in (
        (250, "typo in the comment", "fixed, thanks"),
        (240, "also free it on timeout?", "done"),
        (231, "and the log line", "yes, done too"),
    ):
        told.comment(pull, TOMASZ, timedelta(minutes=minutes), asked)
        told.comment(pull, "peter-okafor", timedelta(minutes=minutes - 2), answered)


def quick_win(told: Teller) -> None:
    """A small fix with a test and green checks."""
    pull = told.pull(
        "engine",
        "hana-novakova",
        hours(30),
        "Fix off-by-one in max_tokens",
        "`max_tokens=1` gave two tokens. The loop compared with `<=`.",
        lanes=LIVE_OR_UNSURE,
        branch="max-tokens",
        files=[
            change("engine/sampler.py", "        while count <= limit:", "        while count < limit:"),
            added(
                "tests/test_max_tokens.py",
                "def test_one_token_is_one(engine):\n    assert len(engine.generate('a', max_tokens=1)) == 1",
            ),
        ],
    )
    told.checks(pull, hours(29.8))


def terse(told: Teller) -> None:
    """A targeted fix without a word of description, as people who know the code send them."""
    told.pull(
        "engine",
        "kwame-asante",
        hours(70),
        "ci: pin runner image",
        None,
        lanes=LIVE_OR_UNSURE,
        branch="pin",
        files=[
            change(".github/workflows/ci.yml", "    runs-on: ubuntu-latest", "    runs-on: ubuntu-24.04", "  test:")
        ],
    )


def design_note(told: Teller) -> None:
    """A long design note that somebody thought about for weeks."""
    paragraphs = (
        "I would like to move sampling out of the scheduler, and this is the first step. Before you read the diff, here is how I came to it.",
        "Last month we lost two days to a bug where a request that was preempted between two sampling steps came back with the temperature of its neighbour. The reason is that the scheduler owns the sampler's state and reorders its rows when it compacts the batch. Nothing tells the sampler.",
        "I tried three ways. Copying the state with the rows works but costs 4 % on the small model (I measured on my own card, one run of ten minutes each, so take it with salt). Telling the sampler of each move is what vllm did at some point, and they left it again. What is left is to let each request own its state, and to gather it when the batch is built.",
        "What I am not sure about is beam search. It forks requests, and I do not understand yet who should own the fork. I left it as it is. If you think that this must be solved first, I would rather hear it now.",
        "The second commit only moves code. It is easier to read with whitespace hidden.",
    )
    told.pull(
        "engine",
        "anneliese-vogt",
        hours(120),
        "Let a request own its sampling state",
        "## Why\n\n" + "\n\n".join(paragraphs[:3]) + "\n\n## Open question\n\n" + "\n\n".join(paragraphs[3:]),
        lanes=LIVE_OR_UNSURE,
        branch="sampling-state",
        files=[
            change("engine/sampler.py", "        self.rows = rows", "        self.requests = requests"),
            change("engine/scheduler.py", "        self.sampler.compact(keep)", "        self.batch.compact(keep)"),
            added(
                "engine/sampling_state.py",
                'class SamplingState:\n    """What one request needs to draw its next token."""\n\n    def __init__(self, seed):\n        self.seed = seed',
            ),
        ],
    )


def disclosed(told: Teller) -> None:
    """Two who say what they used."""
    told.pull(
        "engine",
        "sofia-marchetti",
        hours(44),
        "Add top-k to the HTTP API",
        "Adds `top_k` to the completion endpoint.\n\nI used Claude Code for the first draft, then read every line, threw "
        "away the retry logic it had added, and ran the server with top_k 1, 5 and 0 by hand. The validation is mine.",
        lanes=("disclosed", "live_person"),
        branch="top-k",
        files=[
            change(
                "engine/http.py",
                "    top_p: float = 1.0",
                "    top_p: float = 1.0\n    top_k: int = 0",
                "class Completion:",
            )
        ],
    )
    told.pull(
        "engine",
        "ravi-menon",
        hours(33),
        "Retry the download when the hash differs",
        "The mirror sometimes serves half a file. One retry, then the error as before.",
        lanes=("disclosed", "live_person"),
        branch="hash-retry",
        files=[
            change(
                "engine/download.py",
                "        raise HashMismatch(path)",
                "        if attempt:\n            raise HashMismatch(path)\n        return self.fetch(path, attempt=1)",
            )
        ],
        commits=[
            Commit(
                "Retry the download once\n\nCo-authored-by: Copilot <223556219+Copilot@users.noreply.github.com>",
                told.now - hours(33.2),
                author="ravi-menon",
                name="Ravi",
            )
        ],
    )


def refactoring(told: Teller) -> None:
    """A member's announced refactoring: twelve pull requests in an hour."""
    for step, module in enumerate(
        (
            "cache",
            "scheduler",
            "sampler",
            "tokenizer",
            "http",
            "download",
            "metrics",
            "config",
            "loader",
            "batch",
            "kernels",
            "cli",
        )
    ):
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
            files=[change(f"engine/{module}.py", "import logging", "from engine.log import logger", "import os")],
        )


def bots(told: Teller) -> None:
    """Bots: dependencies, checks that comment seven times in nineteen seconds, and a reviewer that edits descriptions."""
    told.pull(
        "engine",
        "dependabot[bot]",
        hours(60),
        "Bump torch from 2.13.0 to 2.14.1",
        "Bumps [torch](https://example.org/torch) from 2.13.0 to 2.14.1.\n\n- Release notes\n- Changelog\n- Commits",
        lanes=("exempt",),
        fork=False,
        branch="dependabot/pip/torch-2.14.1",
        files=[change("requirements.txt", "torch==2.13.0", "torch==2.14.1", "numpy==2.4.1")],
    )
    pull = told.pull(
        "engine",
        "lucia-ferrante",
        hours(16),
        "Show the loaded adapters in /health",
        "Our probes need to know which adapters are in memory.",
        lanes=LIVE_OR_UNSURE,
        branch="health-adapters",
        files=[
            change(
                "engine/http.py",
                "    return {'ok': True}",
                "    return {'ok': True, 'adapters': sorted(loaded)}",
                "def health():",
            )
        ],
    )
    for second in range(7):
        told.comment(
            pull,
            "github-actions[bot]",
            hours(15.9) - timedelta(seconds=3 * second),
            f"Benchmark {second + 1} of 7: no change.",
        )
    told.edit(
        pull,
        "coderabbitai[bot]",
        hours(15.7),
        "Our probes need to know which adapters are in memory.\n\n<!-- This is an auto-generated comment: release notes by "
        "coderabbit.ai -->\n\n## Summary by CodeRabbit\n\n- **New Features**\n  - The health endpoint lists adapters.\n\n"
        "<!-- end of auto-generated comment: release notes by coderabbit.ai -->",
    )


def oddities(told: Teller) -> None:
    """A draft, a deleted fork, a deleted account, and a policy file with a mistake in it."""
    told.pull(
        "engine", "bo-nilsson", hours(12), "WIP: paged attention on CPU", "Not ready, I only want CI to look at it.",
        lanes=LIVE_OR_UNSURE, branch="paged-cpu", draft=True,
        files=[added("engine/paged_cpu.py", "def attend(pages):\n    return pages")],
    )  # fmt: skip
    fork = told.pull(
        "engine", "grace-mwangi", hours(90), "Say which model file is missing", "The error only said `not found`.",
        lanes=LIVE_OR_UNSURE, branch="missing-file",
        files=[change("engine/loader.py", "        raise NotFound()", "        raise NotFound(path)")],
    )  # fmt: skip
    told.vanish(fork, hours(40), fork=True)
    told.comment(fork, MARIA, hours(39), "Looks right to me. Could you allow edits by maintainers?")
    ghost = told.pull(
        "docs", "left-the-building", hours(200), "Explain quantised weights", "A paragraph on int4.",
        lanes=LIVE_OR_UNSURE, files=[change("guide.md", "Weights are floats.", "Weights are floats or int4.", "# Guide")],
    )  # fmt: skip
    told.vanish(ghost, hours(100), account=True)
    told.comment(ghost, TOMASZ, hours(99), "Is anybody still here?")
    broken = "version: 1\nmode: lable\n"
    told.pull(
        "engine", "dmitri-volkov", hours(7), "Turn the triage labels on", f"As agreed in the call of {ORG}'s maintainers.",
        lanes=LIVE_OR_UNSURE, branch="triage-mode", tree={".github/triage.yml": broken},
        files=[change(".github/triage.yml", "mode: label", "mode: lable", "version: 1")],
    )  # fmt: skip
