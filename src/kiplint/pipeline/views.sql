-- The answers of a lake, in DuckDB's SQL: each view stands below the question that it answers.

-- Which source are the others compared with?
CREATE VIEW upstream AS SELECT DISTINCT source FROM sources WHERE upstream;

-- What could not be read or worked on, and why?
CREATE VIEW problems AS
SELECT concat_ws(' ', source, lineage) AS subject, coalesce(problem, 'the clone is shallow: its history has no beginning')
  AS problem FROM sources WHERE problem IS NOT NULL OR is_shallow
UNION ALL SELECT blob, problem FROM messages WHERE problem IS NOT NULL
UNION ALL SELECT coalesce(name, tree), problem FROM findings WHERE problem IS NOT NULL
UNION ALL SELECT concat(old_root, ' to ', root), problem FROM changes WHERE problem IS NOT NULL;

-- Which definitions does each revision have?
CREATE VIEW set_files AS
SELECT r.source, r.lineage, r.position, r.commit, r.time, r.release, r.root, s.directory, s.tree, f.name, f.blob,
  if(s.directory = '', f.name, concat(s.directory, '/', f.name)) AS path
FROM revisions r JOIN sets s ON s.root = r.root JOIN files f ON f.tree = s.tree;

-- What does `check` find in each revision?
CREATE VIEW set_findings AS
SELECT f.* EXCLUDE (root, directory, tree, name, blob), g.* EXCLUDE (tree, name, rules_id, problem)
FROM set_files f JOIN findings g ON g.blob = f.blob AND g.name = f.name AND (g.tree IS NULL OR g.tree = f.tree)
WHERE g.rule IS NOT NULL;

-- Which revision comes before each on its line? A release without definitions is ignored.
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

-- Which messages does each revision have, with which fields?
CREATE VIEW set_messages AS
SELECT f.source, f.lineage, f.position, f.commit, f.time, f.release, f.directory, f.path,
  m.* EXCLUDE (rules_id, problem, layouts)
FROM set_files f JOIN messages m ON m.blob = f.blob WHERE m.message_name IS NOT NULL;

-- What do each release as a client and each release of its source as a broker agree on, by RPC?
CREATE VIEW release_matrix AS
WITH tagged AS (SELECT source, release, root, min(position) AS position FROM revisions WHERE release IS NOT NULL
  GROUP BY ALL)
SELECT c.source, c.position AS client_position, c.release AS client, b.position AS broker_position, b.release AS broker,
  m.* EXCLUDE (client_root, broker_root, rules_id)
FROM tagged c JOIN tagged b ON b.source = c.source
JOIN matrix m ON m.client_root = c.root AND m.broker_root = b.root WHERE m.status IS NOT NULL;

-- Who made each commit of a branch, in which pull request and for which KIP? Nobody is blamed for a release.
CREATE VIEW authors AS
SELECT source, lineage, position, author, subject, pull_request, kips, concat_ws(', ', author, '#' || pull_request,
  nullif(array_to_string(kips, ', '), '')) AS "by" FROM revisions WHERE release IS NULL;

-- What was introduced, fixed, suppressed, removed or changed when, and by whom, and what is its first release?
CREATE VIEW events AS
WITH ends AS (
  SELECT *, introduced_position AS position, if(what = 'finding', 'introduced', 'changed') AS event,
    introduced_commit AS commit, introduced_time AS time, first_release AS release FROM spans
  UNION ALL BY NAME
  SELECT *, fixed_position AS position, ended AS event, fixed_commit AS commit, fixed_time AS time,
    fixed_release AS release FROM spans WHERE fixed_commit IS NOT NULL
)
SELECT source, lineage, event, position, commit, time, release, before_first_release, rule, severity, breaks,
  message_name, field, path, message, author, subject, pull_request, kips, "by"
FROM ends LEFT JOIN authors USING (source, lineage, position);

-- How long did each finding live, and who introduced and fixed it? One of a branch and of its releases counts once.
CREATE VIEW lifetimes AS
WITH newest AS (SELECT source, lineage, arg_max(time, position) AS time FROM revisions GROUP BY ALL)
SELECT s.source, s.lineage, s.rule, s.severity, s.message_name, s.path, s.message, s.introduced_position,
  s.introduced_commit, s.introduced_time, a.by AS introduced_by, s.fixed_commit, s.fixed_time, f.by AS fixed_by, s.ended,
  s.open, s.first_release, s.fixed_release, date_diff('day', s.introduced_time, coalesce(s.fixed_time, n.time)) AS days
FROM spans s JOIN newest n USING (source, lineage)
LEFT JOIN authors a ON (a.source, a.lineage, a.position) = (s.source, s.lineage, s.introduced_position)
LEFT JOIN authors f ON (f.source, f.lineage, f.position) = (s.source, s.lineage, s.fixed_position)
WHERE s.what = 'finding' AND (split_part(s.lineage, '=', 1) <> 'tags' OR (s.source, s.key) NOT IN (
  SELECT (source, key) FROM spans WHERE what = 'finding' AND split_part(lineage, '=', 1) <> 'tags'));

-- Which rules find most, how many of their findings were fixed or released, and how many days does one live?
CREATE VIEW rule_yield AS
SELECT rule, severity, count(*) AS findings, count(*) FILTER (open) AS open, count(*) FILTER (ended = 'fixed') AS fixed,
  count(first_release) AS released, CAST(median(days) AS INT) AS days FROM lifetimes GROUP BY ALL;

-- Which releases have each finding, in the order of versions?
CREATE VIEW carried_by AS
SELECT s.source, s.key, any_value(s.rule) AS rule, any_value(s.severity) AS severity,
  any_value(s.message_name) AS message_name,
  list_transform(list_sort(list(DISTINCT (r.version, r.release))), lambda pair: pair[2]) AS releases
FROM spans s JOIN revisions r ON (r.source, r.lineage) = (s.source, s.lineage) AND r.release IS NOT NULL
  AND r.position >= s.introduced_position AND (s.fixed_position IS NULL OR r.position < s.fixed_position)
WHERE s.what = 'finding' GROUP BY s.source, s.key;

-- How many requests does each set of a revision have, and how many of them have request header 3 (KIP-1313)?
CREATE VIEW rollout AS
SELECT source, lineage, position, commit, time, release, directory, count(*) AS rpcs,
  count(*) FILTER (list_bool_or(list_transform(headers, lambda h: h.header >= 3 AND h.lowest <= highest))) AS adopted
FROM set_messages WHERE type = 'request' AND lowest IS NOT NULL GROUP BY ALL;

-- Which open findings of forks did upstream have too, and fix? A branch has a fix before a release does.
CREATE VIEW fixed_upstream AS
WITH lines AS (
  SELECT key, lineage, arg_max(s, fixed_position) AS fixed
  FROM spans s WHERE source IN (FROM upstream) AND what = 'finding' GROUP BY ALL HAVING NOT bool_or(open)
), fixes AS (SELECT key, arg_min(fixed, starts_with(lineage, 'tags')) AS fixed FROM lines GROUP BY key)
SELECT source, lineage, rule, severity, message_name, path, message, introduced_commit, introduced_time,
  fixed.fixed_commit, fixed.fixed_time, fixed.fixed_release, fixed.ended
FROM spans JOIN fixes USING (key) WHERE source NOT IN (FROM upstream) AND what = 'finding' AND open;

-- Where did each line of a fork leave upstream? The base is the newest commit that both have, or that the fork merged.
CREATE VIEW fork_bases AS
WITH forks AS (  -- tags repeat what the branches of a source have
  FROM revisions WHERE source NOT IN (FROM upstream)
  QUALIFY position = max(position) OVER (PARTITION BY source, lineage)
    AND (release IS NULL OR bool_and(release IS NOT NULL) OVER (PARTITION BY source))
), theirs AS (
  FROM revisions WHERE source IN (FROM upstream) AND root IN (SELECT root FROM sets)
), bases AS (
  SELECT m.source, m.lineage, arg_max(u, (u.time, u.position)) AS base
  FROM (SELECT source, lineage, unnest(list_append(parents[2:], commit)) AS commit FROM revisions) m
  JOIN theirs u USING (commit) GROUP BY ALL
)
SELECT f.source, f.lineage, f.commit, f.time, f.root, base.commit AS base_commit, base.time AS base_time,
  (SELECT arg_min(release, position) FROM theirs WHERE root = base.root) AS base_release,
  if(base IS NULL, NULL, (SELECT count(*) FROM steps s WHERE s.source IN (FROM upstream) AND s.root <> s.old_root
    AND s.time > base.time AND s.release IS NULL)) AS behind
FROM forks f LEFT JOIN bases b USING (source, lineage);

-- What does merging upstream's newest release break in each fork, as `diff` says? What only the fork has stays its own.
CREATE VIEW fork_breaks AS
WITH target AS (
  SELECT * FROM revisions WHERE source IN (FROM upstream) AND root IN (SELECT root FROM sets)
  ORDER BY release IS NOT NULL DESC, version DESC, time DESC, position DESC LIMIT 1
), breaks AS (
  SELECT f.source, f.lineage, c.*, concat(c.message_name, ': ') AS subject,
    if(c.rule = 'compat/listener-removed', count(*) OVER (PARTITION BY f.source, f.lineage, c.rule, c.old), 1) AS alike
  FROM fork_bases f JOIN target t ON f.base_time IS NULL OR f.base_time <= t.time
  JOIN changes c ON c.old_root = f.root AND c.root = t.root
  WHERE c.breaks IN ('wire', 'storage', 'support') AND c.path NOT LIKE '%src/test/%'
    AND (c.kind <> 'message-removed' OR c.message_name IN (
      SELECT message_name FROM set_messages WHERE source IN (FROM upstream)))
)
SELECT DISTINCT source, lineage, breaks, rule, severity, if(alike < 10, message_name, NULL) AS message_name,
  if(alike < 10, versions, NULL) AS versions, field, if(alike < 10, path, NULL) AS path, if(alike < 10, message,
    replace(replace(message, subject, ''), message_name, concat(alike, ' requests'))) AS message
FROM breaks;

-- How far is each fork from upstream: what does it have alone or otherwise, what was fixed there, what breaks a merge?
CREATE VIEW forks AS
SELECT f.* EXCLUDE (root),
  (SELECT count(DISTINCT message_name) FROM drift d WHERE (d.source, d.lineage) = (f.source, f.lineage)
    AND status = 'only-in-fork') AS own,
  (SELECT count(DISTINCT message_name) FROM drift d WHERE (d.source, d.lineage) = (f.source, f.lineage)
    AND status = 'collision') AS collisions,
  (SELECT count(*) FROM fixed_upstream u WHERE (u.source, u.lineage) = (f.source, f.lineage)
    AND severity <> 'info') AS fixed_upstream,
  (SELECT count(*) FROM fork_breaks b WHERE (b.source, b.lineage) = (f.source, f.lineage)) AS merge_breaks
FROM fork_bases f;
