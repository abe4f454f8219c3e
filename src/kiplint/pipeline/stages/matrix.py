"""Every release as a client of every release as a broker (KIP-35, KIP-511, KIP-1313), and the drift of forks.

The columns say what `compat.negotiation` says of two sets; a test compares them. Tasks have contents, pairs of contents
and lines of forks, as `given`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pyarrow as pa

from kiplint.compat.negotiation.exchange import SOFTWARE
from kiplint.compat.negotiation.sides import API_VERSIONS, SASL_HANDSHAKE, WITH_INSTANCE_ID
from kiplint.compat.roles import OF_CLIENTS, OF_KRAFT, OF_ZOOKEEPER, UPDATE_METADATA
from kiplint.pipeline.lake.schema import TableFrame
from kiplint.pipeline.stage import Context, Work
from kiplint.pipeline.tables import RPC, Cells, Drift, Fields, Files, Messages, Offers, Trees

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

A_TASK = 1_000
"""The contents, or pairs of contents, of a task."""
FORKS_OF_A_TASK = 200


def _is_one_of(names: Mapping[int, str]) -> str:
    pairs = ", ".join(f"'{key} {name}Request'" for key, name in names.items())
    return f"concat(api_key, ' ', request.message_name) IN ({pairs})"


_FREE = " ".join(
    f"WHEN {_is_one_of({key: name})} THEN least(highest, {versions.highest})"
    for key, (name, versions) in OF_CLIENTS.items()
)
"""The highest version for clients, where brokers keep others for themselves."""
_ZOOKEEPER = f"({', '.join(map(str, sorted(OF_ZOOKEEPER)))})"
_OFFERS = f"""
WITH of_trees AS (
  SELECT tree, name AS file, m.* FROM files JOIN messages m USING (blob)
  WHERE tree IN (SELECT tree FROM trees SEMI JOIN given USING (root))
), counted AS (
  SELECT tree, count(DISTINCT api_key) AS rpcs FROM of_trees WHERE type IN {RPC!r} GROUP BY tree
), main AS (  -- the set of each content that has the most RPCs, of several the first
  SELECT root, min_by(tree, {{'rpcs': -rpcs, 'path': string_split(directory, '/')}}) AS tree
  FROM trees SEMI JOIN given USING (root) JOIN counted USING (tree) GROUP BY root
), held AS (
  SELECT root, o.* FROM main JOIN of_trees o USING (tree)
), modes AS (  -- see `compat.roles`: Kafka's messages say their listeners since 2.8
  SELECT root, bool_or(listeners IS NOT NULL) AS declares_listeners,
    bool_or(coalesce(type = 'request' AND lowest IS NOT NULL AND api_key NOT IN {_ZOOKEEPER}
      AND list_has_any(listeners, ['broker', 'controller']), false)) AS has_kraft,
    bool_or(coalesce(type = 'request' AND lowest IS NOT NULL AND api_key = {UPDATE_METADATA}, false)) AS has_zookeeper
  FROM held GROUP BY root
), halves AS (
  SELECT root, type, api_key, min_by(h, file) AS half FROM held h
  WHERE type IN {RPC!r} AND api_key IS NOT NULL GROUP BY root, type, api_key
), pairs AS (
  SELECT root, q.api_key, q.half AS request, p.half AS response, greatest(q.half.lowest, p.half.lowest) AS lowest,
    least(q.half.highest, p.half.highest) AS highest
  FROM halves q JOIN halves p USING (root, api_key) WHERE q.type = 'request' AND p.type = 'response'
    AND q.half.lowest IS NOT NULL AND p.half.lowest IS NOT NULL
), served AS (  -- neither unstable, nor for other listeners only; in KRaft mode where the content has that
  SELECT *, if(request.unstable AND highest = request.highest, highest - 1, highest) AS stable,
    if(declares_listeners, coalesce(list_contains(request.listeners, if(has_kraft, 'broker', 'zkBroker')), false)
      AND NOT (has_kraft AND api_key IN {_ZOOKEEPER}), NOT (has_zookeeper AND {_is_one_of(OF_KRAFT)})) AS is_served
  FROM pairs JOIN modes USING (root) WHERE lowest <= highest
), software AS (
  SELECT DISTINCT blob FROM fields WHERE path = '{SOFTWARE[0]}' AND lowest IS NOT NULL
)
SELECT root, api_key, regexp_replace(request.message_name, 'Request$', '') AS name, lowest,
  CASE {_FREE} ELSE highest END AS highest, if(is_served AND stable >= lowest, stable, NULL) AS offered,
  request.headers AS request_headers, response.headers AS response_headers, request.deprecated AS deprecated,
  api_key = {API_VERSIONS} AND s.blob IS NOT NULL AS names_software,
  CASE WHEN has_kraft OR NOT (declares_listeners OR has_zookeeper) THEN 'kraft'
    WHEN has_zookeeper THEN 'zookeeper' END AS mode
FROM served LEFT JOIN software s ON s.blob = request.blob
"""
_HEADER = "list_filter({0}, lambda part: part.lowest <= {1} AND part.highest >= {1})[1].header"
_DEPRECATED = (
    "coalesce(list_bool_or(list_transform({}.deprecated, "
    "lambda part: part.lowest <= chosen AND part.highest >= chosen)), false)"
)
_RANGE = "concat({0}_lowest, if({0}_lowest = {0}_highest, '', concat('-', {0}_highest)))"
_CELLS = f"""
WITH sides AS (
  SELECT root, api_key, o AS side FROM offers o
), hello AS (
  SELECT client_root, broker_root, o.side AS ours, t.side AS theirs FROM given
  LEFT JOIN sides o ON o.root = client_root AND o.api_key = {API_VERSIONS}
  LEFT JOIN sides t ON t.root = broker_root AND t.api_key = {API_VERSIONS}
), used AS (  -- a version of ApiVersions that the broker has not is answered in version 0, or as KIP-511 has it
  SELECT client_root, broker_root, theirs, CASE
    WHEN ours.highest >= theirs.lowest AND ours.highest <= theirs.offered THEN ours.highest
    WHEN theirs.offered IS NULL THEN NULL
    WHEN ours.names_software AND theirs.names_software THEN if(greatest(ours.lowest, theirs.lowest)
      <= least(ours.highest, theirs.offered), least(ours.highest, theirs.offered), NULL)
    WHEN greatest(ours.lowest, theirs.lowest) = 0 THEN 0 END AS used
  FROM hello
), begun AS (
  SELECT client_root, broker_root, used,
    coalesce({_HEADER.format("theirs.request_headers", "used")} >= {WITH_INSTANCE_ID}, false) AS checked
  FROM used
), met AS (
  SELECT b.*, o.api_key, o.side AS ours, t.side AS theirs FROM begun b JOIN sides o ON o.root = client_root
  LEFT JOIN sides t ON t.root = broker_root AND t.api_key = o.api_key
  UNION ALL
  SELECT b.*, t.api_key, NULL, t.side FROM begun b JOIN sides t ON t.root = broker_root
  ANTI JOIN sides o ON o.root = client_root AND o.api_key = t.api_key WHERE t.side.offered IS NOT NULL
), shared AS (
  SELECT *, greatest(ours.lowest, theirs.lowest) AS low, least(ours.highest, theirs.offered) AS high,
    coalesce(theirs.offered IS NOT NULL AND ours IS NOT NULL AND
      greatest(ours.lowest, theirs.lowest) <= least(ours.highest, theirs.offered), false) AS is_shared FROM met
), chosen AS (
  SELECT *, if(is_shared, low, NULL) AS lowest, if(is_shared, high, NULL) AS highest,
    if(is_shared, if(api_key = {API_VERSIONS}, used, high), NULL) AS chosen,
    coalesce(ours.name, theirs.name) AS name, theirs.name AS broker_name, ours.lowest AS client_lowest,
    ours.highest AS client_highest, if(theirs.offered IS NULL, NULL, theirs.lowest) AS broker_lowest,
    theirs.offered AS broker_highest, theirs.mode AS mode FROM shared
), headers AS (
  SELECT *, {_HEADER.format("ours.request_headers", "chosen")} AS request_header,
    {_HEADER.format("ours.response_headers", "chosen")} AS response_header,
    {_HEADER.format("theirs.request_headers", "chosen")} AS their_request,
    {_HEADER.format("theirs.response_headers", "chosen")} AS their_response FROM chosen
), agreed AS (
  SELECT *, coalesce(request_header >= {WITH_INSTANCE_ID}, false) AS instance_id,
    {_DEPRECATED.format("ours")} OR {_DEPRECATED.format("theirs")} AS deprecated,
    CASE WHEN theirs IS NULL THEN 'client-only' WHEN ours IS NULL THEN 'broker-only'
      WHEN theirs.offered IS NULL THEN 'not-offered' WHEN chosen IS NULL THEN 'no-common-version'
      WHEN request_header <> their_request OR response_header <> their_response THEN 'header-differs'
      WHEN checked AND request_header < {WITH_INSTANCE_ID} AND api_key NOT IN ({API_VERSIONS}, {SASL_HANDSHAKE})
        THEN 'refused' ELSE 'agreed' END AS status FROM headers
), reasoned AS (
  SELECT *, CASE status
    WHEN 'no-common-version'
      THEN concat('client ', {_RANGE.format("client")}, ', broker ', {_RANGE.format("broker")})
    WHEN 'header-differs' THEN concat('the client''s headers are ', concat_ws('/', request_header, response_header),
      ', the broker''s ', concat_ws('/', their_request, their_response))
    WHEN 'refused' THEN 'the first request had header {WITH_INSTANCE_ID}, and this one has not'
    WHEN 'not-offered' THEN 'the broker has it for other listeners, or unstable'
    WHEN 'client-only' THEN 'the broker has no such RPC'
    WHEN 'broker-only' THEN 'the client has no such RPC'
    ELSE if(ours.name <> broker_name, concat('the broker''s of this key is ', broker_name), NULL) END AS reason
  FROM agreed
)
SELECT {", ".join(Cells.COLUMNS)} FROM reasoned
"""
PAIRS_WITHOUT_CELLS = """
WITH defined AS (
  SELECT source, root FROM sets WHERE release IS NOT NULL AND root IN (SELECT root FROM trees)
)
SELECT DISTINCT c.root AS client_root, b.root AS broker_root
FROM defined c JOIN defined b ON $across OR c.source = b.source
ANTI JOIN cells k ON k.client_root = c.root AND k.broker_root = b.root ORDER BY ALL
"""


def run(work: Work, context: Context) -> None:
    """Make the offers of contents that are new, and the cells of pairs of releases that are; or all anew."""
    parts, _ = work.unprocessed("matrix", Trees)
    if any(work.unprocessed("matrix", kind)[1] for kind in (Trees, Files, Messages, Fields)):
        parts = work.parts(Trees)
        for kind in (Offers, Cells):
            work.add(kind.NAME, (), more=False)
    roots = work.query("SELECT DISTINCT root FROM new_trees ORDER BY root", new_trees=parts)
    _put(work, Offers, roots, _OFFERS)
    pairs = work.query(PAIRS_WITHOUT_CELLS.replace("$across", str(context.across)))
    _put(work, Cells, pairs, _CELLS)


def _put(work: Work, kind: type[TableFrame], given: pa.Table, sql: str, share: int = A_TASK) -> None:
    """Add the rows of a query to a table. Each task runs the query for about `share` of the rows `given`."""

    def ask(duck: DuckDBPyConnection) -> pa.Table:
        return duck.sql(sql).to_arrow_table()

    if given.num_rows:
        kinds = dict.fromkeys(given.column_names, "string")
        tasks = work.local(kinds, given).repartition(-(-given.num_rows // share))
        work.put(kind, work.ask(kind, tasks, ask), more=True)


_CLAIM = f"if(type IN {RPC!r}, coalesce(CAST(api_key AS VARCHAR), message_name), message_name)"
"""What makes two messages of a type rivals: the API key that they claim; without one their name."""
_NEWEST = """
SELECT source, lineage, max_by(commit, position) AS commit, max_by(root, position) AS root, '$upstream' AS upstream
FROM sets WHERE source <> '$upstream' GROUP BY ALL ORDER BY ALL
"""
_LAST = (
    "max_by(place, {'last': last, 'place': place}) AS place, "
    "max_by(release, {'released': released, 'release': release}) FILTER (release IS NOT NULL) AS release, "
    "max(released) AS released, max(last) AS last"
)
"""The last place that has something, and the last release."""
_SAME_TAG = "ours.path = theirs.path AND ours.tag = theirs.tag"
_HOW = "substr({0}, instr({0}, ' '))"
_DRIFT = f"""
WITH forks AS (
  SELECT source, lineage, commit, if(directory = '', name, concat_ws('/', directory, name)) AS path, l.message_name,
    type, {_CLAIM} AS claim, lowest, highest, layout, names, tags, shape
  FROM given JOIN trees USING (root) JOIN files USING (tree) JOIN layouts l USING (blob)
  JOIN (SELECT blob, api_key FROM messages) USING (blob)
), of_roots AS (
  SELECT root, {_LAST} FROM (SELECT root, {{'lineage': lineage, 'commit': commit}} AS place, release,
    if(release IS NOT NULL, time, NULL) AS released, time AS last FROM sets
    WHERE source IN (SELECT upstream FROM given)) GROUP BY root
), of_trees AS (
  SELECT tree, {_LAST} FROM trees JOIN of_roots USING (root) GROUP BY tree
), of_blobs AS (
  SELECT blob, {_LAST} FROM files JOIN of_trees USING (tree) GROUP BY blob
), claims AS (
  SELECT l.*, {_CLAIM} AS claim, place, release, released, last
  FROM of_blobs JOIN layouts l USING (blob) JOIN (SELECT blob, api_key FROM messages) USING (blob)
), known AS (
  SELECT type AS up_type, claim AS up_claim, message_name AS up_name, lowest AS up_lowest, highest AS up_highest,
    layout AS up_layout, names AS up_names, tags AS up_tags, shape AS up_shape, {_LAST}
  FROM claims GROUP BY type, claim, message_name, lowest, highest, layout, names, tags, shape
), cuts AS (  -- ranges are cut where upstream's begin or end, so that no piece is met halfway
  SELECT DISTINCT up_type AS type, up_claim AS claim, unnest([up_lowest, up_highest + 1]) AS cut FROM known
), starts AS (
  SELECT *, lowest AS cut FROM forks
  UNION ALL
  SELECT o.*, cut FROM forks o JOIN cuts c ON c.type = o.type AND c.claim = o.claim
  WHERE cut > lowest AND cut <= highest
), pieces AS (
  SELECT * EXCLUDE (lowest, highest, cut), cut AS lowest, coalesce(lead(cut) OVER (
    PARTITION BY source, lineage, commit, path, message_name, type, claim, lowest ORDER BY cut) - 1, highest) AS highest
  FROM starts
), judged AS (
  SELECT *, message_name = up_name AS named, names <> up_names AS renamed, layout = up_layout AS untagged,
    layout = up_layout AND len(list_filter(tags, lambda ours: len(list_filter(up_tags, lambda theirs:
      {_SAME_TAG} AND ours.layout <> theirs.layout)) > 0)) = 0 AS same,
    list_transform(list_filter(tags, lambda ours: len(list_filter(up_tags, lambda theirs: {_SAME_TAG})) = 0),
      lambda ours: ours.tag) AS new_tags,
    list_filter(list_zip(shape, up_shape), lambda pair:
      {_HOW.format("pair[1]")} IS DISTINCT FROM {_HOW.format("pair[2]")})[1] AS differing,
    array_to_string(shape, '; ') AS layout_text, array_to_string(up_shape, '; ') AS up_layout_text
  FROM pieces LEFT JOIN known
  ON up_type = type AND up_claim = claim AND up_lowest <= pieces.lowest AND up_highest >= pieces.highest
), closest AS (
  SELECT source, lineage, commit, path, message_name, type, claim, lowest, highest, max_by(j,
      if(up_lowest IS NULL, NULL, {{'same': same, 'named': named, 'kept': NOT renamed, 'tags': -len(new_tags),
        'last': last, 'place': place, 'name': up_name, 'layout': up_layout}})) AS won
  FROM judged j GROUP BY source, lineage, commit, path, message_name, type, claim, lowest, highest
)
SELECT source, lineage, commit, message_name, type, lowest, highest,
  CASE WHEN won IS NULL THEN 'only-in-fork' WHEN won.same THEN 'same' ELSE 'collision' END AS status,
  coalesce(won.renamed, false) AS renamed, coalesce(won.new_tags, []) AS new_tags, path,
  won.place.lineage AS upstream_lineage, won.place.commit AS upstream_commit, won.release AS upstream_release,
  if(type IN {RPC!r}, TRY_CAST(claim AS INT), NULL) AS api_key, won.up_name AS upstream_name,
  if(NOT won.same, CASE WHEN won.up_name <> message_name
    THEN concat('API key ', claim, ' is upstream''s ', won.up_name)
    WHEN won.untagged THEN 'a tag holds something else' ELSE 'the bytes differ' END, NULL) AS difference,
  if(NOT won.same, split_part(coalesce(won.differing[1], won.differing[2]), ' ', 1), NULL) AS field,
  if(NOT won.same, won.layout_text, NULL) AS layout, if(NOT won.same, won.up_layout_text, NULL) AS upstream_layout
FROM closest
"""


def run_drift(work: Work, context: Context) -> None:
    """Compare the newest set of each line of the other sources with all sets of upstream."""
    work.put(Drift, ())
    newest = work.query(_NEWEST.replace("$upstream", context.upstream.replace("'", "''")))
    _put(work, Drift, newest, _DRIFT, FORKS_OF_A_TASK)
