"""What is counted for Prometheus, in one registry of our own: numbers and kinds, never names of people.

Everybody below the door counts here; the door shows it at ``/metrics``.
"""

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

__all__ = [
    "BACKLOG",
    "CONTENT_TYPE_LATEST",
    "DELIVERIES",
    "DELIVERY_SECONDS",
    "GITHUB_REQUESTS",
    "GITHUB_UP",
    "JUDGE_SECONDS",
    "REGISTRY",
    "VERDICTS",
    "WAITING",
    "exposition",
]

REGISTRY: Final = CollectorRegistry()

DELIVERIES: Final = Counter(
    "livefirst_deliveries", "Deliveries answered at the door, by outcome.", ["outcome"], registry=REGISTRY
)
DELIVERY_SECONDS: Final = Histogram(
    "livefirst_delivery_seconds",
    "Seconds from a delivery's first byte to its answer.",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
    registry=REGISTRY,
)
BACKLOG: Final = Gauge("livefirst_backlog", "Deliveries that were accepted and not judged yet.", registry=REGISTRY)
WAITING: Final = Gauge(
    "livefirst_waiting_subjects", "Pull requests and people that wait to be judged.", registry=REGISTRY
)
VERDICTS: Final = Counter("livefirst_verdicts", "Verdicts, by lane.", ["lane"], registry=REGISTRY)
JUDGE_SECONDS: Final = Histogram(
    "livefirst_judge_seconds",
    "Seconds from the claim of a subject to its verdict and changes, requests to GitHub included.",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
    registry=REGISTRY,
)
GITHUB_REQUESTS: Final = Counter(
    "livefirst_github_requests", "Requests to GitHub, by kind.", ["kind"], registry=REGISTRY
)
GITHUB_UP: Final = Gauge(
    "livefirst_github_up", "1 when GitHub answered the last request, 0 when not.", registry=REGISTRY
)
GITHUB_UP.set(1)


def exposition() -> bytes:
    """Return every figure in Prometheus's text format."""
    return generate_latest(REGISTRY)
