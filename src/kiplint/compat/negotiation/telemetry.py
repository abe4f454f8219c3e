"""Who makes the client instance id, and where it travels: the table of KIP-1313, "Alignment of identifiers"."""

from __future__ import annotations

from typing import Final

from kiplint.compat.negotiation.headers import WITH_INSTANCE_ID, knows_instance_id
from kiplint.compat.negotiation.result import Agreement, Ids, Telemetry
from kiplint.compat.negotiation.sides import Side

_BY_BROKER: Final = Ids(request="0", response="UUID-B"), Ids(request="UUID-B", response="0")
_IN_REQUEST: Final = Ids(request="UUID-R", response="0")
_IN_HEADER: Final = Ids(header="UUID-H")


def telemetry(client: Side, broker: Side, agreed: Agreement | None) -> Telemetry:
    """The cell of the table for client and broker; `agreed` is what they make of GetTelemetrySubscriptions.

    A client that knows request header 3 makes the id itself, and sends it in the request as long as the version is
    not one with that header. Any other client lets the broker make it.
    """
    is_new = knows_instance_id(client.schemas)
    initial, later = Ids(), Ids()
    version = agreed.chosen if agreed else None
    if agreed and version is not None:
        in_header = (agreed.request_header or 0) >= WITH_INSTANCE_ID
        ours = _IN_HEADER if in_header else _IN_REQUEST
        initial, later = (ours, ours) if is_new else _BY_BROKER
    return Telemetry(
        broker.name,
        "new" if is_new else "old",
        "new" if knows_instance_id(broker.schemas) else "old",
        version,
        initial,
        later,
    )
