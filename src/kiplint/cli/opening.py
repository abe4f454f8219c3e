"""Reports in the browser: where a page goes that nobody gave a file, and how it is shown."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from kiplint.cli.process import warn
from kiplint.engine.errors import UsageError


def open_page(command: str, write: Callable[[TextIO], None], *, quiet: bool = False) -> None:
    """Write a page to a file that stays, in a new directory for temporary files, and show it. Raises UsageError."""
    try:
        file = Path(tempfile.mkdtemp(prefix="kiplint-"), f"{command.replace(' ', '-')}.html")
        with file.open("w", encoding="utf-8", newline="\n") as out:
            write(out)
    except OSError as error:
        raise UsageError(f"cannot write a page to open: {error.strerror}") from None
    show_page(str(file), quiet=quiet)


def show_page(file: str, *, quiet: bool = False) -> None:
    """Show a page in the browser, and say where it is; say so when there is no browser that could show it."""
    page = Path(file).resolve()
    if not (_has_screen() and _opened(page.as_uri())):
        warn(f"warning: no browser could be opened; the report is {page}")
    elif not quiet:
        warn(f"the report is {page}")


def _opened(address: str) -> bool:
    import webbrowser

    try:
        return webbrowser.open(address)
    except (webbrowser.Error, ValueError, OSError):  # BROWSER is no command: a quotation without end, for one
        return False


def _has_screen() -> bool:
    """Whether a browser would have a window: one in the terminal would stand in the way of it."""
    if sys.platform in ("win32", "darwin") or os.environ.get("BROWSER"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
