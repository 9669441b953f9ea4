"""The command line: the composition root. It may import everything, and nothing imports it.

`main` starts fast: each command imports what is heavy only when it runs.
"""

import io
import os
import sys


def main() -> None:
    """Run the command line and exit: 0 ok, 1 failed, 2 wrong usage or input, 3 not running or unreachable, 130 Ctrl-C.

    141 where whoever read the output went away.
    """
    _open_closed_streams()
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.encoding.lower() != "utf-8":
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that cannot show a sign is shown its number
    try:
        from hindwise.cli.exits import run

        run()
    except KeyboardInterrupt:  # while modules are loaded
        sys.exit(130)


def _open_closed_streams() -> None:
    """What a caller closed (`>&-`) leads nowhere: else the next file that is opened gets its number, and what is printed goes there."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(nowhere, True)  # our children print, too
            setattr(sys, name, os.fdopen(nowhere, mode, encoding="utf-8"))
