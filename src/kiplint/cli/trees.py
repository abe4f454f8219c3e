"""Opening what commands compare: directories, revisions and archives as trees of schema sets."""

from __future__ import annotations

import sys
from collections.abc import Callable

from kiplint.cli.terminal import use_color
from kiplint.compat.tree import Tree, make_tree
from kiplint.report.kit.colors import paint
from kiplint.sources.open import open_sets


def open_tree(name: str, repository: str | None = None, keep: Callable[[str], bool] = lambda path: True) -> Tree:
    """The tree that a SET argument names; files given one by one come without their siblings."""
    directories: dict[str, list[tuple[str, bytes]]] = {}
    for one in open_sets([name], keep, repository=repository):
        files = directories.setdefault(one.relative, [])
        files += [(file.path, file.data) for file in one.files if file.wanted]
    return make_tree(name, directories.items())


def warn_of_broken(*trees: Tree) -> bool:
    """Say on stderr which definitions could not be read; whether there are any."""
    label = paint("warning", "1;33", use_color("auto", sys.stderr))
    for tree in trees:
        for one in tree.broken:
            print(f"{label}: {one.file} cannot be read, so it is not compared; see `kiplint check`", file=sys.stderr)
    return any(tree.broken for tree in trees)
