"""SIGTERM and a closed terminal end what was started in order, as Ctrl-C does."""

import signal

import pytest

from hindwise.cli.interrupted import ended_like_ctrl_c


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["SIGTERM", "SIGHUP"])
def test_it_interrupts_what_runs_and_leaves_the_process_as_it_was(number):
    before, stopped = signal.getsignal(number), []
    with pytest.raises(KeyboardInterrupt), ended_like_ctrl_c():
        try:
            signal.raise_signal(number)
            stopped.append("never")
        finally:
            stopped.append("in order")
    assert (stopped, signal.getsignal(number)) == (["in order"], before)
