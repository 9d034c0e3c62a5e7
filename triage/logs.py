"""One line an occurrence, on stderr: JSON in production, text on a terminal. No secret and no body ever gets here.

What libraries say goes the same way, from warnings up.
"""

import logging
import os
import sys
from collections.abc import Sequence
from typing import Final

import structlog
from structlog.typing import Processor

from triage.settings import Settings

_SHARED: Final[Sequence[Processor]] = (
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
)


def configure(settings: Settings) -> None:
    """Send every log line to stderr, in the format and from the level that the settings say."""
    renderer = _renderer(settings)
    level = logging.getLevelNamesMapping()[settings.log_level]
    structlog.configure(
        processors=[*_SHARED, *renderer],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_SHARED,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderer],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(max(level, logging.WARNING))


def _renderer(settings: Settings) -> list[Processor]:
    as_text = settings.log_format == "text" or (settings.log_format == "auto" and sys.stderr.isatty())
    if as_text:  # the plain formatter: the default one prints the values of local variables
        plain = structlog.dev.plain_traceback
        colours = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
        return [structlog.dev.ConsoleRenderer(colors=colours, exception_formatter=plain)]
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(sort_keys=False)]
