"""The JSON document of a matrix of releases; its fields are stable, and only ever added to."""

from __future__ import annotations

from typing import Any

from kiplint.commands.negotiate.run import MatrixResult


def document(result: MatrixResult) -> dict[str, Any]:
    """The document of a result, the same as of `kiplint pipeline matrix`."""
    return result.matrix.document()
