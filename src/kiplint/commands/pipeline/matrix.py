"""`kiplint pipeline matrix`."""

from itertools import groupby
from typing import Annotated, Any, TextIO

import typer

from kiplint.cli.options import FormOption, LakeArgument
from kiplint.commands.pipeline.text import open_lake, present, write_table
from kiplint.compat.negotiation.result import TROUBLE
from kiplint.compat.roles import is_between_nodes
from kiplint.engine.errors import UsageError
from kiplint.text.words import did_you_mean

PAIRS = """
SELECT source, client, broker, list({api_key: api_key, name: name, status: status} ORDER BY name)
  FILTER (list_contains($1, status)) AS trouble FROM release_matrix GROUP BY ALL
"""
CELLS = "SELECT * FROM release_matrix WHERE client = $1 AND broker = $2 ORDER BY source, api_key"


EPILOG = """\b
Examples:
  kiplint pipeline matrix lake
  kiplint pipeline matrix lake 2.4.0 3.9.0"""
COLUMNS = ("source", "api_key", "name", "lowest", "highest", "chosen", "request_header", "status", "reason")


def command(
    lake: LakeArgument,
    client: Annotated[str | None, typer.Argument(metavar="CLIENT", help="The client's release.")] = None,
    broker: Annotated[str | None, typer.Argument(metavar="BROKER", help="The broker's release.")] = None,
    output_format: FormOption = "text",
) -> int:
    """Show which releases interoperate as client and broker, or which version of each RPC a pair uses.

    The same as `kiplint negotiate` says of two sets (KIP-35, KIP-511, KIP-1313), for every pair of releases.
    """
    if client and not broker:
        raise UsageError(f"matrix takes no release, or two: the client {client} and a broker")
    tables = open_lake(lake)
    if not (client and broker):
        pairs = in_trouble(tables)
        return present(output_format, {"pairs": pairs}, lambda out: write_pairs(out, pairs))
    for release in (client, broker):
        require_release(tables, release)
    cells = tables.rows(CELLS, [client, broker])
    title = f"{client} as client, {broker} as broker"
    rows = [[row[name] for name in COLUMNS] for row in cells.records]
    heads = [name.replace("_", " ") for name in COLUMNS]
    return present(output_format, {"rpcs": cells.records}, lambda out: write_table(out, title, heads, rows))


def in_trouble(lake: Any) -> list[dict[str, Any]]:
    """Every pair of releases, with the RPCs of clients that both have and cannot use; in the order of releases."""
    releases = lake.rows("SELECT source, release FROM releases ORDER BY source, position").values
    order = {release: at for at, release in enumerate(releases)}
    pairs = lake.rows(PAIRS, [list(TROUBLE)]).records
    for pair in pairs:
        pair["trouble"] = sorted(
            {
                cell["name"]
                for cell in pair["trouble"] or ()
                if cell["status"] == "layout-differs" or not is_between_nodes(cell["api_key"], cell["name"])
            }
        )
    return sorted(pairs, key=lambda pair: [order[pair["source"], pair[side]] for side in ("client", "broker")])


def write_pairs(out: TextIO, pairs: list[dict[str, Any]]) -> None:
    """Write the pairs in trouble; brokers in a row with the same trouble for a client are one line."""
    rows = []
    for (source, client, trouble), some in groupby(pairs, key=lambda p: (p["source"], p["client"], p["trouble"])):
        brokers = [pair["broker"] for pair in some]
        if trouble:
            span = brokers[0] if len(brokers) == 1 else f"{brokers[0]} to {brokers[-1]}"
            names = ", ".join(trouble[:5]) + (f" and {len(trouble) - 5} more" if len(trouble) > 5 else "")
            rows.append((source, client, span, len(trouble), names))
    write_table(out, "Pairs in trouble", ("source", "client", "brokers", "RPCs", "which no version fits"), rows)
    fine = sum(not pair["trouble"] for pair in pairs)
    out.write(f"{fine:,} of {len(pairs):,} pairs agree on every RPC of clients that both have.\n")


def require_release(lake: Any, release: str) -> None:
    """Raise UsageError for a release that the lake has not."""
    names = [name for (name,) in lake.rows("SELECT DISTINCT release FROM releases").values]
    if release not in names:
        raise UsageError(f"the lake has no release {release}{did_you_mean(release, names, numbered=False)}")
