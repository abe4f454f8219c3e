"""A configuration that `extend`s another: what a file gives counts over what its base does, tables entry by entry."""

from __future__ import annotations

import os
from typing import Any, Final

from kiplint.engine.errors import UsageError
from kiplint.text.show import printable

LISTS: Final = ("rule-packs", "exclude")
"""The keys whose values are lists of paths or globs."""

LONGEST: Final = 20
"""How many files may extend one another."""

Values = dict[str, Any]


def over(values: Values, base: Values, folder: str, file: str) -> Values:
    """The values of a file over those of its base, which stands in `folder`; its paths become the file's own."""
    here = os.path.dirname(os.path.realpath(file))
    moved = _moved(base, folder, here)
    tables = {name for name in (*values, *moved) if isinstance(values.get(name, moved.get(name)), dict)}
    joined = {name: _joined(moved.get(name, {}), values.get(name, {})) for name in tables}
    return {**moved, **values, **joined}


def _joined(base: Values, values: Values) -> Values:
    """One table over another, behind whose entries its own come; a table inside of it, such as params, likewise."""
    deeper = {
        name: _joined(base[name], value)
        for name, value in values.items()
        if isinstance(value, dict) and isinstance(base.get(name), dict)
    }
    return {**{name: value for name, value in base.items() if name not in values}, **values, **deeper}


def _moved(values: Values, folder: str, here: str) -> Values:
    found = dict(values)
    for name in LISTS:
        if name in found:
            found[name] = [_path(one, folder, here) for one in found[name]]
    if found.get("baseline"):
        found["baseline"] = _path(found["baseline"], folder, here)
    if "per-file-ignores" in found:
        found["per-file-ignores"] = {
            _path(one, folder, here): names for one, names in found["per-file-ignores"].items()
        }
    return found


def _path(path: str, folder: str, here: str) -> str:
    """A path or glob of a file in `folder` for one that is `here`; what begins with a star is meant anywhere."""
    if path.startswith("*") or os.path.isabs(path):
        return path
    whole = os.path.normpath(os.path.join(folder, path))
    inside = os.path.relpath(whole, here).replace(os.sep, "/")
    return whole if inside.startswith("../") else inside


def once(chain: tuple[str, ...], file: str) -> tuple[str, ...]:
    """The chain of files with one more; raises UsageError for one that is there already, and for one too many."""
    whole = os.path.realpath(file)
    if whole in chain:
        raise UsageError(f"{printable(file)} extends itself, by way of {len(chain)} files")
    if len(chain) >= LONGEST:
        raise UsageError(f"{printable(file)} is the end of more than {LONGEST} files that each extend the next")
    return (*chain, whole)
