"""What KIP-1313 asks of headers, on top of which version has which header."""

from __future__ import annotations

from kiplint.model.header_map import header_of
from kiplint.model.schemas import SchemaSet

WITH_INSTANCE_ID = 3
"""The first version of RequestHeader with ClientInstanceId (KIP-1313, "Request Header")."""


def sends_instance_id_tagged(schemas: SchemaSet) -> bool:
    """Whether RequestHeader 3 of a set has ClientInstanceId as a tagged field, which an older reader skips.

    Untagged, as the KIP's text has it, also where the set has no RequestHeader 3.
    """
    header = schemas.request_header
    field = header.by_name.get("ClientInstanceId") if header else None
    return field is not None and field.tagged.covers(WITH_INSTANCE_ID)


def knows_instance_id(schemas: SchemaSet) -> bool:
    """Whether a set follows KIP-1313: it has RequestHeader 3, or a request whose highest version uses it."""
    header = schemas.request_header
    if header and header.valid.highest >= WITH_INSTANCE_ID:
        return True
    requests = (message for message in schemas.messages if message.type == "request" and message.valid)
    return any(header_of(request, request.valid.highest) >= WITH_INSTANCE_ID for request in requests)
