"""The command line: the only place that prints or exits."""

from __future__ import annotations

# `signal` itself imports for milliseconds, in which Ctrl-C prints a traceback.
import _signal  # type: ignore[import-not-found]
import gc


def main() -> None:
    """Run `kiplint` with the process's arguments.

    Until there is something to clean up, Ctrl-C simply ends the process, also while modules are imported.
    """
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    gc.set_threshold(100_000)  # nearly all objects live as long as the process: a check takes 8% less time
    from kiplint.cli.process import attempt, prepare_streams

    prepare_streams()
    from kiplint.cli.app import make_app

    attempt(lambda: make_app()(prog_name="kiplint"))
