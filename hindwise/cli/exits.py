"""How commands end: exit codes that scripts can trust, one line of error with the next step, no tracebacks unless asked for."""

import errno
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from hindwise.errors import HindwiseError, InvalidInput, LedgerDamaged, ModelRefused, Unavailable

OK = 0
FAILED = 1
USAGE = 2
UNREACHABLE = 3
INTERRUPTED = 130
NOBODY_READS = 141
"""Who read the output went away, as `head` does: what a shell says of a program that the closed pipe ended."""

_HALVES = re.compile("[\ud800-\udfff]")


class Ended(Exception):
    """A command that cannot do what it was asked for: one sentence, the next step, the exit code.

    `http_status`: what the API answered with, 0 where it did not answer; `kind`: the problem's stable name.
    """

    def __init__(self, message: str, *, next_step: str = "", code: int = FAILED, http_status: int = 0, kind: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step
        self.code = code
        self.http_status = http_status
        self.kind = kind


def not_running() -> Ended:
    """Nothing answers in this data directory."""
    return Ended(
        "no Hindwise runs here", next_step="start it with: hindwise up, or name one elsewhere: HINDWISE_API_URL, --url", code=UNREACHABLE
    )


def not_running_in(data: Path, other: str) -> Ended:
    """Nothing answers in the data directory that was named, but another one is served at `other`."""
    return Ended(
        f"no Hindwise runs in {data}",
        next_step=f"start it with: hindwise up --data {data}; or if you mean the one that answers at {other}: --url {other}",
        code=UNREACHABLE,
    )


def explain(error: Exception) -> Ended:
    """Turn any error into what is printed and returned."""
    if isinstance(error, Ended):
        return error
    if isinstance(error, InvalidInput | ModelRefused):
        return Ended(error.detail, code=USAGE)
    if isinstance(error, Unavailable):
        # Waiting does not cure a damaged file; what does, its sentence says.
        step = "" if isinstance(error, LedgerDamaged) else "try again in a moment; `hindwise doctor` looks for the cause"
        return Ended(error.detail, next_step=step, code=UNREACHABLE)
    if isinstance(error, HindwiseError):
        return Ended(error.detail)
    if (pydantic := sys.modules.get("pydantic")) is not None and isinstance(error, pydantic.ValidationError):
        return _explain_settings(error)
    return _unforeseen(error)


def _unforeseen(error: Exception) -> Ended:
    if isinstance(error, UnicodeEncodeError):  # a name of a file, the one argument that may be no text
        return _broken()
    if isinstance(error, UnicodeDecodeError):  # of `.env`; transcripts tell their own
        return Ended(".env is not UTF-8 text", next_step="save it as UTF-8, or remove it", code=USAGE)
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return Ended(
            "the disk is full", next_step="make room where the data directory, the temporary files and the output lie, then try again"
        )
    return Ended(
        f"unexpected {type(error).__name__}: {str(error)[:300]}", next_step="HINDWISE_LOG_LEVEL=debug shows where; please report it"
    )


def _broken() -> Ended:
    return Ended("an argument holds bytes that are no text in this locale: give it as UTF-8, with LC_ALL=C.UTF-8", code=USAGE)


def _refuse_broken(arguments: Sequence[str]) -> None:
    """Words whose bytes could not be read would be kept as question marks; a file may have any name. Raises Ended."""
    if any(_HALVES.search(argument) and not os.path.lexists(argument) for argument in arguments):
        raise _broken()


def _explain_settings(error: Exception) -> Ended:
    items = error.errors(include_input=False)  # type: ignore[attr-defined]  # a pydantic.ValidationError, told by `explain`
    parts = [f"{_setting_name(str(item['loc'][0]) if item['loc'] else '?')}: {item['msg']}" for item in items]
    return Ended("; ".join(parts), next_step="correct it on the command line, in the environment or in .env", code=USAGE)


def _setting_name(field: str) -> str:
    return field if field.isupper() else f"HINDWISE_{field.upper()}"


def _wants_traceback() -> bool:
    return os.environ.get("HINDWISE_LOG_LEVEL", "").lower() == "debug"


def report(ended: Ended) -> None:
    """Print an error for people, to stderr."""
    sys.stderr.write(f"error: {ended.message}\n")
    if ended.next_step:
        sys.stderr.write(f"       {ended.next_step}\n")


def run(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the application with `arguments` (default: the process's own) and exit."""
    from hindwise.cli.app import app

    before = _output()
    try:
        _refuse_broken(sys.argv[1:] if arguments is None else arguments)
        app(args=None if arguments is None else list(arguments), prog_name="hindwise")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception as error:  # the one place where everything unforeseen becomes a line and an exit code
        if _wants_traceback():
            import traceback

            traceback.print_exc()
        ended = explain(error)
        report(ended)
        sys.exit(ended.code)
    finally:
        _end_output(before)
    sys.exit(OK)


def _output() -> tuple[object, object]:
    """What is printed to, and which file that is."""
    try:
        file = os.fstat(1)
    except OSError:
        return sys.stdout, None
    return sys.stdout, (file.st_dev, file.st_ino)


def _end_output(before: tuple[object, object]) -> None:
    """Write what still waits for the output. Exits with 141, quietly, where the command ended because nobody reads it any more."""
    unread = False
    try:
        if sys.stdout is not None and not sys.stdout.closed:
            sys.stdout.flush()
    except BrokenPipeError:
        unread = True
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)  # else the interpreter tries once more, and complains
    # Typer and Rich put something else in the place of an output that nobody reads, and exit with 1 as if the command had failed. `up`
    # goes on unread, and ends as it ends.
    ended = sys.exception()
    if unread or (_output() != before and isinstance(ended, SystemExit) and ended.code == FAILED):
        sys.exit(NOBODY_READS)
