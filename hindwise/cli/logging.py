"""Log lines as JSON, one event a line, with ids and never with contents."""

import logging
import sys
import traceback
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import structlog

_CONTENT_KEYS = frozenset(
    {"content", "text", "conclusion", "quote", "query", "brief", "goal", "note", "prompt", "answer", "body", "arguments", "api_key", "key"}
)
"""Names under which words of people travel elsewhere. A log line that carries one by mistake loses it here."""
_MAX_VALUE_CHARS = 500
_MAX_PLACES = 12
_TRACEBACK = "Traceback (most recent call last)"


def drop_contents(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Replace what must not be logged by its length, and cut what is too long."""
    for name, value in event.items():
        if name in _CONTENT_KEYS:
            event[name] = f"({len(value)} characters)" if isinstance(value, str) else "(left out)"
        elif isinstance(value, str) and len(value) > _MAX_VALUE_CHARS:
            event[name] = value[:_MAX_VALUE_CHARS] + "…"
    return event


def frames_only(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Tell an exception by its class and the places it came through: its message may quote what somebody wrote."""
    told = event.pop("exc_info", None)
    error = sys.exc_info()[1] if told is True else told[1] if isinstance(told, tuple) else told
    if isinstance(error, BaseException):
        event["exception"] = f"{type(error).__module__}.{type(error).__qualname__}"
        event["where"] = places(error)
    event.pop("stack_info", None)
    text = event.get("event")
    if isinstance(text, str) and text.startswith(_TRACEBACK):
        # A server that writes the whole trace into its message: its last line names the class; whoever started it tells the rest.
        event["event"] = "exception"
        event["exception"] = text.rstrip().rsplit("\n", 1)[-1].split(":", 1)[0]
    return event


def places(error: BaseException) -> list[str]:
    """Where an exception came through, outermost first, without any values."""
    frames = traceback.extract_tb(error.__traceback__)[-_MAX_PLACES:]
    return [f"{'/'.join(Path(frame.filename).parts[-3:])}:{frame.lineno} {frame.name}" for frame in frames]


def set_up(level: str, role: str) -> None:
    """Send all log lines of this process to stderr as JSON. `level`: debug, info, warning or error; `role`: api, worker or cli."""
    number = logging.getLevelNamesMapping()[level.upper()]
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        lambda _logger, _method, event: {**event, "role": role},
    ]
    last: list[Any] = [frames_only, drop_contents, structlog.processors.JSONRenderer(ensure_ascii=False)]
    structlog.configure(
        processors=[*shared, *last],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    # Libraries log through the standard library: same shape, but only from warning upwards, because they know no "never contents".
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.add_logger_name],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
        )
    )
    logging.basicConfig(level=max(number, logging.WARNING), handlers=[handler], force=True)
