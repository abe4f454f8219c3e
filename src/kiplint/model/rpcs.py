"""The RPCs of Kafka that rules and commands treat specially, in one table.

Sources: KIP-35 and KIP-896 (what begins a connection stays), KIP-1313 and KAFKA-9577 (what is frozen).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from kiplint.model.types import ID_TYPES, ID_WORDS
from kiplint.versions import VersionRange

METADATA, CONTROLLED_SHUTDOWN, SASL_HANDSHAKE, API_VERSIONS, OFFSET_DELETE = 3, 7, 17, 18, 47
GET_TELEMETRY_SUBSCRIPTIONS, PUSH_TELEMETRY = 71, 72


class ProtectedRpc(NamedTuple):
    """An RPC that rules protect: Kafka's name for it, and what must not change."""

    name: str
    begins_connections: bool = False
    """Whether a connection begins with it, so that it is never removed and no set can give its key to another RPC."""
    frozen_versions: VersionRange | None = None
    """The versions beyond which it must never be bumped; None if it may be."""


PROTECTED: Final = {
    METADATA: ProtectedRpc("Metadata"),
    SASL_HANDSHAKE: ProtectedRpc("SaslHandshake", begins_connections=True, frozen_versions=VersionRange.of(0, 1)),
    API_VERSIONS: ProtectedRpc("ApiVersions", begins_connections=True),
    OFFSET_DELETE: ProtectedRpc("OffsetDelete"),
    GET_TELEMETRY_SUBSCRIPTIONS: ProtectedRpc("GetTelemetrySubscriptions"),
    PUSH_TELEMETRY: ProtectedRpc("PushTelemetry"),
}
"""The RPCs that rules protect, by API key: peers identify an RPC only by its key, whatever its name in a file."""

KEYS_BY_NAME: Final = {rpc.name: key for key, rpc in PROTECTED.items()}
"""The API keys of the protected RPCs, by Kafka's names."""

FROZEN: Final = {rpc.name: rpc.frozen_versions for rpc in PROTECTED.values() if rpc.frozen_versions is not None}
"""The versions of the frozen RPCs, by Kafka's names."""

PARAMS: Final[dict[str, Any]] = {
    "@frozen": {name: str(versions) for name, versions in FROZEN.items()},
    "@frozen-names": [*FROZEN],
    "@connection-names": sorted(rpc.name for rpc in PROTECTED.values() if rpc.begins_connections),
    "@id-types": [*ID_TYPES],
    "@id-words": [*ID_WORDS],
}
"""The defaults of rule params that come from tables of the model, by the placeholder that a pack has for them."""
