"""The process: exit codes, signals, broken pipes, and one clear line on stderr for each error of the user."""

from __future__ import annotations

import io
import os
import re
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any, BinaryIO, Final, NoReturn, TextIO

from kiplint.engine.errors import UsageError
from kiplint.render.table import SEVERITY, paint
from kiplint.sources.cleanup import close
from kiplint.sources.schema_files import SourceError
from kiplint.text.show import printable
from kiplint.text.words import plural


def use_color(option: str, stream: TextIO) -> bool:
    """Whether to colour: by the option, then NO_COLOR, then FORCE_COLOR, then whether it is a terminal."""
    if option in ("always", "never"):
        return option == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def label(severity: str) -> str:
    """The word `error` or `warning` at the start of a line on stderr."""
    return paint(severity, SEVERITY[severity], use_color("auto", sys.stderr))


def warn(note: str) -> None:
    """Print a note on stderr as one line; `warning` at its start is coloured."""
    note = printable(note)
    rest = note.removeprefix("warning:")
    print(note if rest == note else f"{label('warning')}:{rest}", file=sys.stderr)


COMPLETE = "_KIPLINT_COMPLETE"
"""The variable that the scripts of `--show-completion` set to get completions."""

ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class EndSignal(BaseException):
    """A signal ended the process; `code` is the exit code that a shell reports for the signal."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def prepare_streams() -> None:
    """Replace closed standard streams, and guard the log of a GitHub workflow.

    The descriptors of closed streams are taken, as the next file to be opened would get them, and with them what is
    printed.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY if number == 1 else os.O_RDWR)
    if sys.stdout is None:  # writing to it fails, as it should
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), encoding="utf-8")
    if os.environ.get("GITHUB_ACTIONS") == "true":
        sys.stdout, sys.stderr = _guard(sys.stdout), _guard(sys.stderr)


class WorkflowLog(io.BufferedIOBase):
    """A stream whose lines are no commands to GitHub, which are `##[` anywhere, and `::` at the start of a line.

    The last character of these becomes a JSON escape, so that JSON stays the same JSON.
    """

    def __init__(self, out: BinaryIO) -> None:
        self.out = out
        self._line = b""  # what the last line has so far, as far as it matters for what follows

    def write(self, data: Any, /) -> int:
        """Write bytes."""
        text = self._line + bytes(data)
        harmless = re.sub(COMMAND, lambda match: match[0][:-1] + b"\\u%04x" % match[0][-1], text)
        self.out.write(harmless[len(self._line) :])
        line = re.split(b"[\r\n]", harmless)[-1]
        self._line = b"x" + line[-2:] if re.match(_WORDS, line) else line
        return len(data)

    def writable(self) -> bool:
        """Whether the stream can be written to."""
        return True

    def flush(self) -> None:
        """Write what is buffered."""
        self.out.flush()

    def fileno(self) -> int:
        """The descriptor."""
        return self.out.fileno()

    def isatty(self) -> bool:
        """Whether the stream is a terminal."""
        return self.out.isatty()


_BLANK: Final = rb"(?:\x1b\[[0-9;]*(?:m|\Z)|[^\r\n!-~])*+"
"""What may stand before a command: colours, and all that is no printable ASCII."""
COMMAND: Final = rb"##\[|(?:\A|(?<=[\r\n]))" + _BLANK + rb"::"
_WORDS: Final = _BLANK + rb"(?::[^:]|[!-9;-~])"


def _guard(stream: TextIO) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    form: dict[str, Any] = {name: getattr(stream, name) for name in ("encoding", "errors", "line_buffering")}
    log: Any = WorkflowLog(stream.detach())
    return io.TextIOWrapper(log, **form)


def unguarded(stream: TextIO) -> BinaryIO:
    """The bytes of a standard stream, flushed, for annotations, and for what is not text."""
    stream.flush()
    return stream.buffer.out if isinstance(stream.buffer, WorkflowLog) else stream.buffer


def heed_signals() -> None:
    """Turn signals into exceptions in the main thread from now on, so that the process can clean up."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in ENDING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)


def ignore_signals() -> None:
    """Ignore signals while the process ends."""
    for number in (signal.SIGINT, *ENDING):
        signal.signal(number, signal.SIG_IGN)


def _end(number: int, frame: FrameType | None) -> None:
    raise EndSignal(128 + number)


CLEAN, FINDINGS, USAGE = 0, 1, 2

INTERRUPTED, BROKEN_PIPE = 130, 141  # as a shell reports a process that SIGINT or SIGPIPE ended


def run(command: Callable[[], int]) -> NoReturn:
    """Run a command and exit with its code; on an error, print one line on stderr and exit with 2."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # some terminals cannot show all characters
    try:
        heed_signals()
        _run(command)
    except KeyboardInterrupt:
        _end_after_signal(INTERRUPTED)
    except EndSignal as ended:
        _end_after_signal(ended.code)


def _end_after_signal(code: int) -> NoReturn:
    """End the process after a signal; a command that writes files says whether it has."""
    ignore_signals()
    if account := _account():
        with suppress(OSError):
            warn(f"interrupted: {account}")
    leave(code)


def _account() -> str:
    """How many files a command that writes files has written; empty for others. It writes all of them or none."""
    module = sys.modules.get("kiplint.fixes.write")
    if module is None:
        return ""
    count = len(module.written_paths)
    return f"{plural(count, 'file')} {'was' if count == 1 else 'were'} written" if count else "no file was written"


def _run(command: Callable[[], int]) -> NoReturn:
    code = None
    try:
        code = command()
        sys.stdout.flush()
    except MemoryError:  # what the frames of the traceback hold is free only after this block
        pass
    except (UsageError, SourceError) as error:
        fail(str(error))
    except OSError as error:
        end(error)
    except Exception as error:
        if os.environ.get("KIPLINT_DEBUG"):
            raise
        fail(f"internal error, please report it: {type(error).__name__}: {error} (KIPLINT_DEBUG=1 shows where)")
    if code is None:
        fail(f"out of memory{_limit_of_memory()}")
    leave(code)


def _limit_of_memory() -> str:
    """The limit on the memory of this process, if there is one, and how to raise it."""
    try:
        from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit
    except ImportError:  # on Windows
        return ""
    limit = getrlimit(RLIMIT_AS)[0]
    return "" if limit == RLIM_INFINITY else f": the limit is {limit >> 20:,} MiB; `ulimit -v` raises it"


def attempt(print_by_itself: Callable[[], object]) -> None:
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
    if isinstance(error, FileNotFoundError) and not error.filename and _is_nowhere():
        fail("the working directory is gone: it was removed, or moved elsewhere")
    account = "" if error.filename else _account()
    fail(f"{error.filename or 'standard output'}: {error.strerror}{account and f'; {account}'}")


def leave(code: int) -> NoReturn:
    """End the process at once, without the destruction of 100,000 objects, which takes long."""
    ignore_signals()
    close()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            _drop(stream)
    os._exit(code)


def fail(message: str) -> NoReturn:
    """Print an error on stderr, and exit with 2."""
    try:
        print(f"{label('error')}: {printable(message)}", file=sys.stderr)
    except OSError:  # stderr is full or closed: the exit code alone reports the error
        _drop(sys.stderr)
    leave(USAGE)


def _drop(stream: TextIO) -> None:
    """Discard what is still buffered: it cannot be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _is_nowhere() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False
