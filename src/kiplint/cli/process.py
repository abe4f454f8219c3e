"""The process: exit codes, signals, broken pipes, and one clear line on stderr for each error of the user."""

from __future__ import annotations

import io
import os
import re
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, BinaryIO, Final, NoReturn, TextIO

from kiplint.engine.errors import UsageError
from kiplint.render.table import SEVERITY, paint
from kiplint.sources.cleanup import close
from kiplint.sources.schema_files import SourceError
from kiplint.text.show import printable

CLEAN, FINDINGS, USAGE = 0, 1, 2
INTERRUPTED, BROKEN_PIPE = 130, 141
"""The exit codes that a shell reports for a process that SIGINT or SIGPIPE ended."""


def use_color(stream: TextIO) -> bool:
    """Whether to colour: by NO_COLOR, then FORCE_COLOR, then whether it is a terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def warn(note: str) -> None:
    """Print a note on stderr as one line; `warning` at its start is coloured."""
    note = printable(note)
    rest = note.removeprefix("warning:")
    print(note if rest == note else f"{_label('warning')}:{rest}", file=sys.stderr)


def fail(message: str) -> NoReturn:
    """Print an error on stderr, and exit with 2."""
    try:
        print(f"{_label('error')}: {printable(message)}", file=sys.stderr)
    except OSError:  # stderr is full or closed: the exit code alone reports the error
        _drop(sys.stderr)
    leave(USAGE)


def _label(severity: str) -> str:
    return paint(severity, SEVERITY[severity], use_color(sys.stderr))


def prepare_streams() -> None:
    """Give closed standard streams an end, and guard the log of a GitHub workflow."""
    streams = [stream or open(os.devnull, "w") for stream in (sys.stdout, sys.stderr)]  # noqa: SIM115
    is_workflow = os.environ.get("GITHUB_ACTIONS") == "true"
    sys.stdout, sys.stderr = map(_guard, streams) if is_workflow else streams


class WorkflowLog(io.TextIOWrapper):
    """A stream whose lines are no commands to GitHub, which are `##[` anywhere, and `::` at the start of a line.

    The last character of these becomes a JSON escape, so that JSON stays the same JSON.
    """

    _line = ""
    """What the last line has so far, as far as it matters for what follows."""

    def write(self, data: str, /) -> int:
        """Write text."""
        text = self._line + data
        harmless = _COMMAND.sub(lambda match: f"{match[0][:-1]}\\u{ord(match[0][-1]):04x}", text)
        super().write(harmless[len(self._line) :])
        line = re.split("[\r\n]", harmless)[-1]
        self._line = f"x{line[-2:]}" if _TEXT.match(line) else line
        return len(data)


_BLANK: Final = r"(?:\x1b\[[0-9;]*(?:m|\Z)|[^\r\n!-~])*+"
"""What may stand before a command: colours, and all that is no printable ASCII."""
_COMMAND: Final = re.compile(r"##\[|(?:\A|(?<=[\r\n]))" + _BLANK + "::")
_TEXT: Final = re.compile(_BLANK + "(?::[^:]|[!-9;-~])")


def _guard(stream: TextIO) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    encoding, errors, by_line = stream.encoding, stream.errors, stream.line_buffering
    return WorkflowLog(stream.detach(), encoding, errors, line_buffering=by_line)


def unguarded(stream: TextIO) -> BinaryIO:
    """The bytes of a standard stream, flushed, for annotations, and for what is not text."""
    stream.flush()
    return stream.buffer


def run(command: Callable[[], int]) -> NoReturn:
    """Run a command and exit with its code; on an error, print one line on stderr and exit with 2."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # some terminals cannot show all characters
    signal.signal(signal.SIGTERM, _end_after_signal)
    try:
        code = command()
        sys.stdout.flush()
    except KeyboardInterrupt:
        leave(INTERRUPTED)
    except SystemExit as ending:
        leave(int(ending.code or 0))
    except MemoryError:
        fail("out of memory")
    except (UsageError, SourceError) as error:
        fail(str(error))
    except OSError as error:
        end(error)
    except Exception as error:
        if os.environ.get("KIPLINT_DEBUG"):
            raise
        fail(f"internal error, please report it: {type(error).__name__}: {error} (KIPLINT_DEBUG=1 shows where)")
    leave(code)


def _end_after_signal(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def attempt(print_by_itself: Callable[[], Any]) -> None:
    """Call a function that prints and exits by itself; handle failed writes as `run` does."""
    try:
        try:
            print_by_itself()
        finally:
            sys.stdout.flush()
    except OSError as error:
        end(error)


def end(error: OSError) -> NoReturn:
    """End the process after a failed read or write."""
    _drop(sys.stdout)
    if isinstance(error, BrokenPipeError):
        leave(BROKEN_PIPE)
    if isinstance(error, FileNotFoundError) and not error.filename:
        fail("the working directory is gone: it was removed, or moved elsewhere")
    fail(f"{error.filename or 'standard output'}: {error.strerror}")


def leave(code: int) -> NoReturn:
    """End the process at once, without the destruction of 100,000 objects, which takes long."""
    close()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            _drop(stream)
    os._exit(code)


def _drop(stream: TextIO) -> None:
    """Discard what is still buffered: it cannot be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
