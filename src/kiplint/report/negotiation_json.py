"""The JSON documents of negotiate and upgrade-path: the result itself; fields are stable, and only ever added to."""

from __future__ import annotations

from typing import Any, TextIO

import msgspec

from kiplint.compat.negotiation_result import Negotiation


def write(found: msgspec.Struct, out: TextIO) -> None:
    """Write one document, indented by two blanks."""
    out.write(msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n")


def negotiation_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of what `kiplint negotiate --output-format json` writes."""
    schema = msgspec.json.schema(Negotiation)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "kiplint negotiate", **schema}
