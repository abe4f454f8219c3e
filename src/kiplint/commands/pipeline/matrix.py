"""`kiplint pipeline matrix`."""

from typing import Annotated

import typer

from kiplint.cli.options import FormOption, LakeArgument
from kiplint.commands.pipeline.text import open_lake, present
from kiplint.engine.errors import UsageError
from kiplint.text.words import did_you_mean

PAIRS = """
WITH pairs AS (
  SELECT source, client_position, client, broker_position, broker, list(DISTINCT name ORDER BY name) AS names
  FROM release_matrix WHERE in_trouble GROUP BY ALL
)
SELECT source, client, count(*) AS brokers, arg_min(broker, broker_position) AS oldest,
  arg_max(broker, broker_position) AS newest, len(names) AS rpcs, array_to_string(names, ', ') AS names
FROM pairs GROUP BY source, client_position, client, pairs.names ORDER BY source, client_position, min(broker_position)
"""
CELLS = """
SELECT source, api_key, name, lowest, highest, chosen, request_header, response_header, status, differing
FROM release_matrix WHERE client = $1 AND broker = $2 AND between_nodes = $3 ORDER BY source, api_key
"""
EPILOG = """\b
Examples:
  kiplint pipeline matrix lake
  kiplint pipeline matrix lake 2.4.0 3.9.0"""


def command(
    lake: LakeArgument,
    client: Annotated[str, typer.Argument(metavar="CLIENT", help="The client's release.")] = "",
    broker: Annotated[str, typer.Argument(metavar="BROKER", help="The broker's release.")] = "",
    output_format: FormOption = "text",
) -> int:
    """Show which releases interoperate as client and broker, or which version of each RPC a pair uses.

    Shows what `kiplint negotiate` reports for two sets (KIP-35, KIP-511, KIP-1313), for every pair of releases. Without
    a pair, lists the RPCs that a client and a broker both have but cannot use. The RPCs between nodes of a pair have
    a table of their own.
    """
    if client and not broker:
        raise UsageError(f"give a client and a broker release, or neither: there is only {client}")
    answers = open_lake(lake)
    if not client:
        titles = {"pairs": "Clients and the brokers with which they cannot use all RPCs"}
        return present(output_format, {"pairs": answers.rows(PAIRS)}, titles)
    names = [name for (name,) in answers.rows("SELECT DISTINCT client FROM release_matrix").values]
    for release in (client, broker):
        if release not in names:
            raise UsageError(f"the lake has no release {release}{did_you_mean(release, names, numbered=False)}")
    titles = {"rpcs": f"{client} as client, {broker} as broker", "between_nodes": "Between nodes"}
    tables = {name: answers.rows(CELLS, [client, broker, name == "between_nodes"]) for name in titles}
    return present(output_format, tables, titles)
