"""The command line: the only place that prints or exits."""

from __future__ import annotations

# `signal` itself imports for milliseconds, in which Ctrl-C prints a traceback.
import _signal  # type: ignore[import-not-found]
import os


def main() -> None:
    """Run `kiplint` with the process's arguments.

    Until there is something to clean up, Ctrl-C simply ends the process, also while modules are imported.
    """
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    from kiplint.cli.process import COMPLETE, attempt, prepare_streams

    prepare_streams()
    if COMPLETE in os.environ:
        from kiplint.cli.completion import know_shells

        know_shells()
    from kiplint.cli.app import make_app

    attempt(lambda: make_app()(prog_name="kiplint"))
