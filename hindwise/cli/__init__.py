"""The command line: the composition root. It may import everything, and nothing imports it.

`main` starts fast: each command imports what is heavy only when it runs.
"""


def main() -> None:
    """Run the command line and exit: 0 ok, 1 failed, 2 wrong usage or input, 3 not running or unreachable, 130 Ctrl-C."""
    from hindwise.cli.exits import run

    run()
