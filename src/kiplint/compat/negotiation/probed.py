"""A broker of which only its answer to ApiVersions is known, as a schema set that offers just that."""

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

    What they look like is taken from the known set, the client's: a broker does not tell. It says no listeners, so that
    all is served that is offered. An RPC that the known set does not have is one without fields.
    """
    return SchemaSet(tuple(half for one in offers for half in _halves(one, known)))


def _halves(one: Offered, known: SchemaSet) -> Iterator[Message]:
    versions = str(VersionRange.of(max(one.lowest, 0), one.highest))
    if versions == "none":
        return
    for kind, suffix in (("request", "Request"), ("response", "Response")):
        owner = known.key_owners.get((kind, one.api_key))
        if owner is None:
            name = one.name or f"Api{one.api_key}"
            spec = MessageSpec(name=f"{name}{suffix}", type=kind, valid_versions=versions, api_key=one.api_key)  # type: ignore[arg-type]
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
