"""The edge of the process: exit codes, broken pipes, and one clear line for every mistake of the user's."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from typing import NoReturn, TextIO

from kiplint.cli.surroundings import Ended, heed_signals, ignore_signals
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
    heed_signals()
    try:
        _run(command)
    except KeyboardInterrupt:
        leave(INTERRUPTED)
    except Ended as end_of_it:
        leave(end_of_it.code)


def _run(command: Callable[[], int]) -> NoReturn:
    try:
        code = command()
        sys.stdout.flush()
    except (UsageError, SourceError) as error:
        fail(str(error))
    except OSError as error:
        end(error)
    except Exception as error:
        if os.environ.get("KIPLINT_DEBUG"):
            raise
        fail(f"internal error, please report it: {type(error).__name__}: {error} (KIPLINT_DEBUG=1 shows where)")
    leave(code)


def attempt(print_by_itself: Callable[[], object]) -> None:
    """Do what may print and exit by itself; it ends as `run` does where that cannot be printed."""
    try:
        try:
            print_by_itself()
        finally:
            sys.stdout.flush()
    except OSError as error:
        end(error)


def end(error: OSError) -> NoReturn:
    """End the process because something could not be written or read."""
    _drop(sys.stdout)
    if isinstance(error, BrokenPipeError):
        leave(BROKEN_PIPE)
    if isinstance(error, FileNotFoundError) and not error.filename and _is_nowhere():
        fail("the working directory is gone: it was removed, or moved elsewhere")
    fail(f"{error.filename or 'standard output'}: {error.strerror}")


def leave(code: int) -> NoReturn:
    """End the process at once: nothing is left to do, and taking apart 100,000 objects takes its time."""
    ignore_signals()
    close()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # whoever had to be told has been told, or cannot be
            _drop(stream)
    os._exit(code)


def fail(message: str) -> NoReturn:
    """Say what is wrong on stderr, and exit with 2."""
    try:
        print(f"{label('error')}: {printable(message)}", file=sys.stderr)
    except OSError:  # stderr is full or closed: the exit code has to say it
        _drop(sys.stderr)
    leave(USAGE)


def _drop(stream: TextIO) -> None:
    """Let what is still to be written go nowhere: it cannot be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _is_nowhere() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False
