"""Starts a child that cannot outlive its parent: `guard.py kernel|pipe PARENT_PID PIPE_FD [FD …] -- command …`.

Run by path with `python -I -S`, so it imports the standard library only and starts in a few hundredths of a second. On Linux the
kernel is asked to kill the child with its parent, and the guard becomes the child. Elsewhere the guard stays, holds the reading
end of a pipe whose writing end only the parent has, and ends the child when that pipe closes.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> bool:
    """Ask the kernel for SIGKILL when the parent's *thread* that started us ends. False where there is no such request.

    The request survives exec. A parent that died before it was made is noticed by the changed parent id.
    """
    if not sys.platform.startswith("linux"):
        return False
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0) != 0:
        return False
    if os.getppid() != parent:
        os._exit(1)
    return True


def stay_and_watch(pipe_fd: int, command: list[str], keep: tuple[int, ...]) -> int:
    """Run the command in our own process group, pass SIGTERM and SIGINT on, and kill it when the pipe closes; its exit code."""
    child = subprocess.Popen(command, pass_fds=keep)  # noqa: S603  the command is the supervisor's own
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _frame: child.send_signal(received))

    def watch() -> None:
        with contextlib.suppress(OSError):
            while os.read(pipe_fd, 1):
                pass
        child.kill()

    threading.Thread(target=watch, daemon=True).start()
    return child.wait()


def main(argv: list[str]) -> int:
    """See the module's docstring. The numbers after the pipe are descriptors that the command inherits."""
    split = argv.index("--")
    parent, pipe_fd, *keep = (int(word) for word in argv[1:split])
    command = argv[split + 1 :]
    if argv[0] == "kernel" and die_with_parent(parent):
        os.close(pipe_fd)
        os.execvp(command[0], command)  # noqa: S606  the command is the supervisor's own
    return stay_and_watch(pipe_fd, command, tuple(keep))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
