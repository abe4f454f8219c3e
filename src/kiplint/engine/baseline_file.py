"""The file of a baseline: read within bounds, and written so that nothing else is."""

from __future__ import annotations

import os

from kiplint.engine.baseline import Baseline, parse, render
from kiplint.engine.errors import UsageError
from kiplint.text.comments import blank_comments
from kiplint.text.files import read_file, replace_file

MOST_BYTES = 64 << 20
"""A quarter of a million findings."""


def read_baseline(file: str) -> Baseline | None:
    """The baseline of a file, None where there is none; raises UsageError for what is no baseline."""
    try:
        return parse(read_file(file, MOST_BYTES), file)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"cannot read the baseline {file}: {error.strerror}") from None


def write_baseline(baseline: Baseline, file: str, tree: str | None) -> None:
    """Write a baseline in the place of what is there; a link to it stays one. Raises UsageError when that fails.

    A file that a configuration names has to lie in the `tree` of the configuration, links followed: the configuration
    may be a stranger's. None is for a file that the user names.
    """
    try:
        target = os.path.realpath(file)
        if tree is not None and not target.startswith(os.path.join(os.path.realpath(tree), "")):
            raise UsageError(
                f"cannot write the baseline {file}: it is outside {tree}; name it by --baseline to allow that"
            )
        replace_file(target, _licence(target) + render(baseline))
    except ValueError:
        raise UsageError(f"cannot write the baseline {file}: there can be no file of that name") from None
    except OSError as error:
        raise UsageError(f"cannot write the baseline {file}: {error.strerror}") from None


def _licence(file: str) -> bytes:
    """The comments that a file begins with, which stay."""
    try:
        data = read_file(file, MOST_BYTES)
    except OSError:
        return b""
    head = data[: data.find(b"{")]
    return head if b"{" in data and not blank_comments(head).strip() else b""
