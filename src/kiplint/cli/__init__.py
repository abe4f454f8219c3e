"""The command line: the only place that prints or exits."""

from __future__ import annotations

import gc
import signal


def main() -> None:
    """Run `kiplint` with the process's arguments.

    Until there is something to clean up, Ctrl-C simply ends the process, also while modules are imported.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.set_threshold(100_000)  # nearly all objects live as long as the process: a check takes 8% less time
    from kiplint.cli.process import attempt, prepare_streams

    prepare_streams()
    from kiplint.cli.app import make_app

    attempt(lambda: make_app()(prog_name="kiplint"))
