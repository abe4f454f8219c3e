"""The JSON document of negotiate: the result itself; fields are stable, and only ever added to."""

from __future__ import annotations

from typing import Any

import msgspec

from kiplint.compat.negotiation.result import Negotiation
from kiplint.runs.negotiate import NegotiationResult


def document(result: NegotiationResult) -> Negotiation:
    """The document of a result."""
    return result.negotiation


def document_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the document."""
    schema = msgspec.json.schema(Negotiation)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"kiplint {NegotiationResult.command}",
        **schema,
    }
