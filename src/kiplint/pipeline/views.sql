-- The answers of a lake, in DuckDB's SQL: each view stands below the question that it answers.

-- Which source are the others compared with?
CREATE VIEW upstream AS SELECT DISTINCT source FROM sources WHERE upstream;

-- What could not be read or worked on, and why?
CREATE VIEW problems AS
SELECT concat_ws(' ', source, nullif(lineage, '')) AS subject, problem FROM sources WHERE problem IS NOT NULL
UNION ALL SELECT concat_ws(' ', source, lineage), 'the clone is shallow: what came before it is not known' FROM sources
  WHERE is_shallow
UNION ALL SELECT blob, problem FROM blobs WHERE problem IS NOT NULL
UNION ALL SELECT blob, problem FROM messages WHERE problem IS NOT NULL
UNION ALL SELECT coalesce(name, tree), problem FROM findings WHERE problem IS NOT NULL
UNION ALL SELECT concat(old_root, ' to ', root), problem FROM changes WHERE problem IS NOT NULL;

-- Which revisions are releases?
CREATE VIEW releases AS
SELECT source, lineage, position, release, commit, time, root FROM revisions WHERE release IS NOT NULL;

-- Which definitions does each revision have?
CREATE VIEW set_files AS
SELECT r.source, r.lineage, r.position, r.commit, r.time, r.release, r.root, s.directory, s.tree, f.name, f.blob,
  if(s.directory = '', f.name, concat(s.directory, '/', f.name)) AS path
FROM revisions r JOIN sets s ON s.root = r.root JOIN files f ON f.tree = s.tree;

-- What does `check` find in each revision?
CREATE VIEW set_findings AS
WITH elsewhere AS (  -- another set of a revision has the half of an RPC that is missing
  SELECT s.root, f.name AS other_half, arg_min(s.directory, string_split(s.directory, '/')) AS directory
  FROM sets s JOIN files f ON f.tree = s.tree WHERE f.name IN (SELECT other_half FROM findings) GROUP BY ALL
)
SELECT f.source, f.lineage, f.position, f.commit, f.time, f.release, f.path, g.rule, g.severity,
  concat(g.message, if(e.directory <> f.directory, concat('; ', replace(g.other_half, '.json', ''), ' is in ',
    if(e.directory = '', '', concat(e.directory, '/')), g.other_half, ', which is another set'), NULL)) AS message,
  g.line, g."column", g.end_line, g.end_column, g.pointer, g.message_name, g.rule_source, g.fingerprint, g.place,
  g.fixable, g.url, g.instead, f.tree, f.blob
FROM set_files f JOIN findings g ON g.blob = f.blob AND g.name = f.name AND (g.tree IS NULL OR g.tree = f.tree)
LEFT JOIN elsewhere e ON e.root = f.root AND e.other_half = g.other_half
WHERE g.rule IS NOT NULL;

-- Which revision comes before each on its line? A release without definitions is left out.
CREATE VIEW steps AS
SELECT source, lineage, position, commit, time, release, root, lag(root) OVER along AS old_root,
  lag(commit) OVER along AS old_commit, lag(release) OVER along AS old_release
FROM revisions WHERE release IS NULL OR root IN (SELECT root FROM sets)
WINDOW along AS (PARTITION BY source, lineage ORDER BY position);

-- What does `diff` find between each revision and the one before it?
CREATE VIEW set_changes AS
SELECT s.source, s.lineage, s.position, s.old_commit, s.commit, s.old_release, s.release, s.time,
  c.* EXCLUDE (old_root, root, rules_id, problem)
FROM steps s JOIN changes c ON c.old_root = s.old_root AND c.root = s.root WHERE c.rule IS NOT NULL;

-- Which messages does each revision have?
CREATE VIEW set_messages AS
SELECT f.source, f.lineage, f.position, f.commit, f.time, f.release, f.directory, f.path,
  m.* EXCLUDE (blob, rules_id, problem, fields, layouts), f.blob
FROM set_files f JOIN messages m ON m.blob = f.blob WHERE m.message_name IS NOT NULL;

-- Which fields do the messages of each revision have?
CREATE VIEW set_fields AS
SELECT f.source, f.lineage, f.position, f.commit, f.time, f.release, f.path, m.message_name,
  unnest(list_transform(m.fields, lambda one: struct_pack(field := one.path, type := one.type,
    versions := one.versions, lowest := one.lowest, highest := one.highest, nullable := one.nullable,
    tagged := one.tagged, tag := one.tag, ignorable := one.ignorable, map_key := one.map_key,
    "default" := one."default", entity_type := one.entity_type)), recursive := true)
FROM set_files f JOIN messages m ON m.blob = f.blob;

-- What do each release as a client and each release of its source as a broker agree on, by RPC?
CREATE VIEW release_matrix AS
WITH tagged AS (SELECT DISTINCT source, release, root FROM releases)
SELECT c.source, c.release AS client, b.release AS broker, m.* EXCLUDE (client_root, broker_root, rules_id)
FROM tagged c JOIN tagged b ON b.source = c.source
JOIN matrix m ON m.client_root = c.root AND m.broker_root = b.root WHERE m.status IS NOT NULL;

-- What was introduced, fixed or changed when, by whom, and which release has it first?
CREATE VIEW events AS
WITH ends AS (
  SELECT * EXCLUDE (fixed_position, fixed_commit, fixed_time, fixed_release), introduced_position AS position,
    if(what = 'finding', 'introduced', 'changed') AS event, introduced_commit AS commit, introduced_time AS time,
    first_release AS release FROM spans
  UNION ALL BY NAME
  SELECT * EXCLUDE (fixed_position, fixed_commit, fixed_time, fixed_release, inner_author, inner_subject),
    fixed_position AS position, 'fixed' AS event, fixed_commit AS commit, fixed_time AS time, fixed_release AS release
  FROM spans WHERE fixed_commit IS NOT NULL
)
SELECT e.source, e.lineage, e.event, e.position, e.commit, e.time, e.release, e.before_first_release, e.rule, e.severity,
  e.breaks, e.message_name, e.field, e.path, e.message,
  if(r.release IS NULL, coalesce(e.inner_author, r.author), NULL) AS author,  -- nobody is blamed for a release
  if(r.release IS NULL, coalesce(e.inner_subject, r.subject), NULL) AS subject,
  if(r.release IS NULL, r.pull_request, NULL) AS pull_request, if(r.release IS NULL, r.kips, NULL) AS kips,
  if(r.release IS NULL, concat_ws(', ', coalesce(e.inner_author, r.author), '#' || r.pull_request,
    nullif(array_to_string(r.kips, ', '), '')), NULL) AS "by"
FROM ends e LEFT JOIN revisions r ON (r.source, r.lineage, r.position) = (e.source, e.lineage, e.position);

-- Which wire and storage breaks are there? Releases repeat those of the branches of their source, and count without one.
CREATE VIEW breaks AS
SELECT * FROM events WHERE event = 'changed' AND breaks IN ('wire', 'storage') AND (author IS NOT NULL OR
  source NOT IN (SELECT source FROM sources WHERE lineage <> 'tags' AND NOT starts_with(lineage, 'tags=')));

-- Which open findings of branches does no release of their source have?
CREATE VIEW unreleased_findings AS
SELECT source, lineage, rule, severity, message_name, path, message, introduced_commit, introduced_time FROM spans
WHERE what = 'finding' AND open AND first_release IS NULL AND source IN (SELECT source FROM releases)
  AND lineage <> 'tags' AND NOT starts_with(lineage, 'tags=');

-- How long did each finding live, and how did it end?
CREATE VIEW finding_lifetimes AS
SELECT source, lineage, rule, severity, message_name, path, message, introduced_commit, introduced_time, fixed_commit,
  fixed_time, ended, first_release, fixed_release, open,
  date_diff('day', introduced_time, coalesce(fixed_time, newest)) AS days
FROM spans JOIN (SELECT source, lineage, arg_max(time, position) AS newest FROM revisions GROUP BY ALL)
  USING (source, lineage) WHERE what = 'finding';

-- Which release was the first to have each version of each message? An unstable version is not out yet.
CREATE VIEW version_releases AS
WITH stable AS (
  SELECT source, lineage, position, release, time, message_name, type, api_key, min(lowest) AS lowest,
    max(if(unstable, highest - 1, highest)) AS highest
  FROM set_messages WHERE release IS NOT NULL AND lowest IS NOT NULL GROUP BY ALL
), beside AS (
  SELECT *, coalesce(max(highest) OVER (PARTITION BY source, lineage, message_name, type ORDER BY position
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), -1) AS known FROM stable
)
SELECT source, message_name, type, api_key, greatest(lowest, known + 1) AS lowest, highest, release, time FROM beside
WHERE highest >= greatest(lowest, known + 1);

-- How many RPCs does each revision have, in how many versions, and how many of them with request header 3 (KIP-1313)?
CREATE VIEW rollout AS
WITH rpcs AS (
  SELECT source, lineage, position, commit, time, release, directory, api_key, max(lowest) AS lowest,
    min(highest) AS highest, any_value(headers) FILTER (type = 'request') AS headers
  FROM set_messages WHERE type IN ('request', 'response') AND api_key IS NOT NULL
  GROUP BY ALL HAVING count(DISTINCT type) = 2 AND max(lowest) <= min(highest)
), counts AS (
  SELECT source, lineage, position, commit, time, release, directory, count(*) AS rpcs,
    sum(highest - lowest + 1)::BIGINT AS versions,
    count(*) FILTER (list_bool_or(list_transform(headers, lambda h: h.header >= 3 AND h.lowest <= highest))) AS adopted
  FROM rpcs GROUP BY ALL
)
SELECT * FROM counts QUALIFY row_number() OVER (
  PARTITION BY source, lineage, position ORDER BY rpcs DESC, string_split(directory, '/')) = 1;

-- Which open findings of forks had upstream too, and has no longer? A branch has a fix before a release has it.
CREATE VIEW fixed_upstream AS
WITH lines AS (
  SELECT key, lineage, arg_max(struct_pack(commit := fixed_commit, time := fixed_time, release := fixed_release,
    ended := ended), fixed_position) AS fixed
  FROM spans WHERE source IN (FROM upstream) AND what = 'finding' GROUP BY ALL HAVING NOT bool_or(open)
), fixes AS (SELECT key, arg_min(fixed, starts_with(lineage, 'tags')) AS fixed FROM lines GROUP BY key)
SELECT source, lineage, rule, severity, message_name, path, message, introduced_commit, introduced_time,
  fixed.commit AS fixed_commit, fixed.time AS fixed_time, fixed.release AS fixed_release, fixed.ended AS ended
FROM spans JOIN fixes USING (key) WHERE source NOT IN (FROM upstream) AND what = 'finding' AND open;

-- Where did each line of a fork leave upstream? `base_by` is commit where they share one, else content, the nearest.
CREATE VIEW fork_bases AS
WITH forks AS (  -- tags repeat what the branches of a source have
  SELECT source, lineage, arg_max(commit, position) AS commit, arg_max(time, position) AS time,
    arg_max(root, position) AS root, bool_or(release IS NOT NULL) AS is_tags
  FROM revisions WHERE source NOT IN (FROM upstream) GROUP BY source, lineage
  QUALIFY NOT is_tags OR bool_and(is_tags) OVER (PARTITION BY source)
), theirs AS (
  SELECT lineage, position, commit, time, root, release FROM revisions
  WHERE source IN (FROM upstream) AND root IN (SELECT root FROM sets)
), shared AS (  -- the revisions of a line that upstream has too, and those that it merged
  SELECT m.source, m.lineage, arg_max(u, (u.time, u.position)) AS base
  FROM (SELECT source, lineage, unnest(list_append(parents[2:], commit)) AS commit
    FROM revisions SEMI JOIN forks USING (source, lineage)) m
  JOIN theirs u USING (commit) WHERE commit <> '' GROUP BY ALL
), described AS (
  SELECT DISTINCT s.root, m.blob, (m.type, m.message_name, m.valid, m.flexible, len(m.fields)) AS message
  FROM sets s JOIN files f USING (tree) JOIN messages m USING (blob) WHERE m.message_name IS NOT NULL
), apart AS (
  SELECT * FROM described WHERE root IN (SELECT root FROM forks ANTI JOIN shared USING (source, lineage))
), known AS (
  SELECT * FROM described WHERE root IN (SELECT root FROM theirs) AND EXISTS (FROM apart)
), alike AS (  -- the content that differs in the fewest messages, of several in the fewest files
  SELECT head, arg_max(root, (2 * same - size, files, root)) AS root FROM (
    SELECT a.root AS head, k.root, count(*) AS same, count_if(a.blob = k.blob) AS files
    FROM apart a JOIN known k USING (message) GROUP BY ALL
  ) JOIN (SELECT root, count(*) AS size FROM known GROUP BY root) USING (root) GROUP BY head
), bases AS (
  SELECT source, lineage, 'commit' AS base_by, base FROM shared
  UNION ALL SELECT f.source, f.lineage, 'content',
    (SELECT arg_min(u, (u.time, u.position)) FROM theirs u WHERE u.root = a.root)
  FROM forks f JOIN alike a ON a.head = f.root ANTI JOIN shared s ON (s.source, s.lineage) = (f.source, f.lineage)
)
SELECT f.source, f.lineage, f.commit, f.time, f.root, base_by, base.commit AS base_commit, base.time AS base_time,
  base.root AS base_root, (SELECT arg_min(release, position) FROM theirs WHERE root = base.root) AS base_release,
  if(base IS NULL, NULL, (SELECT count(*) FROM steps s WHERE s.source IN (FROM upstream) AND s.root <> s.old_root
    AND s.time > base.time AND s.release IS NULL)) AS behind
FROM forks f LEFT JOIN bases b USING (source, lineage);

-- What does merging upstream's newest release break in each fork, as `diff` says? What only the fork has stays its own.
CREATE VIEW fork_breaks AS
WITH target AS (
  SELECT arg_max(root, (release IS NOT NULL, time, position)) AS root, arg_max(time, (release IS NOT NULL, time,
    position)) AS time FROM revisions WHERE source IN (FROM upstream) AND root IN (SELECT root FROM sets)
)
SELECT f.source, f.lineage, c.breaks, c.rule, c.severity, c.message_name, c.versions, c.field, c.path, c.message
FROM fork_bases f JOIN target t ON f.base_time IS NULL OR f.base_time <= t.time
JOIN changes c ON c.old_root = f.root AND c.root = t.root
WHERE c.breaks IN ('wire', 'storage', 'support') AND NOT EXISTS (
  FROM drift d WHERE (d.source, d.lineage) = (f.source, f.lineage) AND d.message_name = c.message_name
    AND d.status = 'only-in-fork' AND c.breaks = 'support');

-- How far is each fork from upstream: what does it have alone or otherwise, what was fixed there, what breaks a merge?
CREATE VIEW forks AS
SELECT f.* EXCLUDE (root, base_root),
  (SELECT count(DISTINCT message_name) FROM drift d WHERE (d.source, d.lineage) = (f.source, f.lineage)
    AND status = 'only-in-fork') AS own,
  (SELECT count(DISTINCT message_name) FROM drift d WHERE (d.source, d.lineage) = (f.source, f.lineage)
    AND status = 'collision') AS collisions,
  (SELECT count(*) FROM fixed_upstream u WHERE (u.source, u.lineage) = (f.source, f.lineage)
    AND severity <> 'info') AS fixed_upstream,
  (SELECT count(*) FROM fork_breaks b WHERE (b.source, b.lineage) = (f.source, f.lineage)) AS merge_breaks
FROM fork_bases f;
