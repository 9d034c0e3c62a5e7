"""The agents of the story: what arrives when nobody read it before it was sent."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from standin.story_props import HELD, MARIA, TOMASZ, UNSURE, added, changed, hours, seconds
from standin.story_talk import ADVICE, OFFERS, OPENINGS, PACE, ROUNDS, TALK
from standin.teller import Handle, Teller

LABEL: Final = "triage: author review not seen"
FLOODER: Final = "wrenfield-t"

_PLAN: Final = """\
# Plan

1. Analyze the token cache
2. Implement the touch on read
3. Write comprehensive tests
4. Update the documentation

## Status

- [x] Step 1
- [x] Step 2
- [ ] Step 3
- [ ] Step 4"""

_SUMMARY: Final = """\
# Implementation Summary

## Overview
This document summarizes the implementation of the token cache improvements.

## Files Modified
- engine/cache.py

## Next Steps
- [ ] Add integration tests
- [ ] Update the documentation"""

_VERBOSE: Final = """\
## Summary

This pull request introduces a comprehensive improvement of the token cache that enhances performance, reliability and maintainability across the entire engine. The change has been carefully designed to be minimally invasive while delivering maximum value.

## Problem Statement

The token cache did not update the recency of an entry when it was read, which could lead to suboptimal eviction decisions under certain workloads and negatively impact the overall user experience.

## Changes Made

- **Cache eviction**: Implemented a robust least-recently-used eviction policy that ensures optimal memory utilization under high load
- **Error handling**: Added comprehensive error handling for all edge cases, including empty keys, oversized entries and concurrent access
- **Logging**: Enhanced logging throughout the module to provide better observability and simplify troubleshooting in production environments
- **Documentation**: Updated the documentation to reflect the new behaviour and added usage examples for common scenarios
- **Type safety**: Strengthened type annotations to improve developer experience and catch potential issues early

## Performance Impact

- **Lookups**: Up to 40% faster under typical workloads
- **Memory**: Reduced peak usage by approximately 25%
- **Latency**: Significantly improved tail latency for long texts

## Testing

- All tests pass
- Verified that there are no regressions across the entire suite
- **Backwards compatible**: Yes, this change is fully backwards compatible

## Risk Assessment

- **Risk**: Low, the change is isolated to a single module
- **Rollback**: Can be safely reverted at any time

## Future Work

- **Metrics**: Consider exposing the hit rate of the cache through the metrics endpoint for better operational insight
- **Tuning**: Explore adaptive capacity limits based on the observed access patterns

## Checklist

- [x] Code follows the style guidelines
- [x] Self-review completed
- [x] Documentation updated
- [x] No new warnings
"""


def tell(told: Teller, reports: Sequence[Handle]) -> None:
    """Tell of the agents; ``reports`` are issues that a flood may reach."""
    verbose(told)
    steady(told)
    instant(told)
    fabricated(told)
    residue(told)
    corrected(told)
    empty_burst(told)
    flood(told, reports)


def verbose(told: Teller) -> None:
    """Two thousand characters on a three-line fix, with the plan left in the tree."""
    told.pull(
        "engine",
        "brindle-and-co",
        hours(20),
        "Improve token cache performance and reliability",
        _VERBOSE,
        lanes=HELD,
        branch="feature/token-cache-improvements",
        files=[
            changed(
                "engine/cache.py",
                """\
@@ 58 def get(self, key):
         value = self.entries.get(key)
-        return value
+        if value is not None:
+            self.touch(key)
+        return value""",
            ),
            added("IMPLEMENTATION_SUMMARY.md", _SUMMARY),
            added("PLAN.md", _PLAN),
        ],
    )


def steady(told: Teller) -> None:
    """Every review is answered after seven to nine minutes, at any hour, at length."""
    pull = told.pull(
        "engine",
        "fennimore-k",
        hours(58),
        "Improve scheduler fairness",
        "## Overview\n\nThis PR enhances the scheduler to provide better fairness across concurrent requests.\n\n## Key "
        "Changes\n\n- **Round robin**: Introduced a weighted round-robin strategy\n- **Starvation**: Prevents starvation of "
        "long requests\n- **Metrics**: Added detailed fairness metrics\n- **Configuration**: Exposed new configuration "
        "options\n\n## Benefits\n\n- **Throughput**: Improved under load\n- **Predictability**: More consistent latency\n- All "
        "tests pass",
        lanes=HELD,
        branch="scheduler-fairness",
        files=[
            changed(
                "engine/scheduler.py",
                """\
@@ 102 def next(self):
     def next(self):
-        return self.queue.pop()
+        self.fairness += 1
+        return self.queue.pop_weighted()""",
            )
        ],
    )
    for number, ((asked, answer), wait) in enumerate(zip(ROUNDS, PACE, strict=True)):
        at = hours(54 - 8.3 * number)
        told.review(pull, TOMASZ if number % 2 else MARIA, at, asked)
        told.comment(pull, "fennimore-k", at - seconds(wait), answer)


def instant(told: Teller) -> None:
    """Debris in the tree, and long answers that are there before the question can have been read."""
    pull = told.pull(
        "engine",
        "marrowgate",
        hours(31),
        "Add graceful shutdown handling",
        "## Summary\n\n- **Shutdown**: Implemented graceful shutdown with configurable timeouts\n- **Signals**: Added "
        "comprehensive signal handling\n- **Draining**: In-flight requests are completed before exit\n- **Resources**: All "
        "resources are released deterministically\n\n## Validation\n\n- All tests pass\n- Verified that no requests are dropped",
        lanes=HELD,
        branch="graceful-shutdown",
        files=[
            changed(
                "engine/cli.py",
                """\
@@ 210 def main():
     server = Server(config)
+    signal.signal(signal.SIGTERM, handle_shutdown)
     server.run()""",
            ),
            added("SHUTDOWN_IMPLEMENTATION_PLAN.md", "# Shutdown\n\n- [x] Handle the signal\n- [ ] Drain the requests"),
            added("debug_shutdown.py", 'print("signal received")'),
        ],
    )
    for ago, asked, wait, answer in TALK:
        told.review(pull, MARIA, hours(ago), asked, "CHANGES_REQUESTED")
        told.comment(pull, "marrowgate", hours(ago) - seconds(wait), answer)


def fabricated(told: Teller) -> None:
    """Names functions and files that the diff does not hold."""
    told.pull(
        "engine",
        "tulsipark",
        hours(14),
        "Add streaming support with backpressure",
        "## What\n\n- **Streaming**: Added `StreamController` to manage token flow\n- **Backpressure**: Implemented "
        "`BackpressureGate` with adaptive windows\n- **Tests**: Created `tests/test_streaming_backpressure.py` with full "
        "coverage\n- **Docs**: Added `docs/streaming.md`\n- **Config**: Introduced `stream_window_size`\n\n## "
        "Verification\n\n- All tests pass with 100% coverage\n- **Load test**: Sustained 10k concurrent streams\n- Fully "
        "verified in production-like environments",
        lanes=HELD,
        branch="streaming",
        files=[
            changed(
                "engine/http.py",
                """\
@@ 171 def stream(self, request):
     for token in self.engine.tokens(request):
+        if self.full():
+            time.sleep(0.01)
         yield token""",
            ),
            added(
                "engine/http.py.bak",
                "def stream(self, request):\n    for token in self.engine.tokens(request):\n        yield token",
            ),
        ],
    )


def residue(told: Teller) -> None:
    """The assistant's own words are still in the description, and comments stand where code should."""
    told.pull(
        "engine",
        "lowtide-42",
        hours(10),
        "Optimize tensor allocation",
        "Here is the updated pull request description:\n\n## Summary\n\n- **Allocation**: Optimized tensor allocation to reduce "
        "fragmentation\n- **Pooling**: Introduced memory pooling :contentReference[oaicite:3]{index=3}\n- **Safety**: Improved "
        "thread safety\n- **Cleanup**: Removed redundant code paths\n\n## Testing\n\n- All tests pass\n- **Coverage**: Increased "
        "to 98%\n\nLet me know if you would like me to adjust anything!",
        lanes=HELD,
        branch="tensor-allocation",
        files=[
            changed(
                "engine/tensor.py",
                """\
@@ 25 def alloc(self, size):
-        return raw(size)
+        # ... rest of the code remains unchanged ...
+        # In a real implementation this would check the pool first
+        return self.pool.alloc(size)""",
            ),
            added("scratch_alloc.py", "print('allocated')"),
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
        lanes=UNSURE,
        branch="progress",
        files=[
            changed("engine/loader.py", "@@ 70 def load(path):\n-        print(done)\n+        bar.update(done)"),
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
            "oakhollow-7",
            hours(18) - seconds(20 * number),
            f"Update kernel {number}",
            "",
            lanes=("burst",),
            branch=f"update-{number}",
            files=[changed(f"engine/kernels/k{number}.py", "@@ 3\n-BLOCK = 64\n+BLOCK = 128")],
        )


def flood(told: Teller, reports: Sequence[Handle]) -> None:
    """One account, forty comments on fifteen threads, twelve minutes; the last one is seconds old."""
    pulls = [handle for handle in told.handles if handle.repo == "engine" and "exempt" not in handle.lanes]
    targets = [*reports, *pulls[:5]]
    for number in range(40):
        words = OPENINGS[number % 5], ADVICE[number % 4], OFFERS[number % 3]
        ago = timedelta(minutes=12) - seconds(18 * number)
        told.comment(targets[number % len(targets)], FLOODER, ago, " ".join(words))
