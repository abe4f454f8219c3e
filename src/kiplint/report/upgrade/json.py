"""The JSON document of upgrade-path: the result itself; fields are stable, and only ever added to."""

from __future__ import annotations

from typing import Any

import msgspec

from kiplint.compat.upgrade.result import UpgradePath
from kiplint.runs.upgrade import UpgradeResult


def document(result: UpgradeResult) -> UpgradePath:
    """The document of a result."""
    return result.path


def document_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the document."""
    schema = msgspec.json.schema(UpgradePath)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"kiplint {UpgradeResult.command}",
        **schema,
    }
