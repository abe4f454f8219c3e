"""Every schema set as the client of every other."""

from __future__ import annotations

from kiplint.commands.negotiate.matrix.result import MatrixResult
from kiplint.compat.roles import Mode
from kiplint.compat.tree import broken, load_rpcs
from kiplint.engine.config import Path
from kiplint.engine.errors import UsageError


def negotiate_all(
    *sets: Path, unstable: bool = False, mode: Mode | None = None, repository: Path | None = None
) -> MatrixResult:
    """Every set as the client of every set, itself included. Raises UsageError and SourceError as `negotiate` does."""
    trees = [load_rpcs(name, repository) for name in sets]
    names = [tree.name for tree in trees]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{name} is named twice")
    return MatrixResult.of([(tree.name, tree.main) for tree in trees], broken(*trees), unstable=unstable, mode=mode)
