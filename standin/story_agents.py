"""The agents of the story: what arrives when nobody read it before it was sent."""

from datetime import timedelta
from typing import Final

from standin.story_people import LIVE_OR_UNSURE, MARIA, TOMASZ, added, change, hours
from standin.teller import Handle, Teller

LABEL: Final = "triage: author review not seen"
HELD: Final = ("likely_unreviewed",)

_SUMMARY: Final = """\
# Implementation Summary

## Overview
This document summarizes the implementation of the token cache refactor.

## Files Modified
- engine/cache.py

## Next Steps
- [ ] Add integration tests
- [ ] Update the documentation
"""

_VERBOSE: Final = """\
## Summary

This pull request introduces a comprehensive refactor of the token cache to improve performance, reliability and maintainability across the entire inference engine.

## Changes

- **Cache eviction**: Implemented a robust least-recently-used eviction policy in `TokenCache` that ensures optimal memory utilization under high load
- **Error handling**: Added comprehensive error handling for all edge cases, including empty keys, oversized entries and concurrent access
- **Logging**: Enhanced logging throughout the module to provide better observability and simplify troubleshooting in production environments
- **Documentation**: Updated the documentation to reflect the new behaviour and added usage examples for common scenarios
- **Type safety**: Strengthened type annotations to improve developer experience and catch potential issues early

## Performance

- **Lookups**: Up to 40% faster under typical workloads
- **Memory**: Reduced peak usage by approximately 25%
- **Latency**: Significantly improved tail latency for long prompts

## Testing

- All tests pass
- Verified that there are no regressions across the entire suite
- **Backwards compatible**: Yes, this change is fully backwards compatible

## Impact

- **Risk**: Low, the change is isolated to a single module
- **Rollback**: Can be safely reverted at any time
"""


def tell(told: Teller) -> None:
    """Tell of the agents."""
    threads = issues(told)
    verbose(told)
    steady(told)
    fabricated(told)
    residue(told)
    corrected(told)
    empty_burst(told)
    flood(told, threads)


def verbose(told: Teller) -> None:
    """Two thousand characters on a three-line fix, with the plan left in the tree."""
    told.pull(
        "engine",
        "shipfast-labs",
        hours(20),
        "Refactor token cache for improved performance and reliability",
        _VERBOSE,
        lanes=HELD,
        branch="feature/token-cache-refactor",
        files=[
            change(
                "engine/cache.py",
                "        return value",
                "        # ... existing code ...\n        self.touch(key)\n        return value",
            ),
            added("IMPLEMENTATION_SUMMARY.md", _SUMMARY),
            added("PLAN.md", "# Plan\n\n1. Analyze the cache\n2. Implement LRU\n3. Write tests"),
        ],
    )


def steady(told: Teller) -> None:
    """Every review is answered after seven to nine minutes, at any hour, at length."""
    pull = told.pull(
        "engine",
        "quantum-byte-dev",
        hours(58),
        "Improve scheduler fairness",
        "## Overview\n\nThis PR enhances the scheduler to provide better fairness across concurrent requests.\n\n"
        "## Key Changes\n\n- **Round robin**: Introduced a weighted round-robin strategy\n- **Starvation**: Prevents "
        "starvation of long requests\n- **Metrics**: Added detailed fairness metrics\n- **Configuration**: Exposed new "
        "configuration options\n\n## Benefits\n\n- **Throughput**: Improved under load\n- **Predictability**: More "
        "consistent latency\n- All tests pass",
        lanes=HELD,
        branch="scheduler-fairness",
        files=[
            change("engine/scheduler.py", "        return self.queue.pop()", "        return self.queue.pop_weighted()")
        ],
    )
    asked = (
        "Why weighted? Who sets the weights?",
        "This starves short requests now, see `pop_weighted`.",
        "The metric is never read. What is it for?",
        "You answered that the weights come from the config, but nothing reads it.",
        "Did you run this with more than one request?",
        "The same question as on Monday: who sets the weights?",
    )
    for number, question in enumerate(asked):
        at = hours(54 - 8 * number)
        told.review(pull, TOMASZ if number % 2 else MARIA, at, question)
        told.comment(
            pull,
            "quantum-byte-dev",
            at - timedelta(seconds=(7.2, 8.4, 7.9, 8.8, 7.4, 8.1)[number] * 60),
            "Thank you for the thoughtful review! You raise an excellent point. I have carefully updated the implementation "
            "to address this concern comprehensively, ensuring consistency throughout the module and adding additional "
            f"safeguards for the scenario you described. Please let me know if any further changes are needed. ({number + 1})",
        )


def fabricated(told: Teller) -> None:
    """Names functions and files that the diff does not hold."""
    told.pull(
        "engine",
        "neural-pioneer",
        hours(14),
        "Add streaming support with backpressure",
        "## What\n\n- **Streaming**: Added `StreamController` to manage token flow\n- **Backpressure**: Implemented "
        "`BackpressureGate` with adaptive windows\n- **Tests**: Created `tests/test_streaming_backpressure.py` with full coverage\n"
        "- **Docs**: Added `docs/streaming.md`\n- **Config**: Introduced `stream_window_size`\n\n## Verification\n\n- All tests "
        "pass with 100% coverage\n- **Load test**: Sustained 10k concurrent streams\n- Fully verified in production-like environments",
        lanes=HELD,
        branch="streaming",
        files=[
            change(
                "engine/http.py",
                "        yield token",
                "        # TODO: rest of the implementation\n        # in a real implementation this would wait\n        yield token",
            ),
            added("TODO_LIST.md", "- [x] streaming\n- [ ] backpressure"),
            added("engine/http.py.bak", "        yield token"),
        ],
    )


def residue(told: Teller) -> None:
    """The assistant's own words are still in the description."""
    told.pull(
        "engine",
        "autocommit-anna",
        hours(10),
        "Optimize tensor allocation",
        "Here is the updated pull request description you asked for:\n\n## Summary\n\n- **Allocation**: Optimized tensor "
        "allocation to reduce fragmentation\n- **Pooling**: Introduced memory pooling :contentReference[oaicite:3]{index=3}\n"
        "- **Safety**: Improved thread safety\n- **Cleanup**: Removed redundant code paths\n\n## Testing\n\n- All tests pass\n"
        "- **Coverage**: Increased to 98%\n\nLet me know if you would like me to adjust anything!",
        lanes=HELD,
        branch="tensor-allocation",
        files=[
            change(
                "engine/tensor.py",
                "        return alloc(size)",
                "        # ... rest of the code remains unchanged ...\n        return pool.alloc(size)",
            ),
            added("scratch_test.py", "print('test allocation')"),
            added("CHANGES_SUMMARY.md", "# Summary of changes\n\nOptimized allocation."),
        ],
    )


def corrected(told: Teller) -> None:
    """It reads like the others, but a maintainer knows better and took the label off: it stays off."""
    pull = told.pull(
        "engine",
        "oksana-petrenko",
        hours(36),
        "Rewrite the loader's progress output",
        _VERBOSE.replace("token cache", "progress output"),
        lanes=LIVE_OR_UNSURE,
        branch="progress",
        files=[
            change("engine/loader.py", "        print(done)", "        bar.update(done)"),
            added("IMPLEMENTATION_SUMMARY.md", _SUMMARY),
        ],
    )
    told.label(pull, told.world.app.bot, hours(35.9), LABEL)
    told.unlabel(pull, MARIA, hours(30), LABEL)
    told.comment(pull, MARIA, hours(29.9), "Oksana called me about this one, she is on it.")


def empty_burst(told: Teller) -> None:
    """One goal, no words, a pull request every twenty seconds."""
    for number in range(22):
        told.pull(
            "engine",
            "patch-o-matic-9000",
            hours(18) - timedelta(seconds=20 * number),
            f"Update kernel {number}",
            "",
            lanes=("burst",),
            branch=f"update-{number}",
            files=[change(f"engine/kernels/k{number}.py", "BLOCK = 64", "BLOCK = 128", "import triton")],
        )


def issues(told: Teller) -> list[Handle]:
    """What other people reported, long before the flood."""
    titles = (
        "Crash when the prompt is longer than the context",
        "Adapters are loaded twice",
        "Metrics endpoint is slow with many models",
        "Docs: which cards are supported?",
        "Build fails on Debian 13",
        "Temperature 0 is not greedy",
        "Wrong eos token for one model family",
        "Please support grammar constrained output",
        "Log is flooded at start",
        "Cannot cancel a batch request",
    )
    return [
        told.issue(
            "engine", f"reporter-{number}", hours(300 - 10 * number), title, "I can give more details if needed."
        )
        for number, title in enumerate(titles)
    ]


def flood(told: Teller, threads: list[Handle]) -> None:
    """One account, forty comments, twelve minutes."""
    own = [handle for handle in told.handles if handle.repo == "engine"][:5]
    targets = [*threads, *own]
    for number in range(40):
        told.comment(
            targets[number % len(targets)],
            "helpful-contrib-ai",
            timedelta(minutes=64) - timedelta(seconds=18 * number),
            "Great discussion! Based on my analysis, this can be resolved by refactoring the affected component and adding "
            "proper validation. I would be happy to open a pull request that addresses this comprehensively.",
        )
