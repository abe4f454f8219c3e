"""The drift of forks: the newest set of each line of the other sources, beside all sets of upstream."""

from __future__ import annotations

from kiplint.pipeline.stage import Context
from kiplint.pipeline.tables import PLACE, RPC, Drift, Files, Layouts, Messages, Revisions, Trees
from kiplint.pipeline.work import Work

CLAIM = f"if(type IN {RPC!r}, coalesce(CAST(api_key AS STRING), message_name), message_name)"
"""What makes two messages of a type rivals: the API key that they claim; without one their name."""
LAST = (
    "max_by(place, struct(last, place)) AS place, "
    "max_by(release, struct(released, release)) FILTER (WHERE release IS NOT NULL) AS release, "
    "max(released) AS released, max(last) AS last"
)
"""The last place that has something, and the last release."""
UPSTREAM_SQL = f"""
WITH of_roots AS (
  SELECT root, {LAST} FROM (SELECT root, struct(lineage, commit) AS place, release,
    if(release IS NOT NULL, time, NULL) AS released, time AS last FROM {{upstream}}) GROUP BY root
), of_trees AS (
  SELECT tree, {LAST} FROM {{trees}} JOIN of_roots USING (root) GROUP BY tree
), of_blobs AS (
  SELECT blob, {LAST} FROM {{files}} JOIN of_trees USING (tree) GROUP BY blob
), claims AS (
  SELECT l.*, {CLAIM} AS claim, place, release, released, last
  FROM of_blobs JOIN {{layouts}} l USING (blob) JOIN {{messages}} USING (blob)
)
SELECT type, claim, message_name, lowest, highest, layout, names, tags, shape, {LAST}
FROM claims GROUP BY type, claim, message_name, lowest, highest, layout, names, tags, shape
"""
"""The layouts that upstream has, or had, with the last place that has each."""
FORKS_SQL = f"""
WITH newest AS (
  SELECT source, lineage, max_by(commit, position) AS commit, max_by(root, position) AS root
  FROM {{revisions}} GROUP BY source, lineage
)
SELECT source, lineage, commit, if(directory = '', name, concat(directory, '/', name)) AS path, l.message_name, l.type,
  {CLAIM.replace("type", "l.type").replace("message_name", "l.message_name")} AS claim, l.lowest, l.highest, layout,
  names, tags, shape
FROM newest JOIN {{trees}} USING (root) JOIN {{files}} USING (tree) JOIN {{layouts}} l USING (blob)
JOIN {{messages}} USING (blob)
"""
SAME_TAG = "ours.path = theirs.path AND ours.tag = theirs.tag"
HOW = "substr({0}, instr({0}, ' '))"
DRIFT_SQL = f"""
WITH cuts AS (  -- ranges are cut where upstream's begin or end, so that no piece is met halfway
  SELECT DISTINCT type, claim, explode(array(lowest, highest + 1)) AS cut FROM {{upstream}}
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
  SELECT p.*, struct(
      p.layout = u.layout AND NOT exists(p.tags, ours -> exists(u.tags, theirs ->
        {SAME_TAG} AND ours.layout <> theirs.layout)) AS same,
      p.message_name = u.message_name AS named, p.names = u.names AS kept,
      -size(filter(p.tags, ours -> NOT exists(u.tags, theirs -> {SAME_TAG}))) AS tags, last, place,
      u.message_name AS name, u.layout AS layout) AS rank,
    if(u.type IS NULL, NULL, struct(
      release,
      transform(filter(p.tags, ours -> NOT exists(u.tags, theirs -> {SAME_TAG})), ours -> ours.tag) AS new_tags,
      p.layout = u.layout AS untagged, u.shape AS shape)) AS more
  FROM pieces p LEFT JOIN {{upstream}} u
  ON u.type = p.type AND u.claim = p.claim AND u.lowest <= p.lowest AND u.highest >= p.highest
), closest AS (
  SELECT source, lineage, commit, path, message_name, type, claim, lowest, highest, any_value(shape) AS shape,
    max_by(struct(rank, more), if(more IS NULL, NULL, rank)) AS won
  FROM judged GROUP BY source, lineage, commit, path, message_name, type, claim, lowest, highest
), named AS (
  SELECT *, coalesce(won.rank.same, false) AS same, get(filter(
      zip_with(shape, won.more.shape, (ours, theirs) -> struct(ours, theirs)),
      pair -> NOT {HOW.format("pair.ours")} <=> {HOW.format("pair.theirs")}), 0) AS differing
  FROM closest
)
SELECT source, lineage, commit, message_name, type, lowest, highest,
  CASE WHEN won IS NULL THEN 'only-in-fork' WHEN same THEN 'same' ELSE 'collision' END AS status,
  coalesce(NOT won.rank.kept, false) AS renamed, coalesce(won.more.new_tags, array()) AS new_tags, path,
  won.rank.place.lineage AS upstream_lineage, won.rank.place.commit AS upstream_commit,
  won.more.release AS upstream_release, if(type IN {RPC!r}, try_cast(claim AS INT), NULL) AS api_key,
  won.rank.name AS upstream_name,
  if(won IS NOT NULL AND NOT same, CASE WHEN won.rank.name <> message_name
    THEN concat('API key ', claim, ' is upstream\\'s ', won.rank.name)
    WHEN won.more.untagged THEN 'a tag holds something else' ELSE 'the bytes differ' END, NULL) AS difference,
  if(won IS NOT NULL AND NOT same, split_part(coalesce(differing.ours, differing.theirs), ' ', 1), NULL) AS field,
  if(won IS NOT NULL AND NOT same, array_join(shape, '; '), NULL) AS layout,
  if(won IS NOT NULL AND NOT same, array_join(won.more.shape, '; '), NULL) AS upstream_layout
FROM named
"""


def run(work: Work, context: Context) -> None:
    """Compare the forks that have other revisions than before, or all when upstream has."""
    sources = work.changed_sources("drift", Revisions)
    kinds = (Trees, Files, Layouts, Messages)
    if context.upstream in sources or any(work.unprocessed("drift", kind)[1] for kind in kinds):
        work.clear(Drift)
        sources = {part.source for part in work.parts(Revisions)}
    forks = sources - {context.upstream}
    if not forks:
        work.append_none(Drift)
        return
    sql = work.sql
    tables = {
        "trees": work.table(Trees),
        "files": work.table(Files),
        "layouts": work.table(Layouts),
        "messages": work.table(Messages, "blob", "api_key"),
    }
    upstream = sql(UPSTREAM_SQL, **tables, upstream=work.of_sources(Revisions, {context.upstream}, *PLACE))
    drift = sql(
        DRIFT_SQL,
        upstream=work.stage(upstream).hint("broadcast"),
        forks=sql(FORKS_SQL, **tables, revisions=work.of_sources(Revisions, forks, *PLACE)),
    )
    work.replace_sources(Drift, drift, forks)
