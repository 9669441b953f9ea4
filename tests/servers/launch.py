"""Becomes the server, as the right user, and ends with whoever started it: `launch.py UID GID SIGNAL PARENT -- command …`.

The kernel sees to the end. UID 0 = stay who we are. Run by path with `python -I -S`. The rights are given up here and not by the
parent, because an ordinary account may not be able to reach our interpreter.
"""

import ctypes
import os
import sys

_PR_SET_PDEATHSIG = 1


def main(argv: list[str]) -> None:
    """See the module's docstring; returns only by an exception."""
    split = argv.index("--")
    uid, gid, number, parent = (int(word) for word in argv[:split])
    command = argv[split + 1 :]
    if uid:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)  # after the change of user, which would clear it
        if os.getppid() != parent:
            os._exit(1)
    os.execv(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
