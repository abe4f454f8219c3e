"""The process: exit codes, signals, broken pipes, and one clear line on stderr for each error of the user."""

from __future__ import annotations

import io
import os
import re
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import BinaryIO, Final, NoReturn, TextIO

from kiplint.engine.errors import UsageError, internal_error
from kiplint.sources.cleanup import close
from kiplint.sources.schema_files import SourceError
from kiplint.text.show import printable

CLEAN, FINDINGS, USAGE = 0, 1, 2
INTERRUPTED, BROKEN_PIPE = 130, 141
"""The exit codes that a shell reports for a process that SIGINT or SIGPIPE ended."""


def use_color(stream: TextIO) -> bool:
    """Whether to color the output to a stream: depends on NO_COLOR, FORCE_COLOR, or whether it is a terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def warn(note: str) -> None:
    """Print a note on stderr as one line."""
    print(printable(note), file=sys.stderr)


def fail(message: str) -> NoReturn:
    """Print an error on stderr, and exit with 2."""
    try:
        print(f"error: {printable(message)}", file=sys.stderr)
    except OSError:  # stderr is full or closed: the exit code alone reports the error
        _discard_buffer(sys.stderr)
    leave(USAGE)


def how_to_install(extra: str) -> str:
    """The commands that install kiplint with an extra, such as `lsp`."""
    package = f"'kiplint[{extra}]'"
    return f"pip install {package}, uv tool install {package} or pipx install --force {package}"


class WorkflowLog(io.TextIOWrapper):
    """A stream to the log of a GitHub workflow, which escapes everything that GitHub would read as a command.

    Commands are `##[` anywhere, and `::` at the start of a line. Their last character becomes a JSON escape, so that
    JSON remains the same JSON. An incomplete line is held back, as a command may be divided between two writes.
    """

    _unfinished_line = ""

    def write(self, data: str, /) -> int:
        """Write the complete lines, and keep the rest for later."""
        text = self._unfinished_line + data
        end = max(text.rfind("\n"), text.rfind("\r")) + 1
        self._unfinished_line = text[end:]
        super().write(_COMMAND.sub(_escape_last, text[:end]))
        return len(data)

    def flush(self) -> None:
        """Write also the incomplete line."""
        super().write(_COMMAND.sub(_escape_last, self._unfinished_line))
        self._unfinished_line = ""
        super().flush()


# Before `::`, colours may stand, and all that is no printable ASCII.
_COMMAND: Final = re.compile(r"##\[|(?<![^\r\n])(?:\x1b\[[0-9;]*m|[^\r\n!-~])*+::")


def _escape_last(command: re.Match[str]) -> str:
    """`:\\u003a` for `::`, and `##\\u005b` for `##[`."""
    text = command[0]
    return f"{text[:-1]}\\u{ord(text[-1]):04x}"


def prepare_streams() -> None:
    """Make stdout and stderr safe to write to, whatever they are."""
    sys.stdout, sys.stderr = _safe_stream(sys.stdout), _safe_stream(sys.stderr)


def _safe_stream(stream: TextIO | None) -> TextIO:
    """A `WorkflowLog` in a GitHub workflow, otherwise the stream; for a closed stream (None), one to /dev/null."""
    if stream is None:
        return open(os.devnull, "w")
    if os.environ.get("GITHUB_ACTIONS") != "true" or not isinstance(stream, io.TextIOWrapper):
        return stream
    encoding, errors, line_buffering = stream.encoding, stream.errors, stream.line_buffering
    return WorkflowLog(stream.detach(), encoding, errors, line_buffering=line_buffering)


def binary_stream(stream: TextIO) -> BinaryIO:
    """The binary stream below a text stream, after a flush. A `WorkflowLog` escapes nothing that is written to it."""
    stream.flush()
    return stream.buffer


def run(command: Callable[[], int]) -> NoReturn:
    """Run a command and exit with the code that it returns; on an error, print one line on stderr and exit with 2."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Some terminals cannot show all characters, and JSON in a file or a pipe is UTF-8 on Windows, too.
        encoding = "utf-8" if os.name == "nt" and not sys.stdout.isatty() else None
        sys.stdout.reconfigure(encoding=encoding, errors="backslashreplace")
    signal.signal(signal.SIGTERM, _exit_after_signal)
    try:
        try:
            code = command()
        except SystemExit as ending:  # a signal, or --help
            code = int(ending.code or 0)
        sys.stdout.flush()
    except KeyboardInterrupt:
        leave(INTERRUPTED)
    except MemoryError:
        fail("out of memory")
    except (UsageError, SourceError) as error:
        fail(str(error))
    except OSError as error:
        _discard_buffer(sys.stdout)
        if isinstance(error, BrokenPipeError):
            leave(BROKEN_PIPE)
        if isinstance(error, FileNotFoundError) and not error.filename:
            fail("the working directory no longer exists")
        fail(f"{error.filename or 'standard output'}: {error.strerror}")
    except Exception as error:
        fail(internal_error(error))
    leave(code)


def _exit_after_signal(number: int, frame: FrameType | None) -> None:
    """Exit with the code that a shell reports for a process that this signal ended."""
    raise SystemExit(128 + number)


def leave(code: int) -> NoReturn:
    """Remove temporary files and end the process at once, because destroying 100,000 objects first takes long."""
    close()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            _discard_buffer(stream)
    os._exit(code)


def _discard_buffer(stream: TextIO) -> None:
    """Redirect a stream that cannot be written to /dev/null, so that no later flush fails."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
