"""What a client and one or more brokers agree on: KIP-35, KIP-511, KIP-1242 and KIP-1313 applied to schema sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from kiplint.compat.negotiation.exchange import exchange
from kiplint.compat.negotiation.features import Needs, use_of
from kiplint.compat.negotiation.modes import check_mode, mode_of
from kiplint.compat.negotiation.result import Negotiation, RpcRow, Summary
from kiplint.compat.negotiation.rows import agree, rpc_rows
from kiplint.compat.negotiation.sides import GET_TELEMETRY_SUBSCRIPTIONS, broker_side, client_side
from kiplint.compat.negotiation.telemetry import telemetry
from kiplint.compat.roles import Mode
from kiplint.model.schemas import SchemaSet

Named = tuple[str, SchemaSet]


def negotiate(
    client: Named,
    brokers: Sequence[Named],
    features: Mapping[str, Needs] | None = None,
    *,
    unstable: bool = False,
    mode: Mode | None = None,
    sasl: bool = False,
) -> Negotiation:
    """What becomes of each RPC between a client and its brokers, each given as a name and a schema set.

    `features` are the versions that each feature needs, by RPC. With `unstable` brokers offer unstable versions.
    `mode` is what the brokers run in, by default KRaft where they can; over `sasl` the exchange begins otherwise.
    Raises UsageError for a broker that cannot run in the mode.
    """
    for name, schemas in brokers:
        check_mode(name, schemas, mode)
    ours = client_side(*client)
    theirs = [broker_side(name, schemas, unstable=unstable, mode=mode) for name, schemas in brokers]
    exchanges = tuple(exchange(ours, broker, sasl=sasl) for broker in theirs)
    subscriptions = [
        agree(GET_TELEMETRY_SUBSCRIPTIONS, ours, broker, begun) for broker, begun in zip(theirs, exchanges, strict=True)
    ]
    rows = tuple(rpc_rows(ours, theirs, exchanges))
    return Negotiation(
        version=1,
        client=ours.name,
        brokers=tuple(broker.name for broker in theirs),
        exchanges=exchanges,
        telemetry=tuple(telemetry(ours, broker, agreed) for broker, agreed in zip(theirs, subscriptions, strict=True)),
        rpcs=rows,
        features=tuple(use_of(name, needs, ours, theirs) for name, needs in (features or {}).items()),
        summary=_summary(rows),
        modes=tuple(mode_of(ours, broker, mode, unstable=unstable) for broker in theirs),
    )


def _summary(rows: tuple[RpcRow, ...]) -> Summary:
    ours = [row for row in rows if not row.between_nodes]
    counts = Counter(row.status for row in ours)
    return Summary(
        rpcs=len(rows),
        agreed=counts["agreed"],
        no_common_version=counts["no-common-version"],
        header_differs=counts["header-differs"],
        refused=counts["refused"],
        not_everywhere=counts["not-everywhere"],
        client_only=counts["client-only"],
        broker_only=counts["broker-only"],
        not_offered=counts["not-offered"],
        deprecated=sum(row.deprecated for row in ours),
        between_nodes=len(rows) - len(ours),
    )
