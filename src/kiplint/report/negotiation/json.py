"""The JSON documents of negotiate and upgrade-path: the result itself; fields are stable, and only ever added to."""

from __future__ import annotations

from typing import Any, Literal, TextIO

import msgspec

from kiplint.compat.negotiation.result import Negotiation
from kiplint.compat.upgrade.result import UpgradePath


def write(found: Negotiation | UpgradePath, out: TextIO) -> None:
    """Write one document, indented by two blanks."""
    out.write(msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n")


def document_schema(command: Literal["negotiate", "upgrade-path"]) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of what a command's `--output-format json` writes."""
    schema = msgspec.json.schema({"negotiate": Negotiation, "upgrade-path": UpgradePath}[command])
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"kiplint {command}", **schema}
