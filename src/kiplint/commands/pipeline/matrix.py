"""`kiplint pipeline matrix`."""

from itertools import groupby
from typing import Annotated, Any

import typer

from kiplint.cli.options import FormOption, LakeArgument
from kiplint.cli.process import CLEAN
from kiplint.commands.pipeline.text import open_lake, write_json, write_table
from kiplint.compat.negotiation import TROUBLE
from kiplint.compat.roles import is_between_nodes
from kiplint.engine.errors import UsageError
from kiplint.text.words import did_you_mean, first_of

PAIRS = """
SELECT source, client, broker, list({api_key: api_key, name: name, status: status} ORDER BY name)
  FILTER (list_contains($1, status)) AS trouble FROM release_matrix GROUP BY ALL
"""
CELLS = "SELECT * FROM release_matrix WHERE client = $1 AND broker = $2 ORDER BY source, api_key"
COLUMNS = ("source", "api_key", "name", "lowest", "highest", "chosen", "request_header", "status", "reason")
EPILOG = """\b
Examples:
  kiplint pipeline matrix lake
  kiplint pipeline matrix lake 2.4.0 3.9.0"""


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
        write_json({"pairs": pairs}) if output_format == "json" else _write_pairs(pairs)
        return CLEAN
    names = [name for (name,) in tables.rows("SELECT DISTINCT release FROM releases").values]
    for release in {client, broker} - {*names}:
        raise UsageError(f"the lake has no release {release}{did_you_mean(release, names, numbered=False)}")
    cells = tables.rows(CELLS, [client, broker]).records
    if output_format == "json":
        write_json({"rpcs": cells})
    else:
        rows = [[cell[name] for name in COLUMNS] for cell in cells]
        write_table(f"{client} as client, {broker} as broker", [name.replace("_", " ") for name in COLUMNS], rows)
    return CLEAN


def in_trouble(lake: Any) -> list[dict[str, Any]]:
    """Every pair of releases, with the RPCs of clients that both have and cannot use; in the order of releases."""
    releases = lake.rows("SELECT source, release FROM releases ORDER BY source, position").values
    order = {release: at for at, release in enumerate(releases)}
    pairs = lake.rows(PAIRS, [list(TROUBLE)]).records
    for pair in pairs:
        cells = pair["trouble"] or ()
        pair["trouble"] = sorted({cell["name"] for cell in cells if _is_trouble(**cell)})
    return sorted(pairs, key=lambda pair: [order[pair["source"], pair[side]] for side in ("client", "broker")])


def _is_trouble(api_key: int, name: str, status: str) -> bool:
    return status == "layout-differs" or not is_between_nodes(api_key, name)


def _write_pairs(pairs: list[dict[str, Any]]) -> None:
    """Write the pairs in trouble; brokers in a row with the same trouble for a client are one line."""
    rows = []
    for (source, client, trouble), some in groupby(pairs, key=lambda p: (p["source"], p["client"], p["trouble"])):
        brokers = [pair["broker"] for pair in some]
        if trouble:
            span = brokers[0] if len(brokers) == 1 else f"{brokers[0]} to {brokers[-1]}"
            rows.append((source, client, span, len(trouble), first_of(trouble, 5)))
    write_table("Pairs in trouble", ("source", "client", "brokers", "RPCs", "which no version fits"), rows)
    fine = sum(not pair["trouble"] for pair in pairs)
    print(f"{fine:,} of {len(pairs):,} pairs agree on every RPC of clients that both have.")
