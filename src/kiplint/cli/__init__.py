"""The command line: the only place that prints or exits."""

from __future__ import annotations

import gc
import os
import sys

from kiplint.cli.surroundings import COMPLETE, settle


def main() -> None:
    """Run `kiplint` with the process's arguments."""
    settle()
    gc.disable()  # the objects of a set are taken apart when it is done
    _import_msgspec_alone()
    from kiplint.cli.process import attempt, run
    from kiplint.cli.reader import read

    call = None if COMPLETE in os.environ else read(sys.argv[1:])
    if call:
        run(lambda: call.command.run(call.options))
    from kiplint.cli.app import make_app

    if COMPLETE in os.environ:
        from kiplint.cli.completing import know_shells

        know_shells()
    words = () if COMPLETE in os.environ else sys.argv[1:]
    attempt(lambda: make_app(words=words)(prog_name="kiplint"))


def _import_msgspec_alone() -> None:
    """Import msgspec without typing_extensions, which it prefers to typing where it is installed.

    Python 3.11 has all that is taken from there; what comes along with it is a tenth of the run.
    """
    if "typing_extensions" not in sys.modules:
        sys.modules["typing_extensions"] = None  # type: ignore[assignment]
        import msgspec  # noqa: F401

        del sys.modules["typing_extensions"]
