"""The output of `kiplint new`: the paths of the new files, or the definitions where nothing is written."""

from __future__ import annotations

from kiplint.cli.output import finish, present, write_bytes
from kiplint.cli.process import warn
from kiplint.commands.new.result import NewResult
from kiplint.text.show import printable


def show(result: NewResult, form: str, *, dry_run: bool) -> int:
    """Write the result to standard output, and its notes to stderr; the exit code."""
    if form == "json":
        return present(result, "json", "never")
    for path, data in result.files.items():
        write_bytes(data if dry_run else f"{printable(path)}\n".encode())
    for note in result.notes:
        warn(note)
    return finish(result)
