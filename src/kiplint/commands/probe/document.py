"""What `kiplint probe --output-format json` wrote, as brokers for `negotiate`."""

from __future__ import annotations

import os
import sys
from typing import Any

import msgspec

from kiplint.compat.negotiation.probed import Offered, offered_set
from kiplint.engine.errors import UsageError
from kiplint.model.schemas import SchemaSet
from kiplint.sources.disk import read

STDIN = "-"
MOST = 64 * 2**20
"""The longest document that is read from standard input, in bytes."""


class _Row(msgspec.Struct):
    api_key: int
    lowest: int
    highest: int
    name: str = ""


class _Broker(msgspec.Struct):
    address: str
    apis: list[_Row]
    error: str | None = None


class Recorded(msgspec.Struct, frozen=True):
    """The brokers of a document: what each offers, by address, and why others could not be asked."""

    offers: dict[str, list[Offered]]
    failed: dict[str, str]

    def sets(self, known: SchemaSet) -> list[tuple[str, SchemaSet]]:
        """The brokers as sets, looked at with the client's schemas."""
        return [(address, offered_set(rows, known)) for address, rows in self.offers.items()]


def recorded(name: str) -> Recorded | None:
    """The brokers in a file, or in standard input for `-`; None for a file that is something else.

    Raises UsageError for a document without a broker that answered, and for one that is not as probe writes it.
    """
    if name != STDIN and not (name.endswith(".json") and os.path.isfile(name)):
        return None
    label = "standard input" if name == STDIN else name
    try:
        found = msgspec.json.decode(sys.stdin.buffer.read(MOST) if name == STDIN else read(name))
    except (msgspec.DecodeError, RecursionError):
        found = None
    if not isinstance(found, dict) or "brokers" not in found or "name" in found:
        if name == STDIN:
            raise UsageError(f"{label} is not what `kiplint probe --output-format json` writes")
        return None
    return _brokers(label, found["brokers"])


def _brokers(label: str, found: Any) -> Recorded:
    try:
        brokers = msgspec.convert(found, list[_Broker])
    except msgspec.ValidationError as error:
        raise UsageError(f"{label} is not what `kiplint probe --output-format json` writes: {error}") from None
    offers = {
        one.address: [Offered(row.api_key, row.name, row.lowest, row.highest) for row in one.apis]
        for one in brokers
        if one.error is None
    }
    failed = {one.address: one.error for one in brokers if one.error is not None}
    if not offers:
        why = "; ".join(f"{address}: {error}" for address, error in failed.items())
        raise UsageError(f"{label} has no broker that answered{f' ({why})' if why else ''}")
    return Recorded(offers, failed)
