"""A broker of which only the answer to ApiVersions is known, as a schema set that offers exactly that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec
from msgspec import UNSET

from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from kiplint.model.spec import MessageSpec
from kiplint.versions import VersionRange


class Offered(NamedTuple):
    """One row of the answer: an RPC and its lowest and highest version; `name` may be empty."""

    api_key: int
    name: str
    lowest: int
    highest: int


def offered_set(offers: Iterable[Offered], known: SchemaSet) -> SchemaSet:
    """The set of a broker with these versions.

    The layouts are those of the known set, the client's, as a broker does not announce them. The set declares no
    listeners, so that all RPCs that are offered are served. An RPC that the known set lacks has no fields.
    """
    return SchemaSet(tuple(half for offer in offers for half in _halves(offer, known)))


def _halves(offer: Offered, known: SchemaSet) -> Iterator[Message]:
    versions = str(VersionRange.of(max(offer.lowest, 0), offer.highest))
    if versions == "none":
        return
    for kind, suffix in (("request", "Request"), ("response", "Response")):
        owner = known.key_owners.get((kind, offer.api_key))
        if owner is None:
            name = offer.name or f"Api{offer.api_key}"
            spec = MessageSpec(name=f"{name}{suffix}", type=kind, valid_versions=versions, api_key=offer.api_key)  # type: ignore[arg-type]
            yield Message(spec)
        else:
            spec = msgspec.structs.replace(
                owner.spec,
                valid_versions=versions,
                listeners=UNSET,
                deprecated_versions=UNSET,
                latest_version_unstable=UNSET,
            )
            yield Message(spec, owner.file)
