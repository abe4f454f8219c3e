"""What KIP-1313 asks of headers, on top of which version has which header."""

from __future__ import annotations

from kiplint.model.header_map import header_of
from kiplint.model.schemas import SchemaSet

WITH_INSTANCE_ID = 3
"""The first version of RequestHeader with ClientInstanceId (KIP-1313, "Request Header")."""


def knows_instance_id(schemas: SchemaSet) -> bool:
    """Whether a set follows KIP-1313: it has RequestHeader 3, or a request whose highest version uses it."""
    header = schemas.request_header
    if header and header.valid.highest >= WITH_INSTANCE_ID:
        return True
    requests = (message for message in schemas.messages if message.type == "request" and message.valid)
    return any(header_of(request, request.valid.highest) >= WITH_INSTANCE_ID for request in requests)
