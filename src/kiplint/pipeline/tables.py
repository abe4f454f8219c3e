"""The tables of a lake: a class for each, with its columns. `TABLES` has all by name, in the order they are made in."""

from __future__ import annotations

from typing import ClassVar

from kiplint.pipeline.lake.schema import Columns, TableFrame, array, columns

LINE = ("source", "lineage")
RPC = ("request", "response")
RANGES = columns("lowest int, highest int")
HEADERS = columns("lowest int, highest int, header int")
SAME, ONLY, COLLISION = "same", "only-in-fork", "collision"
"""The values of `drift.status`."""
FINDING, CHANGE = "finding", "change"
"""The values of `spans.what`."""


class Sources(TableFrame):
    """`kind` is git or files (a directory or archive); `lineage` a branch, `tags`, or empty for what has no history.

    `as_of` is null where the last run has read the line, else the state that it has stayed in since.
    """

    ABOUT = "The lines of history of each source: where they are, and how many revisions each has."
    COLUMNS: ClassVar[Columns] = columns("source, lineage, kind, location, sets bigint, as_of timestamp")


class Sets(TableFrame):
    """`position` counts from 0 along the lineage; `release` is the tag; `root` names the content, see `trees`.

    The columns from `author` (as `.mailmap` has it) on are read out of the commit: its first line, the pull request
    behind it, and the numbers of KIPs and of JIRA's issues (KAFKA-1) anywhere in its message. `mail`, the address of
    the author, is null unless the run had `--mail`.
    """

    ABOUT = "The revisions of each line of history, in order: commits of a branch, tags, or a single directory."
    COLUMNS: ClassVar[Columns] = columns(
        "source, lineage, position int, commit, time timestamp, release, root, author, subject, parents array<string>, "
        "pull_request int, kips array<string>, jiras array<string>, mail"
    )


PLACE: Columns = dict(list(Sets.COLUMNS.items())[:7])
"""The columns of `sets` without what commits say of themselves."""
OLD = ("root", "commit", "release", "position")
STEPS = f"""
SELECT {", ".join(PLACE)}, {", ".join(f"lag({name}) OVER along AS old_{name}" for name in OLD)} FROM sets
WHERE release IS NULL OR root IN (SELECT root FROM trees)
WINDOW along AS (PARTITION BY source, lineage ORDER BY position)
"""
"""The revisions, each beside the one before it on its line; a release without definitions is in no step."""


class Trees(TableFrame):
    """A tree is a set's files: the id is made of their names and contents, and is the same wherever they lie."""

    ABOUT = "The schema sets of each distinct content of a revision: directory and tree."
    COLUMNS: ClassVar[Columns] = columns("root, directory, tree")


class Files(TableFrame):
    """`name` is the file's name in its directory, `blob` its content."""

    ABOUT = "The definition files of each distinct schema set: name and content."
    COLUMNS: ClassVar[Columns] = columns("tree, name, blob")


class Blobs(TableFrame):
    """`blob` is git's id of the content; `kind` is definition, malformed (meant to be one), broken (empty, or no text),
    other JSON, or unreadable.

    `data` is null but for the first three, and cut off behind the largest size that is checked; `problem` says why a
    content is unreadable.
    """

    ABOUT = "The distinct contents of all JSON files: each is read once."
    COLUMNS: ClassVar[Columns] = columns("blob, kind, size int, data binary, problem")


class Messages(TableFrame):
    """Version ranges are text in Kafka's notation, and numbers where they are joined on.

    `headers` are the header versions of the valid versions, declared (KIP-1313) or derived. `listeners` is null where
    the definition says nothing of them.
    """

    ABOUT = "The message that each distinct definition defines."
    COLUMNS: ClassVar[Columns] = {
        **columns("blob, message_name, type, api_key int, valid, lowest int, highest int, flexible"),
        "deprecated": array(RANGES),
        **columns("unstable boolean, listeners array<string>"),
        "headers": array(HEADERS),
        **columns("declares_headers boolean, fields int"),
    }


class Fields(TableFrame):
    """`path` is the names from the message down, joined by dots; it is present from `lowest` to `highest`."""

    ABOUT = "The fields of each distinct definition."
    COLUMNS: ClassVar[Columns] = columns(
        "blob, message_name, path, type, versions, lowest int, highest int, nullable, tagged, tag int, "
        "ignorable boolean, map_key boolean, default, entity_type"
    )


class Layouts(TableFrame):
    """One row for each largest range of versions with one layout.

    `layout` is equal where the bytes are, tagged fields aside; `names` where the fields are called the same as well;
    `tags` has the tagged fields, with the path of their struct. `shape` is for people: each field's
    path, and how it travels.
    """

    ABOUT = "The wire layouts of each distinct definition, by range of versions."
    COLUMNS: ClassVar[Columns] = {
        **columns("blob, message_name, type, lowest int, highest int, layout, names"),
        "tags": array(columns("path, tag int, layout")),
        "shape": "array<string>",
    }


class Findings(TableFrame):
    """`tree` is the set that a finding was made in, null for those that a file has by itself.

    The columns from `rule` on are the fields of `check`'s JSON output; `rule_source` is its `source`, `path` is in
    `set_findings`, and `fix` is JSON text, empty for none; its paths are names in the set's directory.
    `place` is the fingerprint's part without rule and message: the names that lead to the spot.
    """

    ABOUT = "What check finds, once for each distinct file, or set where the set has a say."
    COLUMNS: ClassVar[Columns] = columns(
        "tree, name, blob, rule, severity, message, line int, column int, end_line int, end_column int, pointer, "
        "message_name, rule_source, fingerprint, place, fixable boolean, url, fix, instead"
    )


class Changes(TableFrame):
    """The columns from `rule` on are the fields of `diff`'s JSON output; `old`, `new` and `proof` are JSON text."""

    ABOUT = "What diff tells of each distinct pair of neighbouring contents."
    COLUMNS: ClassVar[Columns] = columns(
        "old_root, root, rule, severity, breaks, kind, message_name, message_type, versions, field, path, line int, "
        "column int, old, new, message, end_line int, end_column int, proof, unproven boolean, url, old_path, "
        "old_line int, old_column int"
    )


class Spans(TableFrame):
    """`what` is finding or change; `key` is the same for one finding wherever its file lies, and across renames.

    A finding is introduced in the first revision that has it, and fixed in the first one after that has it no more;
    without `fixed_commit` it is still open. A change has no end. `first_release` is the first release of the source
    that has it, `fixed_release` the first one after without it; both null when it was never released. A change that
    came `before_first_release` is in all releases, and between no two of them. A release has what it descends from
    (git's merge base with the line); `backports` are releases that do not, and have it all the same.

    `ended` says how a finding ended: `fixed`, `suppressed` by a comment, `message removed`, or `version removed` where
    the step dropped versions of its message. `from_beginning` is true for what the line's first revision had. The inner
    columns name, where a merge brought it, the last commit behind that merge that touched the file.
    """

    ABOUT = "When each finding was introduced and fixed, and when each change came in, by commit and release."
    COLUMNS: ClassVar[Columns] = columns(
        "source, lineage, what, key, rule, severity, breaks, message_name, field, path, message, "
        "introduced_position int, introduced_commit, introduced_time timestamp, fixed_position int, fixed_commit, "
        "fixed_time timestamp, open boolean, first_release, fixed_release, before_first_release boolean, "
        "from_beginning boolean, ended, inner_commit, inner_author, inner_subject, backports array<string>"
    )


class Cells(TableFrame):
    """The view `matrix` has these rows for each pair of releases.

    `lowest` to `highest` are the versions in common, `chosen` is the one used, `status` as in `negotiate`. `name` is
    the client's, `broker_name` the broker's: two messages may claim one API key. `mode` is that of the broker, kraft or
    zookeeper; `reason` says in words why they do not agree.
    """

    ABOUT = "For each pair of contents of releases, client and broker, and each RPC: what they agree on."
    COLUMNS: ClassVar[Columns] = columns(
        "client_root, broker_root, api_key int, name, lowest int, highest int, chosen int, "
        "request_header int, response_header int, instance_id boolean, deprecated boolean, status, broker_name, "
        "client_lowest int, client_highest int, broker_lowest int, broker_highest int, mode, reason"
    )


class Drift(TableFrame):
    """One row for each range of versions of a message in the newest set of a fork's line of history.

    Requests and responses meet by the API key that they claim, others by their names, so `upstream_name` may be
    another one; `difference` says what collides, `field` the first that travels otherwise, `layout` and
    `upstream_layout` all that travels. `same`: upstream has, or had, these versions with this layout.
    `collision`: it has them with other layouts only, and never had this one. `only-in-fork`: it never had these
    versions. `renamed` says of the same bytes that fields have other names, `new_tags` are tags that upstream's layout
    has not, which breaks nobody. The upstream columns name the last revision, and the last release, that has the
    layout, or the one that collides.
    """

    ABOUT = "For each message and version of each fork: same as upstream, only in the fork, or a collision."
    COLUMNS: ClassVar[Columns] = columns(
        "source, lineage, commit, message_name, type, lowest int, highest int, status, renamed boolean, "
        "new_tags array<int>, path, upstream_lineage, upstream_commit, upstream_release, api_key int, upstream_name, "
        "difference, field, layout, upstream_layout"
    )


class Problems(TableFrame):
    """`subject` is what the problem is about: a source, a commit, a file."""

    ABOUT = "What could not be read or worked on, and why."
    COLUMNS: ClassVar[Columns] = columns("stage, subject, problem")


class Offers(TableFrame):
    """The versions of each RPC in each content: a client uses `lowest` to `highest`, a broker offers up to `offered`.

    `offered` is null where a broker has the RPC but offers none of it: other listeners serve it, or its only version
    is unstable. `names_software` says that the request has ClientSoftwareName (KIP-511); `mode` is how a broker of
    that content runs: kraft where it can, else zookeeper, null where its messages do not tell.
    """

    ABOUT = "The versions of each RPC that a content has as a client, and offers as a broker."
    COLUMNS: ClassVar[Columns] = {
        **columns("root, api_key int, name, lowest int, highest int, offered int"),
        "request_headers": array(HEADERS),
        "response_headers": array(HEADERS),
        "deprecated": array(RANGES),
        **columns("names_software boolean, mode"),
    }


class Roots(TableFrame):
    """The content of each git tree of a revision (or state of a directory), so that it is walked once."""

    ABOUT = "By id of a git tree, or state of a directory: the content that it holds."
    COLUMNS: ClassVar[Columns] = columns("key, root")


class Pairs(TableFrame):
    """The pairs of contents that were compared, changes or not.

    `released` stands for the releases of the lake that decided what is released, empty where the older content did.
    """

    ABOUT = "The pairs of contents that were compared."
    COLUMNS: ClassVar[Columns] = columns("old_root, root, released")


TABLES: dict[str, type[TableFrame]] = {kind.NAME: kind for kind in TableFrame.__subclasses__()}


class Runs(TableFrame):
    """The last row of all is the newest state. `stage` is what the run had done by then: a stage, or `begin`, `end`,
    `request`, `optimize`.

    `request` is the request of the run as JSON text: sources, paths, upstream, configuration. `tables` has the version
    of each table, `stages` what each stage has worked on. States before the number `oldest` are gone.
    """

    ABOUT = "The states of the lake: a row for each stage that was published."
    COLUMNS: ClassVar[Columns] = {
        **columns("number bigint, run, stage, published timestamp, writer, sources array<string>, request"),
        "tables": array(columns("table, version bigint")),
        "stages": array({**columns("stage, code"), "inputs": array(columns("table, version bigint"))}),
        "oldest": "bigint",
    }
