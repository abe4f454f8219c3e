"""`kiplint negotiate`: which versions a client and its brokers agree on, and how each connection begins."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, ClassVar, Final, TextIO

import typer
from msgspec.structs import asdict

from kiplint.cli.options import ColorOption, FormOption, RepositoryOption
from kiplint.cli.output import present
from kiplint.compat.negotiation.broker_versions import offered_set, read_broker_versions
from kiplint.compat.negotiation.negotiate import negotiate as agree
from kiplint.compat.negotiation.result import (
    TROUBLE,
    BrokerMode,
    Exchange,
    Ids,
    Negotiation,
    NegotiationSummary,
    Outcome,
    RpcRow,
    Telemetry,
)
from kiplint.compat.roles import TITLES, Mode
from kiplint.compat.tree import load_rpcs, unparsable_files
from kiplint.engine.config import Path
from kiplint.engine.errors import UsageError
from kiplint.limits import TEXT_BYTES
from kiplint.model.error_codes import UNSUPPORTED_VERSION
from kiplint.render.report import RunResult, Status, Verdict, set_titles
from kiplint.render.table import (
    BOLD,
    DIM,
    SEVERITY,
    WIDTH,
    Cell,
    fold,
    paint,
    paragraph,
    table,
    title,
    verdict_lines,
    width_of,
)
from kiplint.sources.disk import STDIN, read_input
from kiplint.sources.open import ARCHIVES
from kiplint.text.words import join_words, plural

LABEL_WIDTH: Final = 11
REFUSALS: Final[dict[Outcome, str]] = {
    "no-common-version": "No version in common",
    "layout-differs": "Other bytes: client and broker would misread each other",
    "header-differs": "Headers differ: client and broker cannot read each other",
    "refused": "Refused with INVALID_REQUEST",
}
ABSENCES: Final[dict[Outcome, str]] = {
    "not-everywhere": "Not offered by every broker",
    "client-only": "Only the client has",
    "broker-only": "Not used by the client",
    "not-offered": "Not offered to clients (other listeners, or unstable)",
}
RED, YELLOW = SEVERITY["error"], SEVERITY["warning"]


EPILOG = """\b
Examples:
  kiplint negotiate 2.8.0: 3.9.0: --repo kafka
  kiplint negotiate client/ broker1/ broker2/
  kafka-broker-api-versions.sh --bootstrap-server b1:9092 | kiplint negotiate client/ -

Exit codes: 0 all can be used, 1 an RPC of both sides has no common version or would be refused, 2 something could not \
be read or understood."""


def command(
    client: Annotated[
        str,
        typer.Argument(metavar="CLIENT", help="The client's schema set: a directory, an archive, REV: or REV:path."),
    ],
    brokers: Annotated[
        list[str],
        typer.Argument(
            metavar="BROKER...",
            help="The schema set of each broker, or the saved output of kafka-broker-api-versions.sh, - for standard "
            "input.",
        ),
    ],
    repository: RepositoryOption = None,
    unstable: Annotated[bool, typer.Option("--unstable", help="Client and brokers use unstable versions too.")] = False,
    output_format: FormOption = "text",
    color: ColorOption = "auto",
) -> int:
    """Report which versions a client and its brokers agree on.

    First the ApiVersions exchange that begins a connection (KIP-35, KIP-511, KIP-1242), then for each RPC the
    versions that client and all brokers share in the same bytes, the version chosen, and the headers. Reports which
    RPCs a KIP-1313 broker would refuse, and which side makes the client instance id.

    A broker in KRaft mode offers the RPCs whose listeners name broker, one in ZooKeeper mode those that name
    zkBroker; and those without listeners, as before 2.8, as far as the release enables them. The mode of a set with
    both listeners is KRaft from 3.3 on, else ZooKeeper. RPCs between brokers and controllers are listed apart.
    Brokers of kafka-broker-api-versions.sh are assumed to have the client's layouts.
    """
    result = negotiate(client, *brokers, unstable=unstable, repository=repository)
    return present(result, output_format, color)


class NegotiationResult(RunResult, frozen=True):
    """A negotiation. `status` is `findings` where an RPC of both sides cannot be used."""

    document: Negotiation
    """The exchanges and the RPCs."""

    command = "negotiate"
    renderers: ClassVar[Mapping[str, str]] = {"text": "kiplint.commands.negotiate:write"}
    unparsable_are = "not compared"

    @property
    def verdict(self) -> Verdict:
        """`2.8.0 clients work with 4.1.0 brokers: 52 of 52 RPCs that both use.`, and the RPCs that do not, with why."""
        client, *brokers = set_titles(self.document.client, *self.document.brokers)
        rows = [
            row
            for row in self.document.rpcs
            if row.in_trouble or (not row.between_nodes and row.status in (*TROUBLE, "agreed"))
        ]
        bad = [row for row in rows if row.in_trouble]
        verb = "work" if not bad else "do not work" if len(bad) == len(rows) else "work in part"
        return Verdict.of(
            f"{client} clients {verb} with {join_words(brokers)} brokers: "
            f"{len(rows) - len(bad)} of {plural(len(rows), 'RPC')} that both use.",
            [f"{row.name}: {row.message}" for row in bad],
        )


def negotiate(
    client: Path, *brokers: Path, unstable: bool = False, repository: Path | None = None
) -> NegotiationResult:
    """The ApiVersions exchange with each broker, and for each RPC the resulting versions and headers.

    A broker is a schema set, or a file with the output of `kafka-broker-api-versions.sh`, which may have several. With
    `unstable` the brokers offer unstable versions too. Raises UsageError for mistakes in the arguments and SourceError
    for what cannot be opened.
    """
    if not brokers:
        raise UsageError("negotiate takes a client and at least one broker")
    tree = load_rpcs(client, repository)
    trees, named_sets, notes = [tree], [], []
    for broker in brokers:
        name = os.fspath(broker)
        if name == STDIN or (os.path.isfile(name) and not name.lower().endswith((".json", *ARCHIVES))):
            text = read_input(name, TEXT_BYTES).decode(errors="replace")
            offers, errors = read_broker_versions("standard input" if name == STDIN else name, text)
            named_sets += [(address, offered_set(rows, tree.main)) for address, rows in offers.items()]
            notes += [f"warning: {address} is left out: {error}" for address, error in errors.items()]
        else:
            trees.append(load_rpcs(name, repository))
            named_sets.append((trees[-1].name, trees[-1].main))
    negotiation = agree((tree.name, tree.main), named_sets, unstable=unstable)
    unreadable = unparsable_files(*trees)
    status: Status = "error" if unreadable or notes else "findings" if negotiation.in_trouble else "ok"
    return NegotiationResult(document=negotiation, status=status, unparsable=unreadable, notes=tuple(notes))


def write(result: NegotiationResult, out: TextIO, *, color: bool) -> None:
    """Write the negotiation."""
    negotiation = result.document
    width = width_of(out)
    sections = [verdict_lines(result.verdict, width, color)]
    for parts in zip(negotiation.modes, negotiation.exchanges, negotiation.telemetry, strict=True):
        rows = [[(label.ljust(LABEL_WIDTH), DIM), (text, "")] for label, text in _connection(*parts)]
        lines = table((), rows, color, min(WIDTH, width or WIDTH))
        sections.append([title(f"Connection to {parts[0].broker}", color), *lines])
    sections += _attention(negotiation.rpcs, color, width)
    sections.append(_all_rpcs(negotiation, color, width))
    sections.append([_counts(negotiation.summary, color)])
    out.write("\n\n".join("\n".join(section) for section in sections if section) + "\n")


def _connection(mode: BrokerMode, exchange: Exchange, telemetry: Telemetry) -> Iterator[tuple[str, str]]:
    """How a connection begins: pairs of a label and a sentence; an empty label repeats the last one."""
    other: Mode = "zookeeper" if mode.mode == "kraft" else "kraft"
    yield "mode", TITLES[mode.mode]
    for title_of_mode, names in ((TITLES[other], mode.not_here), (TITLES[mode.mode], mode.only)):
        if names:
            yield "", f"only {title_of_mode} mode serves {', '.join(names)}"
    if exchange.tried is not None:
        yield "ApiVersions", f"the client tries version {exchange.tried} (request header {exchange.tried_header})"
    if exchange.answer is not None:
        error = f" with {UNSUPPORTED_VERSION}" if exchange.error else ""
        named_range = f", naming {exchange.supported} as its range (KIP-511)" if exchange.supported else ""
        yield "", f"the broker answers in version {exchange.answer}{error}{named_range}"
    if exchange.used is not None:
        yield "", f"in use: version {exchange.used} (request header {exchange.request_header}, response header 0)"
    yield from (("note", note) for note in exchange.notes)
    if exchange.used is not None:
        yield from _identification(exchange)
    sides = f"{telemetry.client_side} client, {telemetry.broker_side} broker (KIP-1313)"
    if telemetry.version is not None:
        yield "telemetry", f"{sides}: GetTelemetrySubscriptions {telemetry.version}"
        if telemetry.initial == telemetry.later:
            yield "", f"every request: {_ids(telemetry.initial)}"
        else:
            yield "", f"first request: {_ids(telemetry.initial)}"
            yield "", f"later: {_ids(telemetry.later)}"
    elif "new" in (telemetry.client_side, telemetry.broker_side):
        yield "telemetry", f"{sides}: no GetTelemetrySubscriptions"


def _identification(exchange: Exchange) -> Iterator[tuple[str, str]]:
    """What the client tells of itself."""
    software = "ClientSoftwareName and ClientSoftwareVersion (KIP-511)"
    for label, is_sent, when in (("sent", True, ", once bootstrapped"), ("not sent", False, "")):
        ids = {"ClusterId": exchange.cluster_id, "NodeId": exchange.node_id}
        names = [name for name, flag in ids.items() if flag is is_sent]
        fields = [software] if exchange.client_software is is_sent else []
        fields += [f"{' and '.join(names)} (KIP-1242{when})"] if names else []
        if fields:
            yield label, ", ".join(fields)
    if exchange.checked:
        yield "instance id", "every request must carry it in header 3; SaslHandshake is exempt (KIP-1313)"


def _ids(ids: Ids) -> str:
    return ", ".join(f"{part}.ClientInstanceId={value}" for part, value in asdict(ids).items() if value is not None)


def _attention(rpcs: Iterable[RpcRow], color: bool, width: int | None) -> Iterator[list[str]]:
    ours = [row for row in rpcs if not row.between_nodes or row.in_trouble]
    deprecated = [row for row in ours if row.deprecated and row.status not in TROUBLE]
    messages = [(caption, RED, [row for row in ours if row.status == status]) for status, caption in REFUSALS.items()]
    for caption, code, rows in (*messages, ("Agreed on a deprecated version", YELLOW, deprecated)):
        if rows:
            cells = [[(row.name, BOLD), (row.message, "")] for row in rows]
            yield [paint(f"{caption} ({len(rows)})", code, color), *table((), cells, color, width)]
    for status, caption in ABSENCES.items():
        rows = [row for row in ours if row.status == status]
        if rows:
            yield [title(f"{caption} ({len(rows)})", color), *paragraph(map(_brief, rows), width=width)]
    if node_rows := [row for row in rpcs if row.between_nodes and not row.in_trouble]:
        briefs = (_brief(row) + ("" if row.status == "agreed" else f" ({_words(row.status)})") for row in node_rows)
        caption = f"Between brokers and controllers, not for clients ({len(node_rows)})"
        yield [title(caption, color), *paragraph(briefs, width=width)]


def _words(status: Outcome) -> str:
    return status.replace("-", " ")


def _brief(row: RpcRow) -> str:
    versions = row.client or "/".join(dict.fromkeys(broker.versions for broker in row.brokers if broker.versions))
    return f"{row.name} {versions}"


def _all_rpcs(negotiation: Negotiation, color: bool, width: int | None) -> list[str]:
    several = len(negotiation.brokers) > 1
    brokers = (*negotiation.brokers, "usable") if several else ("broker",)
    head = ("key", "RPC", "client", *brokers, "version", "headers", "")
    lines = table(head, (_cells(row, several) for row in negotiation.rpcs), color, width)
    key = fold("  headers: of request and response; +id where the request carries ClientInstanceId", width, color, DIM)
    return [title("All RPCs", color), *lines, *key] if lines else []


def _cells(row: RpcRow, several: bool) -> list[Cell]:
    remarks = ["between brokers"] if row.between_nodes else []
    remarks += [_words(row.status)] if row.status != "agreed" else []
    remarks += ["deprecated"] if row.deprecated else []
    color = RED if row.in_trouble else YELLOW if row.deprecated and not row.between_nodes else DIM
    headers = "" if row.request_header is None else f"{row.request_header}, {row.response_header}"
    return [
        *((text, "") for text in (str(row.api_key), row.name, row.client or "-")),
        *((broker.versions or "-", "") for broker in row.brokers),
        *([(row.usable or "-", "")] if several else []),
        ("-" if row.chosen is None else str(row.chosen), BOLD),
        (headers + (" +id" if row.instance_id else ""), ""),
        (", ".join(remarks), color if remarks else ""),
    ]


def _counts(counts: NegotiationSummary, color: bool) -> str:
    parts = [
        (f"{counts.deprecated} on a deprecated version", YELLOW, counts.deprecated),
        (f"{counts.no_common_version} without a common version", RED, counts.no_common_version),
        (f"{counts.layout_differs} with different bytes", RED, counts.layout_differs),
        (f"{counts.header_differs} with different headers", RED, counts.header_differs),
        (f"{counts.refused} refused", RED, counts.refused),
        (f"{counts.between_nodes} between brokers", "", counts.between_nodes),
    ]
    shown = [paint(text, code, color) for text, code, number in parts if number]
    return f"{plural(counts.rpcs, 'RPC')}: {', '.join([f'{counts.agreed} agreed', *shown])}"
