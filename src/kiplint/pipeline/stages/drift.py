"""Drift: the layouts of forks, held against all that upstream has or had."""

from __future__ import annotations

from kiplint.pipeline.stage import Context, Work
from kiplint.pipeline.tables import RPC, Drift, Sets

_PLACED = """
SELECT s.*, blob, if(directory = '', name, concat_ws('/', directory, name)) AS path
FROM {sets} s JOIN {trees} USING (root) JOIN {files} USING (tree)
"""
_CLAIM = f"if(type IN {RPC!r}, coalesce(CAST(api_key AS STRING), message_name), message_name)"
"""What makes two messages of a type rivals: the API key that they claim; without one their name."""
_FORKS = f"""
SELECT source, lineage, commit, path, l.message_name, type, {_CLAIM} AS claim, lowest, highest,
  layout, names, tags, shape
FROM ({_PLACED}) JOIN {{layouts}} l USING (blob) JOIN (SELECT blob, api_key FROM {{messages}}) USING (blob)
"""
_LAST = (
    "max_by(where, struct(last, where)) AS where, max_by(release, struct(released, release)) AS release, "
    "max(released) AS released, max(last) AS last"
)
"""The last place that has something, and the last release."""
_UPSTREAM = f"""
WITH of_roots AS (
  SELECT root, {_LAST} FROM (SELECT root, struct(lineage, commit) AS where, release,
    if(release IS NOT NULL, time, NULL) AS released, time AS last FROM {{sets}}) GROUP BY root
), of_trees AS (
  SELECT tree, {_LAST} FROM {{trees}} JOIN of_roots USING (root) GROUP BY tree
), of_blobs AS (
  SELECT blob, {_LAST} FROM {{files}} JOIN of_trees USING (tree) GROUP BY blob
), claims AS (
  SELECT l.*, {_CLAIM} AS claim, where, release, released, last
  FROM of_blobs JOIN {{layouts}} l USING (blob) JOIN (SELECT blob, api_key FROM {{messages}}) USING (blob)
)
SELECT type AS up_type, claim AS up_claim, message_name AS up_name, lowest AS up_lowest, highest AS up_highest,
  layout AS up_layout, names AS up_names, tags AS up_tags, shape AS up_shape, {_LAST}
FROM claims GROUP BY type, claim, message_name, lowest, highest, layout, names, tags, shape
"""
_SAME_TAG = "ours.path = theirs.path AND ours.tag = theirs.tag"
_HOW = "substr({0}, instr({0}, ' '))"
_DIFFERS = f"NOT ({_HOW.format('pair.shape')} <=> {_HOW.format('pair.up_shape')})"
_DRIFT = f"""
WITH cuts AS (  -- ranges are cut where upstream's begin or end, so that no piece is met halfway
  SELECT DISTINCT up_type AS type, up_claim AS claim, explode(array(up_lowest, up_highest + 1)) AS cut FROM {{known}}
), starts AS (
  SELECT *, lowest AS cut FROM {{forks}}
  UNION ALL
  SELECT o.*, cut FROM {{forks}} o JOIN cuts c ON c.type = o.type AND c.claim = o.claim
  WHERE cut > lowest AND cut <= highest
), pieces AS (
  SELECT * EXCEPT (lowest, highest, cut), cut AS lowest, coalesce(lead(cut) OVER (
    PARTITION BY source, lineage, commit, path, message_name, type, claim, lowest ORDER BY cut) - 1, highest) AS highest
  FROM starts
), judged AS (
  SELECT *, message_name = up_name AS named, names <> up_names AS renamed, layout = up_layout AS untagged,
    layout = up_layout AND NOT exists(tags, ours -> exists(up_tags, theirs ->
      {_SAME_TAG} AND ours.layout <> theirs.layout)) AS same,
    transform(filter(tags, ours -> NOT exists(up_tags, theirs -> {_SAME_TAG})), tag -> tag.tag) AS new_tags,
    get(filter(arrays_zip(shape, up_shape), pair -> {_DIFFERS}), 0) AS differing,
    array_join(shape, '; ') AS layout_text, array_join(up_shape, '; ') AS up_layout_text
  FROM pieces LEFT JOIN {{known}}
  ON up_type = type AND up_claim = claim AND up_lowest <= pieces.lowest AND up_highest >= pieces.highest
), closest AS (
  SELECT source, lineage, commit, path, message_name, type, claim, lowest, highest, max_by(
      struct(same, renamed, new_tags, where, release, up_name, untagged, differing, layout_text, up_layout_text),
      if(up_lowest IS NULL, NULL, struct(same, named, NOT renamed, -size(new_tags), last, where, up_name, up_layout))
    ) AS won
  FROM judged GROUP BY source, lineage, commit, path, message_name, type, claim, lowest, highest
)
SELECT source, lineage, commit, message_name, type, lowest, highest,
  CASE WHEN won IS NULL THEN 'only-in-fork' WHEN won.same THEN 'same' ELSE 'collision' END AS status,
  coalesce(won.renamed, false) AS renamed, coalesce(won.new_tags, CAST(array() AS ARRAY<INT>)) AS new_tags, path,
  won.where.lineage AS upstream_lineage, won.where.commit AS upstream_commit, won.release AS upstream_release,
  if(type IN {RPC!r}, try_cast(claim AS INT), NULL) AS api_key, won.up_name AS upstream_name,
  if(NOT won.same, CASE WHEN won.up_name <> message_name
    THEN concat('API key ', claim, ' is upstream''s ', won.up_name)
    WHEN won.untagged THEN 'a tag holds something else' ELSE 'the bytes differ' END, NULL) AS difference,
  if(NOT won.same, substring_index(coalesce(won.differing.shape, won.differing.up_shape), ' ', 1), NULL) AS field,
  if(NOT won.same, won.layout_text, NULL) AS layout, if(NOT won.same, won.up_layout_text, NULL) AS upstream_layout
FROM closest
"""


def run(work: Work, context: Context) -> None:
    """Hold the newest set of every other source's lines against all sets of the source that is upstream."""
    if {line.source for line in context.lines} <= {context.upstream}:
        work.put(Drift, ())
        return
    sets = work.frame(Sets)
    is_upstream = sets["source"] == context.upstream
    newest = work.sql(
        "SELECT source, lineage, max_by(commit, position) AS commit, max_by(root, position) AS root FROM {others} "
        "GROUP BY source, lineage",
        others=sets.where(~is_upstream),
    )
    known = work.sql(_UPSTREAM, sets=sets.where(is_upstream))
    work.put(Drift, work.sql(_DRIFT, forks=work.sql(_FORKS, sets=newest), known=known))
