"""Changes as a patch, for `git apply` and for reading."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping

_NO_NEWLINE = "\\ No newline at end of file\n"


def patch(before: Mapping[str, bytes], after: Mapping[str, bytes], named: Callable[[str], str] = str) -> Iterator[str]:
    """The unified diff of the files that differ, in the order of their paths; bytes that are no text stay as they are.

    Encode it with `surrogateescape`. A path that only `after` has is a new file. `named` says what the patch calls a
    path, with slashes.
    """
    for path in sorted(after):
        old = before.get(path)
        if old != after[path]:
            yield from _of_file(named(path), old, after[path])


def _of_file(path: str, old: bytes | None, new: bytes) -> Iterator[str]:
    ending = "\t" if " " in path else ""  # else GNU patch takes the name to end at the blank
    name = "/dev/null" if old is None else f"a/{path}{ending}"
    for line in difflib.unified_diff(_lines(old or b""), _lines(new), name, f"b/{path}{ending}"):
        yield line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}"


def _lines(data: bytes) -> list[str]:
    # Not splitlines: a form feed or U+2028 ends no line of a patch.
    found = data.decode("utf-8", "surrogateescape").split("\n")
    return [line + "\n" for line in found[:-1]] + ([found[-1]] if found[-1] else [])
