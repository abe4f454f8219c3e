"""The JSON document of upgrade-path: the result itself; fields are stable, and only ever added to."""

from __future__ import annotations

from kiplint.compat.upgrade.result import UpgradePath
from kiplint.runs.upgrade import UpgradeResult


def document(result: UpgradeResult) -> UpgradePath:
    """The document of a result."""
    return result.path
