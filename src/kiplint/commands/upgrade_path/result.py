"""The result of `kiplint upgrade-path`; its JSON document is the path itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from kiplint.compat.upgrade import UpgradePath
from kiplint.render.report import RunResult

DOCUMENTS: Final = {"upgrade-path": UpgradePath}


class UpgradeResult(RunResult, frozen=True):
    """The upgrade path. `status` is `findings` where there is none."""

    path: UpgradePath
    """The steps, and why the direct upgrade is impossible where it is."""

    command = "upgrade-path"
    renderers: ClassVar[Mapping[str, str]] = {"text": "kiplint.commands.upgrade_path.text:write"}
    unread = "not compared"

    @property
    def document(self) -> UpgradePath:
        """The JSON document."""
        return self.path

    def __str__(self) -> str:
        path = self.path
        return " -> ".join(path.path) if path.found else f"no path from {path.source} to {path.target}"
