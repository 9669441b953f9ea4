"""Reading a request's bytes: bounded in size, depth and number of values, and safe to store afterwards."""

import asyncio
import json
import math
import re
from typing import Any, NoReturn

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from api.errors import TooLarge
from hindwise.errors import InvalidInput

BODY_LIMIT_S = 60.0
MAX_DEPTH = 64
MAX_VALUES = 200_000
"""Values in one body: 5 MiB of empty lists would hold the loop for seconds."""

_SURROGATES = re.compile("[\ud800-\udfff]")


async def read_body(request: Request, limit: int) -> bytes:
    """Return the whole body.

    Raises TooLarge beyond `limit` bytes, before more than that is held; HTTPException 408 when it does not come in time.
    """
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared[:20]) > limit:
        raise _too_large(limit)
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(BODY_LIMIT_S):
            async for part in request.stream():
                size += len(part)
                if size > limit:
                    raise _too_large(limit)
                parts.append(part)
    except TimeoutError as error:
        raise HTTPException(408) from error
    except ClientDisconnect as error:
        raise InvalidInput("the connection ended before the whole body came") from error
    return b"".join(parts)


def _too_large(limit: int) -> TooLarge:
    return TooLarge(f"the request is larger than {limit} bytes: send the turns in several requests, or files as artifact links")


def parse_json(body: bytes | str, *, lenient: bool = False) -> Any:
    """Return the JSON value. Half surrogate pairs become U+FFFD; `lenient` forgives control characters within strings.

    Raises InvalidInput with the place, for numbers that JSON does not know, and beyond MAX_DEPTH or MAX_VALUES.
    """
    try:
        text = body if isinstance(body, str) else body.decode("utf-8-sig")
        value = (_LENIENT if lenient else _STRICT).decode(text)
    except UnicodeDecodeError as error:
        raise InvalidInput(f"the body is not UTF-8 (byte {error.start})") from error
    except json.JSONDecodeError as error:
        raise InvalidInput(f"the body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from error
    except RecursionError as error:
        raise InvalidInput(f"the body is nested deeper than {MAX_DEPTH} levels") from error
    except ValueError as error:  # a number of thousands of digits
        raise InvalidInput("the body holds a number that cannot be kept") from error
    _check_shape(value)
    return _whole_characters(value) if "\\ud" in text or "\\uD" in text else value


def _no_constant(name: str) -> NoReturn:
    raise InvalidInput(f"{name} is no JSON number")


# Made once: `json.loads` makes one for each call.
_STRICT, _LENIENT = (json.JSONDecoder(parse_constant=_no_constant, strict=strict) for strict in (True, False))


def _check_shape(value: Any) -> None:
    """Walk without recursion. Raises InvalidInput beyond a limit."""
    open_values = [(value, 1)]
    seen = 0
    while open_values:
        item, depth = open_values.pop()
        seen += 1
        if depth > MAX_DEPTH:
            raise InvalidInput(f"the body is nested deeper than {MAX_DEPTH} levels")
        if seen + len(open_values) > MAX_VALUES:
            raise InvalidInput(f"the body holds more than {MAX_VALUES} values: send it in several requests")
        if isinstance(item, dict):
            open_values += [(inner, depth + 1) for inner in item.values()]
        elif isinstance(item, list):
            open_values += [(inner, depth + 1) for inner in item]
        elif isinstance(item, float) and not math.isfinite(item):
            raise InvalidInput("the body holds a number beyond what JSON numbers can keep")


def _whole_characters(value: Any) -> Any:
    if isinstance(value, dict):
        return {_whole_characters(key): _whole_characters(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_whole_characters(inner) for inner in value]
    return _SURROGATES.sub("\ufffd", value) if isinstance(value, str) else value
