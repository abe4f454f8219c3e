"""The tables of a lake, as Spark's DDL; the comments are the documentation of the columns.

Contents are known by their ids: `blob` is a file, `tree` a schema set, `root` the sets of a revision. Tables of
contents only grow: a stage adds rows for the keys that its table lacks. A row with a `rules_id` and no rule says that
nothing was found.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from deltalake import CommitProperties, DeltaTable

from kiplint.engine.errors import UsageError

NO_RETRY: Final = CommitProperties(max_commit_retries=0)
PARTITION_COLUMNS: Final = {"revisions": ["source"], "spans": ["source"]}
"""By table; tables of contents have no partitions."""
RANGES: Final = "ARRAY<STRUCT<lowest: INT, highest: INT>>"
HEADERS: Final = "ARRAY<STRUCT<lowest: INT, highest: INT, header: INT>>"
FIELDS: Final = """ARRAY<STRUCT<path: STRING, type: STRING, versions: STRING, lowest: INT, highest: INT,
  nullable: STRING, tagged: STRING, tag: INT, ignorable: BOOLEAN, map_key: BOOLEAN, default: STRING,
  entity_type: STRING>>"""
LAYOUTS: Final = """ARRAY<STRUCT<lowest: INT, highest: INT, layout: STRING, names: STRING,
  tags: ARRAY<STRUCT<path: STRING, tag: INT, layout: STRING>>, shape: ARRAY<STRING>>>"""

TABLES: Final = {
    "sources": """
        source STRING NOT NULL COMMENT 'the name of the source',
        lineage STRING NOT NULL COMMENT 'the line of history: a branch, or `tags`',
        location STRING NOT NULL COMMENT 'where the source is',
        state STRING NOT NULL COMMENT 'the newest commits of the line; unchanged if nothing is new',
        rules_id STRING NOT NULL COMMENT 'the version of kiplint and the rules that the tables were made with',
        upstream BOOLEAN NOT NULL COMMENT 'whether the other sources are compared with this one',
        is_shallow BOOLEAN NOT NULL COMMENT 'whether the repository is a shallow clone, whose history has no beginning',
        problem STRING COMMENT 'why the line cannot currently be read'""",
    "revisions": """
        source STRING NOT NULL COMMENT 'the name of the source',
        lineage STRING NOT NULL COMMENT 'the line of history',
        position INT NOT NULL COMMENT 'counts from 0 along the line',
        commit STRING NOT NULL COMMENT 'the id of the commit',
        time TIMESTAMP COMMENT 'when it was committed',
        release STRING COMMENT 'the tag',
        version ARRAY<INT> COMMENT 'the numbers of the release, in whose order releases are',
        git_tree STRING NOT NULL COMMENT 'the id of the tree in git',
        root STRING NOT NULL COMMENT 'the content: the schema sets and their directories',
        author STRING NOT NULL COMMENT 'the name of the author, as in .mailmap',
        subject STRING NOT NULL COMMENT 'the first line of the message',
        parents ARRAY<STRING> COMMENT 'the ids of the parents of the commit',
        pull_request INT COMMENT 'the number of the pull request',
        kips ARRAY<STRING> COMMENT 'the KIPs that the message names'""",
    "sets": """
        root STRING NOT NULL COMMENT 'the content of a revision',
        directory STRING NOT NULL COMMENT 'the directory of the set, from the top',
        tree STRING NOT NULL COMMENT 'the schema set'""",
    "files": """
        tree STRING NOT NULL COMMENT 'the schema set',
        name STRING NOT NULL COMMENT 'the name of the file in its directory',
        blob STRING NOT NULL COMMENT 'the content of the file'""",
    "blobs": """
        blob STRING NOT NULL COMMENT 'the id of the content in git',
        kind STRING NOT NULL COMMENT 'definition, malformed or other',
        data BINARY COMMENT 'the content; null if it is not a definition'""",
    "messages": f"""
        blob STRING NOT NULL COMMENT 'the content of the definition',
        rules_id STRING NOT NULL COMMENT 'what described it',
        message_name STRING COMMENT 'the name of the message; null where the file defines none',
        type STRING COMMENT 'request, response, header, metadata, data, coordinator-key or coordinator-value',
        api_key INT COMMENT 'the API key of a request or response',
        valid STRING COMMENT 'the valid versions',
        lowest INT COMMENT 'the lowest valid version',
        highest INT COMMENT 'the highest valid version',
        flexible STRING COMMENT 'the flexible versions',
        deprecated {RANGES} COMMENT 'the deprecated versions',
        unstable BOOLEAN COMMENT 'whether the highest version is unstable',
        listeners ARRAY<STRING> COMMENT 'the listeners of a request',
        headers {HEADERS} COMMENT 'the header versions, declared or derived',
        declares_headers BOOLEAN COMMENT 'whether the definition declares them (KIP-1313)',
        ignores ARRAY<STRING> COMMENT 'the rules that comments of the file suppress',
        fields {FIELDS} COMMENT 'the fields',
        layouts {LAYOUTS} COMMENT 'the wire layouts, by range of versions',
        problem STRING COMMENT 'why it could not be described'""",
    "findings": """
        tree STRING COMMENT 'the schema set that the finding was made in; null for findings of a single file',
        name STRING COMMENT 'the name of the file in its directory',
        blob STRING COMMENT 'the content of the file',
        rules_id STRING NOT NULL COMMENT 'the rules that ran',
        rule STRING COMMENT 'the id of the rule; null: the file or set was checked, and nothing was found',
        severity STRING COMMENT 'error, warning or info',
        message STRING COMMENT 'what is wrong',
        line INT COMMENT 'the first line, from 1',
        column INT COMMENT 'the first column, from 1',
        end_line INT COMMENT 'the last line',
        end_column INT COMMENT 'the column after the end',
        pointer STRING COMMENT 'the JSON pointer of what is wrong',
        message_name STRING COMMENT 'the name of the message',
        rule_source STRING COMMENT 'where the rule comes from, such as a KIP',
        fingerprint STRING COMMENT 'stays the same when the finding moves in its file',
        place STRING COMMENT 'the names that lead to the element: the part of the fingerprint without rule and message',
        fixable BOOLEAN COMMENT 'whether there is a fix',
        instead STRING COMMENT 'what to write instead',
        problem STRING COMMENT 'why the file or set could not be checked'""",
    "changes": """
        old_root STRING NOT NULL COMMENT 'the content before',
        root STRING NOT NULL COMMENT 'the content after',
        rules_id STRING NOT NULL COMMENT 'the rules that ran',
        rule STRING COMMENT 'the id of the rule; null: the two were compared, and nothing changed',
        severity STRING COMMENT 'error, warning or info',
        breaks STRING COMMENT 'wire, storage, support, semantics, source or none',
        kind STRING COMMENT 'the precise kind of the change',
        message_name STRING COMMENT 'the name of the message',
        message_type STRING COMMENT 'the type of the message',
        api_key INT COMMENT 'the API key of a request or response',
        versions STRING COMMENT 'the versions that the change affects',
        field STRING COMMENT 'the path of the field',
        path STRING COMMENT 'the path of the file',
        line INT COMMENT 'the first line, from 1',
        column INT COMMENT 'the first column, from 1',
        old STRING COMMENT 'the old side, as JSON text',
        new STRING COMMENT 'the new side, as JSON text',
        message STRING COMMENT 'what changed',
        proof STRING COMMENT 'bytes that one side writes and the other misreads, as JSON text',
        problem STRING COMMENT 'why the two could not be compared'""",
    "spans": """
        source STRING NOT NULL COMMENT 'the name of the source',
        lineage STRING NOT NULL COMMENT 'the line of history',
        what STRING NOT NULL COMMENT 'finding or change',
        key STRING NOT NULL COMMENT 'stays the same when the file moves or the message is renamed',
        rule STRING NOT NULL COMMENT 'the id of the rule',
        severity STRING NOT NULL COMMENT 'error, warning or info',
        breaks STRING COMMENT 'what a change breaks',
        message_name STRING COMMENT 'the name of the message',
        field STRING COMMENT 'the field of a change',
        path STRING COMMENT 'the path of the file',
        message STRING COMMENT 'what is wrong, or what changed',
        introduced_position INT NOT NULL COMMENT 'the first revision with it',
        introduced_commit STRING COMMENT 'its commit',
        introduced_time TIMESTAMP COMMENT 'its time',
        fixed_position INT COMMENT 'the first later revision without it',
        fixed_commit STRING COMMENT 'its commit',
        fixed_time TIMESTAMP COMMENT 'its time',
        open BOOLEAN COMMENT 'whether the newest revision has the finding',
        ended STRING COMMENT 'fixed, suppressed, message removed or version removed',
        first_release STRING COMMENT 'the first release with it',
        fixed_release STRING COMMENT 'the first later release without it',
        before_first_release BOOLEAN COMMENT 'whether a change came before the first release'""",
    "matrix": """
        client_root STRING NOT NULL COMMENT 'the content of the client',
        broker_root STRING NOT NULL COMMENT 'the content of the broker',
        rules_id STRING NOT NULL COMMENT 'the version of kiplint',
        api_key INT COMMENT 'the API key; null where neither side has an RPC',
        name STRING COMMENT 'the name of the RPC in the client; in the broker where the client has none',
        between_nodes BOOLEAN COMMENT 'whether only brokers and controllers send it, to each other',
        lowest INT COMMENT 'the lowest version in common',
        highest INT COMMENT 'the highest version in common',
        chosen INT COMMENT 'the version that is used',
        request_header INT COMMENT 'the header version of the request',
        response_header INT COMMENT 'the header version of the response',
        instance_id BOOLEAN COMMENT 'whether the request header carries ClientInstanceId (KIP-1313)',
        deprecated BOOLEAN COMMENT 'whether a side deprecates the version',
        status STRING COMMENT 'as in `negotiate`',
        differing STRING COMMENT 'the versions that the two sides encode differently',
        in_trouble BOOLEAN COMMENT 'whether a client cannot use an RPC that both have'""",
    "drift": """
        source STRING NOT NULL COMMENT 'the name of the fork',
        lineage STRING NOT NULL COMMENT 'the line of history',
        commit STRING NOT NULL COMMENT 'the newest commit of the line',
        path STRING NOT NULL COMMENT 'the path of the file',
        message_name STRING NOT NULL COMMENT 'the name of the message',
        type STRING NOT NULL COMMENT 'the type of the message',
        api_key INT COMMENT 'the API key',
        lowest INT NOT NULL COMMENT 'the lowest version of the range',
        highest INT NOT NULL COMMENT 'the highest version of the range',
        status STRING NOT NULL COMMENT 'same, only-in-fork or collision',
        new_tags ARRAY<INT> COMMENT 'the tags that the layout of upstream lacks',
        upstream_name STRING COMMENT 'the name of the message in upstream',
        upstream_commit STRING COMMENT 'the commit of that revision',
        upstream_release STRING COMMENT 'the last release with it',
        difference STRING COMMENT 'what collides',
        field STRING COMMENT 'the first field that is encoded differently'""",
}


def has_table(path: Path, name: str) -> bool:
    """Whether a lake has a table."""
    return DeltaTable.is_deltatable(str(path / name))


def open_table(path: Path, name: str) -> DeltaTable:
    """A table of a lake. Raises UsageError where its log is damaged."""
    try:
        return DeltaTable(path / name)
    except Exception as error:
        raise damage(path, name) from error


def damage(path: Path, name: str) -> UsageError:
    """The error for a damaged table. A run makes it again where its folder is missing; no source is lost with it."""
    return UsageError(f"the table {name} is damaged: remove {path / name}, and `kiplint pipeline run` makes it again")


def damaged_table(error: BaseException) -> str | None:
    """The table whose file an error of Spark, DuckDB or pyarrow names, None where it names none."""
    names = "|".join(TABLES)
    match = re.search(rf"/({names})/\S+\.parquet|registered as '({names})' failed", str(error))
    return match[1] or match[2] if match else None
