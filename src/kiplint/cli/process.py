"""The edge of the process: exit codes, broken pipes, and one clear line for every mistake of the user's."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from typing import NoReturn

from kiplint.cli.terminal import label
from kiplint.engine.errors import UsageError
from kiplint.sources.cleanup import close
from kiplint.sources.schema_files import SourceError
from kiplint.text.show import printable

CLEAN, FINDINGS, USAGE = 0, 1, 2
INTERRUPTED, BROKEN_PIPE = 130, 141  # as a shell reports a process that SIGINT or SIGPIPE ended


def run(command: Callable[[], int]) -> NoReturn:
    """Run a command and exit with its code; 2 and one line on stderr when it cannot be done."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # whatever a definition says, any terminal can be told
    try:
        code = command()
        if sys.stdout is not None:
            sys.stdout.flush()
    except (UsageError, SourceError) as error:
        fail(str(error))
    except OSError as error:
        end(error)
    except Exception as error:
        if os.environ.get("KIPLINT_DEBUG"):
            raise
        fail(f"internal error, please report it: {type(error).__name__}: {error} (KIPLINT_DEBUG=1 shows where)")
    except KeyboardInterrupt:
        code = INTERRUPTED
    leave(code)


def attempt(print_by_itself: Callable[[], object]) -> None:
    """Do what may print and exit by itself; it ends as `run` does where that cannot be printed."""
    try:
        try:
            print_by_itself()
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except OSError as error:
        end(error)


def end(error: OSError) -> NoReturn:
    """End the process because something could not be written or read."""
    _drop_output()
    if isinstance(error, BrokenPipeError):
        leave(BROKEN_PIPE)
    fail(f"{error.filename or 'standard output'}: {error.strerror}")


def leave(code: int) -> NoReturn:
    """End the process at once: nothing is left to do, and taking apart 100,000 objects takes its time."""
    close()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(code)


def _drop_output() -> None:
    """Let what is still to be written go nowhere: it cannot be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def fail(message: str) -> NoReturn:
    """Say what is wrong on stderr, and exit with 2."""
    print(f"{label('error')}: {printable(message)}", file=sys.stderr)
    leave(USAGE)
