"""Pieces of JSON Schemas that allow nothing but what they name."""

from __future__ import annotations

from typing import Any


def strict(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    """An object with these properties and no others."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }
