"""`kiplint negotiate`: which versions a client and its brokers agree on, and how each connection begins."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, NamedTuple, TextIO

import typer

from kiplint.cli.options import FormOption, RepositoryOption, complete_sets
from kiplint.cli.output import present
from kiplint.compat.negotiation import Exchange, Negotiation, RpcRow
from kiplint.compat.negotiation import negotiate as agree
from kiplint.compat.roles import TITLES, Mode, modes
from kiplint.compat.tree import Tree, load_release, load_rpcs, unparsable_files
from kiplint.compat.version_tables import VersionTable, VersionTables, broker_set, is_json_table, read_tables
from kiplint.engine.config import StrPath
from kiplint.engine.errors import UsageError
from kiplint.limits import TEXT_BYTES
from kiplint.model.schemas import SchemaSet
from kiplint.render.formats import Writer
from kiplint.render.report import RunResult, Status, Verdict, set_titles
from kiplint.render.table import BOLD, DIM, SEVERITY, WIDTH, Cell, fold, table, title, verdict_lines, width_of
from kiplint.sources.archive import ARCHIVES
from kiplint.sources.built_in import api_keys, built_in
from kiplint.sources.disk import STDIN, read_input
from kiplint.sources.repository import Repository, open_repository
from kiplint.text.words import join_words, plural

EPILOG = """\b
Examples:
  kiplint negotiate 2.8.0: 3.9.0: --repo kafka
  kiplint negotiate client/ broker1/ broker2/
  kafka-broker-api-versions.sh --bootstrap-server b1:9092 | kiplint negotiate client/ -
  kiplint negotiate client.json 3.9 --mode zookeeper

Exit codes: 0 a client can use all RPCs, 1 an RPC of both sides has no common version or would be rejected, \
2 unreadable or invalid input."""


def command(
    client: Annotated[
        str,
        typer.Argument(
            metavar="CLIENT",
            autocompletion=complete_sets,
            help="The client's schema set: a directory, an archive, a release such as 4.1, REV: or REV:path; or a "
            "table of its versions.",
        ),
    ],
    brokers: Annotated[
        list[str],
        typer.Argument(
            metavar="BROKER",
            autocompletion=complete_sets,
            help="The schema set of each broker, or a table of versions such as the saved output of "
            "kafka-broker-api-versions.sh; - for standard input.",
        ),
    ],
    repository: RepositoryOption = None,
    unstable: Annotated[
        bool, typer.Option("--unstable", help="Let the client and the brokers also use unstable versions.")
    ] = False,
    mode: Annotated[
        Mode | None, typer.Option(help="The mode of the brokers that are schema sets; by default that of the release.")
    ] = None,
    output_format: FormOption = "text",
) -> int:
    """Report which versions a client and its brokers agree on.

    The report begins with the ApiVersions exchange of the connection (KIP-35, KIP-511, KIP-1242). For each RPC, it
    shows the versions that the client and all brokers encode identically, the version chosen, and the headers. It also
    shows which RPCs a KIP-1313 broker would reject. RPCs that only brokers and controllers send have a table of their
    own, and their versions do not count.

    A broker in KRaft mode offers the RPCs with the listener broker, and a broker in ZooKeeper mode those with zkBroker.
    RPCs without listeners, as before 2.8, are offered if the release enables them. The mode of a set with both
    listeners is KRaft from 3.3 on, otherwise ZooKeeper.

    A table of versions is the output of kafka-broker-api-versions.sh, or a JSON object such as `{"Fetch": [4, 11]}`.
    Its layouts are assumed to be those of the other side.
    """
    result = negotiate(client, *brokers, unstable=unstable, mode=mode, repository=repository)
    return present(result, output_format)


class NegotiationResult(RunResult, frozen=True):
    """A negotiation. `status` is `findings` where an RPC of both sides cannot be used."""

    document: Negotiation
    """The exchanges and the RPCs."""

    command = "negotiate"
    unparsable_are = "not compared"

    @property
    def writers(self) -> Mapping[str, Writer]:
        """The writers of the formats that the result has its own form of."""
        return {"text": write}

    @property
    def verdict(self) -> Verdict:
        """`2.8.0 clients work with 4.1.0 brokers: 52 of 52 RPCs that both use.`, and why the others fail."""
        client, *brokers = set_titles(self.document.client, *self.document.brokers)
        failing_rows = [row for row in self.document.rpcs if row.in_trouble]
        agreed = sum(row.status == "agreed" for row in self.document.rpcs if not (row.between_nodes or row.in_trouble))
        verb = "work"
        if failing_rows:
            verb = "work in part" if agreed else "do not work"
        return Verdict.of(
            f"{client} clients {verb} with {join_words(brokers)} brokers: "
            f"{agreed} of {plural(agreed + len(failing_rows), 'RPC')} that both use.",
            [f"{row.name}: {row.message}" for row in failing_rows],
        )


def negotiate(
    client: StrPath,
    *brokers: StrPath,
    unstable: bool = False,
    mode: Mode | None = None,
    repository: StrPath | None = None,
) -> NegotiationResult:
    """The ApiVersions exchange with each broker, and for each RPC the resulting versions and headers.

    The client and each broker are schema sets or tables of versions; the output of `kafka-broker-api-versions.sh` may
    have the tables of several brokers. With `unstable` client and brokers use unstable versions too. Raises UsageError
    for mistakes in the arguments and SourceError for what cannot be opened.
    """
    if not brokers:
        raise UsageError("negotiate needs a client and at least one broker")
    git = open_repository(repository)
    sources = [_read(os.fspath(name), git) for name in (client, *brokers)]
    trees = [source for source in sources if isinstance(source, Tree)]
    notes: list[str] = []
    if not trees:
        newest_release = next(reversed(built_in().origins))
        trees.append(load_release(newest_release))
        notes.append(f"the layouts are those of Apache Kafka {newest_release}, because no side has definitions")
    known_keys = partial(_api_keys, trees)
    sides = [
        source if isinstance(source, Tree) else read_tables(source.name, source.text, known_keys) for source in sources
    ]
    client_side, *broker_sides = sides
    broker_sets: list[tuple[str, SchemaSet]] = []
    for side in broker_sides:
        if isinstance(side, Tree):
            if mode and mode not in modes(side.main):
                raise UsageError(f"brokers of {side.name} have no {TITLES[mode]} mode: omit --mode {mode}")
            broker_sets.append((side.name, side.main))
        else:
            broker_sets += [(table.name, broker_set(table.rows, trees[0].main)) for table in side.tables]
    warnings = [f"warning: {text}" for side in sides if isinstance(side, VersionTables) for text in side.warnings]
    negotiation = agree(_client(client_side), broker_sets, unstable=unstable, mode=mode)
    status: Status = "findings" if negotiation.in_trouble else "ok"
    unparsable = unparsable_files(*trees)
    is_complete = all(not agreement.problem for row in negotiation.rpcs for agreement in row.brokers)
    if unparsable or warnings or not is_complete:
        status = "error"
    return NegotiationResult(document=negotiation, status=status, unparsable=unparsable, notes=(*notes, *warnings))


class _Table(NamedTuple):
    """The text of a file with a table of versions, or of standard input."""

    name: str
    text: str


def _read(name: str, git: Repository) -> Tree | _Table:
    """The schema set that an argument names, or the text of its table of versions."""
    is_file = os.path.isfile(name) and not name.lower().endswith(ARCHIVES)
    if name == STDIN or is_file:
        text = read_input(name, TEXT_BYTES).decode(errors="replace")
        if is_json_table(text) or not name.lower().endswith(".json"):
            return _Table("standard input" if name == STDIN else name, text)
    return load_rpcs(name, git)


def _api_keys(trees: Sequence[Tree]) -> dict[str, int]:
    """The API keys of RPCs by name: those of the built-in releases and of the trees."""
    own_rpcs = [rpc for tree in trees for rpc in tree.main.rpcs if not rpc.is_coordinator]
    return {**api_keys(), **{rpc.name: rpc.api_key for rpc in own_rpcs}}


def _client(side: Tree | VersionTables) -> tuple[str, SchemaSet] | VersionTable:
    """The one client that an argument names."""
    if isinstance(side, Tree):
        return side.name, side.main
    if len(side.tables) > 1:
        raise UsageError(f"CLIENT has the versions of {len(side.tables)} brokers: name one client")
    return side.tables[0]


def write(result: NegotiationResult, out: TextIO, *, color: bool) -> None:
    """Write the verdict, how each connection begins, and tables of the RPCs: those of clients, and between nodes.

    The first table begins with the RPCs that cannot be used.
    """
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
    client_rows = sorted((row for row in negotiation.rpcs if not row.between_nodes), key=lambda row: not row.in_trouble)
    node_rows = [row for row in negotiation.rpcs if row.between_nodes and row.client]
    legend = "  headers: request and response; +id if the request header carries ClientInstanceId"
    agreed = sum(row.status == "agreed" for row in node_rows)
    of_nodes = (
        f"  what brokers and controllers send, and no client does: {agreed} of {plural(len(node_rows), 'RPC')} agreed"
    )
    for name, rpc_rows, sentence in (("All RPCs", client_rows, legend), ("Between nodes", node_rows, of_nodes)):
        if rpc_rows:
            lines = table(head, [_cells(row, has_usable=has_usable) for row in rpc_rows], color, width)
            sections.append([title(name, color), *lines, *fold(sentence, width, color, DIM)])
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
    remarks = [row.message or row.status.replace("-", " ")] if row.message or row.status != "agreed" else []
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
