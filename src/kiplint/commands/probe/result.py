"""The result of `kiplint probe`, its JSON document, and reading that document again as brokers for `negotiate`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec
from msgspec import Meta

from kiplint.codec.exchange import ProblemObject
from kiplint.codec.problems import RULES
from kiplint.compat.negotiation.sides import Offered, drop_unserved, offered_set
from kiplint.engine.errors import UsageError
from kiplint.limits import PROBE_BYTES
from kiplint.model.schemas import SchemaSet
from kiplint.render.report import RunResult
from kiplint.sources.disk import STDIN, read_input
from kiplint.text.decode import NOT_JSON


class Api(msgspec.Struct, frozen=True):
    """An RPC that a broker offers, and the version that a client of the set uses."""

    api_key: int
    name: Annotated[str, Meta(description="Empty where no known set has the RPC.")]
    lowest: int
    highest: int
    use: Annotated[int | None, Meta(description="The highest version of both sides, null where there is none.")]
    unknown: Annotated[str, Meta(description="The offered versions that no known set has, or empty.")]
    request_header: Annotated[int | None, Meta(description="The request header version of `use`.")] = None
    refused: Annotated[
        bool,
        Meta(
            description="A KIP-1313 broker answers it with INVALID_REQUEST: the connection began with request header "
            "3, and `request_header` is lower."
        ),
    ] = False


Levels = Annotated[dict[str, tuple[int, int]], Meta(description="The lowest and highest level by feature.")]


class ProbedBroker(msgspec.Struct, frozen=True):
    """The answers of a broker, or the error in place of them."""

    address: str
    error: Annotated[str | None, Meta(description="Why the broker could not be asked.")] = None
    api_versions: Annotated[int | None, Meta(description="The version of ApiVersions that was answered.")] = None
    tried: Annotated[tuple[int, ...], Meta(description="The versions of ApiVersions that were sent, in order.")] = ()
    apis: tuple[Api, ...] = ()
    cluster_id: str | None = None
    controller: int | None = None
    nodes: Annotated[tuple[str, ...], Meta(description="The brokers in Metadata: ID=HOST:PORT.")] = ()
    features: Levels = {}
    finalized: Levels = {}
    problems: Annotated[tuple[ProblemObject, ...], Meta(description="Problems in the bytes of its answers.")] = ()
    complaints: Annotated[tuple[str, ...], Meta(description="Missing and unexpected answers, a line each.")] = ()

    @property
    def is_in_order(self) -> bool:
        """Whether the broker answered every request without an error."""
        errors = (problem for problem in self.problems if RULES[problem.rule].severity == "error")
        return not (self.error or self.complaints or any(errors))


class ProbeSummary(msgspec.Struct, frozen=True):
    """The numbers of brokers."""

    brokers: int
    failed: Annotated[int, Meta(description="The brokers that could not be asked.")]


class ProbeDocument(msgspec.Struct, frozen=True):
    """What `kiplint probe --output-format json` writes; `kiplint negotiate` takes it as brokers."""

    version: Literal[1]
    brokers: tuple[ProbedBroker, ...]
    summary: ProbeSummary


DOCUMENTS: Final = {"probe": ProbeDocument}


class ProbeResult(RunResult, frozen=True):
    """The answers of brokers. `status` is `findings` where a broker could not be asked, or answered wrongly."""

    brokers: tuple[ProbedBroker, ...]
    """The brokers, in the order of their addresses."""

    command = "probe"
    renderers: ClassVar[Mapping[str, str]] = {"text": "kiplint.commands.probe.text:write"}
    unread = "not compared"

    @property
    def document(self) -> ProbeDocument:
        """The JSON document."""
        failures = sum(broker.error is not None for broker in self.brokers)
        return ProbeDocument(1, self.brokers, ProbeSummary(brokers=len(self.brokers), failed=failures))


class _OfferRow(msgspec.Struct):
    api_key: int
    lowest: int
    highest: int
    name: str = ""


class _OfferingBroker(msgspec.Struct):
    address: str
    apis: list[_OfferRow]
    error: str | None = None


class ProbedOffers(msgspec.Struct, frozen=True):
    """The brokers of a document: the offer of each by address, and the errors of those that could not be asked."""

    offers: dict[str, list[Offered]]
    failed: dict[str, str]

    def sets(self, layouts: SchemaSet) -> list[tuple[str, SchemaSet]]:
        """The brokers as schema sets, with the layouts of another set."""
        return [(address, offered_set(drop_unserved(rows), layouts)) for address, rows in self.offers.items()]


def read_offers(name: str) -> ProbedOffers | None:
    """The brokers in a file, or in standard input for `-`; None for a file that is not a document of `probe`.

    Raises UsageError for a document in which no broker answered, and for standard input without a document of `probe`.
    """
    if name != STDIN and not (name.endswith(".json") and os.path.isfile(name)):
        return None
    label = "standard input" if name == STDIN else name
    try:
        document = msgspec.json.decode(read_input(name, PROBE_BYTES))
    except NOT_JSON:
        document = None
    if not isinstance(document, dict) or "brokers" not in document or "name" in document:
        if name == STDIN:
            raise UsageError(f"{label} is not the output of `kiplint probe --output-format json`")
        return None
    return _offers(label, document["brokers"])


def _offers(label: str, rows: Any) -> ProbedOffers:
    try:
        brokers = msgspec.convert(rows, list[_OfferingBroker])
    except msgspec.ValidationError as error:
        raise UsageError(f"{label} is not the output of `kiplint probe --output-format json`: {error}") from None
    offers = {
        broker.address: [Offered(row.api_key, row.name, row.lowest, row.highest) for row in broker.apis]
        for broker in brokers
        if broker.error is None
    }
    errors_by_address = {broker.address: broker.error for broker in brokers if broker.error is not None}
    if not offers:
        errors = "; ".join(f"{address}: {error}" for address, error in errors_by_address.items())
        raise UsageError(f"{label} has no broker that answered{f' ({errors})' if errors else ''}")
    return ProbedOffers(offers, errors_by_address)
