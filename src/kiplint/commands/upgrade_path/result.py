"""The JSON document of upgrade-path: the result itself; fields are stable, and only ever added to."""

from __future__ import annotations

from kiplint.commands.upgrade_path.run import UpgradeResult
from kiplint.compat.upgrade import UpgradePath

DOCUMENTS = {"upgrade-path": UpgradePath}


def document(result: UpgradeResult) -> UpgradePath:
    """The document of a result."""
    return result.path
