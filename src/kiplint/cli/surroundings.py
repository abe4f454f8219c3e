"""What a process is given to begin with: signals, standard streams that may be closed, and what a shell asks of it."""

from __future__ import annotations

import io
import os
import signal
import sys
from types import FrameType

COMPLETE = "_KIPLINT_COMPLETE"
"""Set by the scripts of `--show-completion` when they ask what may come next."""

ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class Ended(BaseException):
    """The process was asked to end; `code` is as a shell reports a process that the signal ended."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def settle() -> None:
    """Begin so that whatever comes first ends the process in silence, and that what is written goes where it should.

    Until there is something to clean up, Ctrl-C simply ends the process. The numbers of closed streams are taken, or
    the next file to be opened would be written to in their stead.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY if number == 1 else os.O_RDWR)
    if sys.stdout is None:  # writing to it fails, as it should
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), encoding="utf-8")


def heed_signals() -> None:
    """From now on there is something to clean up: signals are raised in the main thread, as exceptions."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in ENDING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)


def ignore_signals() -> None:
    """The process is ending: nothing is to disturb that."""
    for number in (signal.SIGINT, *ENDING):
        signal.signal(number, signal.SIG_IGN)


def _end(number: int, frame: FrameType | None) -> None:
    raise Ended(128 + number)
