"""`kiplint negotiate`: which versions a client and its brokers agree on, and how each connection begins."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Annotated, TextIO

import typer

from kiplint.cli.options import FormOption, RepositoryOption
from kiplint.cli.output import present
from kiplint.compat.broker_versions import offered_set, read_broker_versions
from kiplint.compat.negotiation import Exchange, Negotiation, RpcRow
from kiplint.compat.negotiation import negotiate as agree
from kiplint.compat.roles import TITLES
from kiplint.compat.tree import Tree, load_rpcs, unparsable_files
from kiplint.engine.config import StrPath
from kiplint.engine.errors import UsageError
from kiplint.limits import TEXT_BYTES
from kiplint.model.schemas import SchemaSet
from kiplint.render.formats import Writer
from kiplint.render.report import RunResult, Status, Verdict, set_titles
from kiplint.render.table import BOLD, DIM, SEVERITY, WIDTH, Cell, fold, table, title, verdict_lines, width_of
from kiplint.sources.archive import ARCHIVES
from kiplint.sources.disk import STDIN, read_input
from kiplint.sources.repository import open_repository
from kiplint.text.words import join_words, plural

EPILOG = """\b
Examples:
  kiplint negotiate 2.8.0: 3.9.0: --repo kafka
  kiplint negotiate client/ broker1/ broker2/
  kafka-broker-api-versions.sh --bootstrap-server b1:9092 | kiplint negotiate client/ -

Exit codes: 0 all RPCs can be used, 1 an RPC of both sides has no common version or would be rejected, \
2 unreadable or invalid input."""


def command(
    client: Annotated[
        str,
        typer.Argument(
            metavar="CLIENT",
            help="The client's schema set: a directory, an archive, a release such as 4.1, REV: or REV:path.",
        ),
    ],
    brokers: Annotated[
        list[str],
        typer.Argument(
            metavar="BROKER",
            help="The schema set of each broker, or the saved output of kafka-broker-api-versions.sh; - for standard "
            "input.",
        ),
    ],
    repository: RepositoryOption = None,
    unstable: Annotated[
        bool, typer.Option("--unstable", help="Let the client and the brokers also use unstable versions.")
    ] = False,
    output_format: FormOption = "text",
) -> int:
    """Report which versions a client and its brokers agree on.

    The report begins with the ApiVersions exchange of the connection (KIP-35, KIP-511, KIP-1242). For each RPC, it
    shows the versions that the client and all brokers encode identically, the version chosen, and the headers. It also
    shows which RPCs a KIP-1313 broker would reject. Versions that only brokers use among themselves do not count.

    A broker in KRaft mode offers the RPCs with the listener broker, and a broker in ZooKeeper mode those with zkBroker.
    RPCs without listeners, as before 2.8, are offered if the release enables them. The mode of a set with both
    listeners is KRaft from 3.3 on, otherwise ZooKeeper. Brokers from kafka-broker-api-versions.sh are assumed to have
    the client's layouts.
    """
    result = negotiate(client, *brokers, unstable=unstable, repository=repository)
    return present(result, output_format)


class NegotiationResult(RunResult, frozen=True):
    """A negotiation. `status` is `findings` where an RPC of both sides cannot be used."""

    document: Negotiation
    """The exchanges and the RPCs."""

    command = "negotiate"
    unparsable_are = "not compared"

    @property
    def writers(self) -> Mapping[str, Writer]:
        """The functions of the formats that the result has in a form of its own."""
        return {"text": write}

    @property
    def verdict(self) -> Verdict:
        """`2.8.0 clients work with 4.1.0 brokers: 52 of 52 RPCs that both use.`, and why the others fail."""
        client, *brokers = set_titles(self.document.client, *self.document.brokers)
        failing_rows = [row for row in self.document.rpcs if row.in_trouble]
        agreed = sum(row.status == "agreed" and not (row.between_nodes or row.in_trouble) for row in self.document.rpcs)
        verb = "work"
        if failing_rows:
            verb = "work in part" if agreed else "do not work"
        return Verdict.of(
            f"{client} clients {verb} with {join_words(brokers)} brokers: "
            f"{agreed} of {plural(agreed + len(failing_rows), 'RPC')} that both use.",
            [f"{row.name}: {row.message}" for row in failing_rows],
        )


def negotiate(
    client: StrPath, *brokers: StrPath, unstable: bool = False, repository: StrPath | None = None
) -> NegotiationResult:
    """The ApiVersions exchange with each broker, and for each RPC the resulting versions and headers.

    A broker is a schema set, or a file with the output of `kafka-broker-api-versions.sh`, which may name several
    brokers; these get the client's layouts. With `unstable` the brokers offer unstable versions too. Raises UsageError
    for mistakes in the arguments and SourceError for what cannot be opened.
    """
    if not brokers:
        raise UsageError("negotiate needs a client and at least one broker")
    git = open_repository(repository)
    client_tree = load_rpcs(client, git)
    broker_trees: list[Tree] = []
    broker_sets: list[tuple[str, SchemaSet]] = []
    notes: list[str] = []
    for broker in brokers:
        name = os.fspath(broker)
        is_tool_output = os.path.isfile(name) and not name.lower().endswith((".json", *ARCHIVES))
        if name == STDIN or is_tool_output:
            text = read_input(name, TEXT_BYTES).decode(errors="replace")
            offers, errors = read_broker_versions("standard input" if name == STDIN else name, text)
            broker_sets += [(address, offered_set(rpcs, client_tree.main)) for address, rpcs in offers.items()]
            notes += [f"warning: {address} is skipped: {error}" for address, error in errors.items()]
        else:
            broker_tree = load_rpcs(name, git)
            broker_trees.append(broker_tree)
            broker_sets.append((broker_tree.name, broker_tree.main))
    negotiation = agree((client_tree.name, client_tree.main), broker_sets, unstable=unstable)
    status: Status = "findings" if negotiation.in_trouble else "ok"
    unparsable = unparsable_files(client_tree, *broker_trees)
    if unparsable or notes:
        status = "error"
    return NegotiationResult(document=negotiation, status=status, unparsable=unparsable, notes=tuple(notes))


def write(result: NegotiationResult, out: TextIO, *, color: bool) -> None:
    """Write the verdict, how each connection begins, and a table of all RPCs, those that cannot be used first."""
    negotiation = result.document
    width = width_of(out)
    sections = [verdict_lines(result.verdict, width, color)]
    for exchange in negotiation.exchanges:
        rows = [[(label, DIM), (text, "")] for label, text in _connection(exchange)]
        lines = table((), rows, color, min(WIDTH, width or WIDTH))
        sections.append([title(f"Connection to {exchange.broker}", color), *lines])

    has_usable = len(negotiation.brokers) > 1  # of one broker, that is what client and broker share
    brokers = (*negotiation.brokers, "usable") if has_usable else ("broker",)
    head = ("key", "RPC", "client", *brokers, "version", "headers", "")
    sorted_rows = sorted(negotiation.rpcs, key=lambda row: not row.in_trouble)
    cells = [_cells(row, has_usable=has_usable) for row in sorted_rows]
    legend = "  headers: request and response; +id if the request header carries ClientInstanceId"
    if cells:
        lines = table(head, cells, color, width)
        sections.append([title("All RPCs", color), *lines, *fold(legend, width, color, DIM)])
    out.write("\n\n".join("\n".join(section) for section in sections) + "\n")


def _connection(exchange: Exchange) -> Iterator[tuple[str, str]]:
    """How a connection begins: pairs of a label and a sentence; an empty label repeats the last one."""
    yield "mode", TITLES[exchange.mode]
    if exchange.tried is not None:
        error = " with 35 (UNSUPPORTED_VERSION, not retriable)" if exchange.error else ""
        named_range = f", naming {exchange.supported} as its range (KIP-511)" if exchange.supported else ""
        yield "ApiVersions", f"the client tries version {exchange.tried} (request header {exchange.tried_header})"
        if not exchange.is_closed:
            yield "", f"the broker answers in version {exchange.answer}{error}{named_range}"
    if exchange.used is not None:
        yield "", f"in use: version {exchange.used} (request header {exchange.request_header}, response header 0)"
    yield from (("note", note) for note in exchange.notes)
    if exchange.used is not None:
        fields = {
            "ClientSoftwareName and ClientSoftwareVersion (KIP-511)": exchange.client_software,
            "ClusterId (KIP-1242, once bootstrapped)": exchange.cluster_id,
            "NodeId (KIP-1242, once bootstrapped)": exchange.node_id,
        }
        for label, is_sent in (("sent", True), ("not sent", False)):
            names = [name for name, is_field_sent in fields.items() if is_field_sent == is_sent]
            if names:
                yield label, ", ".join(names)
    if exchange.checked:
        yield "instance id", "every request must carry it in header 3; SaslHandshake is exempt (KIP-1313)"


def _cells(row: RpcRow, *, has_usable: bool) -> list[Cell]:
    """The cells of an RPC; with `has_usable`, the column after the brokers has the versions that all can use."""
    remarks = ["between brokers"] if row.between_nodes else []
    if row.message or row.status != "agreed":
        remarks.append(row.message or row.status.replace("-", " "))
    if row.deprecated:
        remarks.append("deprecated")
    headers = "" if row.request_header is None else f"{row.request_header}, {row.response_header}"
    versions = [row.client, *(broker.versions for broker in row.brokers), *([row.usable] if has_usable else [])]
    return [
        (str(row.api_key), ""),
        (row.name, ""),
        *((text or "-", "") for text in versions),
        ("-" if row.chosen is None else str(row.chosen), BOLD),
        (headers + (" +id" if row.instance_id else ""), ""),
        ("; ".join(remarks), SEVERITY["error"] if row.in_trouble else DIM),
    ]
