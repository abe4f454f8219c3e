"""The tables of a lake: a class for each, with its columns. `TABLES` has all by name, in the order they are made in."""

from __future__ import annotations

from kiplint.pipeline.lake.schema import Columns, TableFrame, array, columns

RPC = ("request", "response")
RANGES = array(columns("lowest int, highest int"))
HEADERS = array(columns("lowest int, highest int, header int"))
VERSIONS = array(columns("table, version bigint"))
STAGE: Columns = {**columns("stage, code"), "inputs": VERSIONS}
TAGS = array(columns("path, tag int, layout"))
COLLISION = "collision"
"""A value of `drift.status`."""
FINDING, CHANGE = "finding", "change"
"""The values of `spans.what`."""


class Blobs(TableFrame):
    """Each content is read once. `data` is cut off behind the largest size that is checked."""

    ABOUT = "The distinct contents of all JSON files."
    SCHEMA = """
    blob         string!    git's id of the content
    kind         string!    definition, malformed (meant to be one), broken (empty or no text), other or unreadable
    size         int        the bytes of the content
    data         binary     the content; null for other JSON, and for what is unreadable
    problem      string     why the content is unreadable
    """


class Files(TableFrame):
    """A tree is a set's files: the id is made of their names and contents, and is the same wherever they lie."""

    ABOUT = "The definition files of each distinct schema set: name and content."
    SCHEMA = """
    tree         string!    the schema set
    name         string!    the file's name in its directory
    blob         string!    the file's content
    """


class Trees(TableFrame):
    """A root is all schema sets of a revision, with their directories."""

    ABOUT = "The schema sets of each distinct content of a revision: directory and tree."
    SCHEMA = """
    root         string!    the content of a revision
    directory    string!    the directory of the set, from the top
    tree         string!    the schema set
    """


class Roots(TableFrame):
    """So that each is walked once."""

    ABOUT = "By id of a git tree, or state of a directory: the content that it holds."
    SCHEMA = """
    key          string!    the id of the git tree, or of the state of a directory or archive
    root         string!    the content
    """


class Sources(TableFrame):
    """A line of history is a branch, the tags of a repository, or a single directory or archive."""

    ABOUT = "The lines of history of each source: where they are, and how many revisions each has."
    SCHEMA = """
    source       string!    the name of the source
    lineage      string!    the line of history: a branch, `tags`, or empty for what has no history
    kind         string!    git, or files for a directory or archive
    location     string!    where the source is
    revisions    bigint!    how many revisions the line has
    as_of        timestamp  null where the last run has read the line, else the state that it has stayed in since
    state        string!    stands for the revisions: equal where nothing is new
    """


class Revisions(TableFrame):
    """The columns from `author` on are read out of the commit."""

    ABOUT = "The revisions of each line of history, in order: commits of a branch, tags, or a single directory."
    PARTITIONED = True
    SCHEMA = """
    source       string!    the name of the source
    lineage      string!    the line of history
    position     int!       counts from 0 along the line
    commit       string!    the id of the commit; empty for a directory or archive
    time         timestamp  when it was committed
    release      string     the tag
    root         string!    the content of the revision
    author       string!    the author's name, as `.mailmap` has it
    subject      string!    the first line of the commit's message
    parents      array<string>  the ids of the commit's parents
    pull_request int        the number of the pull request behind the commit
    kips         array<string>  the KIPs that the message names, as KIP-1313
    jiras        array<string>  the issues of JIRA that the message names, as KAFKA-1
    mail         string     the author's mail address; null unless the run had `--mail`
    """


PLACE: Columns = dict(list(Revisions.COLUMNS.items())[:7])
"""The columns of `revisions` without what commits say of themselves."""
OLD = ("root", "commit", "release", "position")
STEPS = f"""
SELECT {", ".join(PLACE)}, {", ".join(f"lag({name}) OVER along AS old_{name}" for name in OLD)} FROM {{revisions}}
WHERE release IS NULL OR root IN (SELECT root FROM {{trees}})
WINDOW along AS (PARTITION BY source, lineage ORDER BY position)
"""
"""The revisions, each beside the one before it on its line; a release without definitions is in no step."""


class Findings(TableFrame):
    """The columns from `rule` on are the fields of `check`'s JSON output; `path` is in `set_findings`."""

    ABOUT = "What check finds, once for each distinct file, or set where the set has a say."
    SCHEMA = """
    tree         string     the schema set that the finding was made in; null for what a file has by itself
    name         string!    the file's name in its directory
    blob         string!    the file's content
    rule         string!    the id of the rule
    severity     string!    error, warning or info
    message      string!    what is wrong
    line         int!       the first line, from 1
    column       int!       the first column, from 1
    end_line     int!       the last line
    end_column   int!       the column behind the end
    pointer      string!    the JSON pointer of the place
    message_name string!    the name of the message; empty for a file without one
    rule_source  string!    where the rule comes from, such as a KIP
    fingerprint  string!    the same for a finding wherever it moves in its file
    place        string!    the names that lead to the spot: the fingerprint's part without rule and message
    fixable      boolean!   whether there is a fix
    url          string!    the documentation of the rule; empty for none
    fix          string!    the fix as JSON text, paths are names in the set's directory; empty for none
    instead      string!    what should stand there; empty where that is not known
    other_half   string     the file that would have the missing half of an RPC; null for other findings
    """


class Messages(TableFrame):
    """Version ranges are text in Kafka's notation, and numbers where they are joined on."""

    ABOUT = "The message that each distinct definition defines."
    SCHEMA = f"""
    blob         string!    the content of the definition
    message_name string!    the name of the message
    type         string!    request, response, header, metadata, data, coordinator-key or coordinator-value
    api_key      int        the API key of a request or response, the number of a coordinator's record
    valid        string!    the valid versions
    lowest       int        the lowest valid version; null where there is none
    highest      int        the highest valid version
    flexible     string!    the flexible versions
    deprecated   {RANGES}  the deprecated versions
    unstable     boolean!   whether the highest version is unstable
    listeners    array<string>  the listeners of a request; null where the definition says nothing of them
    headers      {HEADERS}  the header versions of the valid versions, declared (KIP-1313) or derived
    declares_headers boolean!  whether the definition declares header versions
    fields       int!       how many fields it has
    """


class Fields(TableFrame):
    """A field of a struct is there once for each place of the struct."""

    ABOUT = "The fields of each distinct definition."
    SCHEMA = """
    blob         string!    the content of the definition
    message_name string!    the name of the message
    path         string!    the names from the message down, joined by dots
    type         string!    the type
    versions     string!    the versions, as the definition has them
    lowest       int        the lowest version in which the field is present; null where there is none
    highest      int        the highest version in which it is present
    nullable     string!    the nullable versions
    tagged       string!    the tagged versions
    tag          int        the tag
    ignorable    boolean!   whether a writer may drop it
    map_key      boolean!   whether it is a key of its array
    default      string!    the default
    entity_type  string!    what the value identifies
    """


class Layouts(TableFrame):
    """One row for each largest range of versions with one layout."""

    ABOUT = "The wire layouts of each distinct definition, by range of versions."
    SCHEMA = f"""
    blob         string!    the content of the definition
    message_name string!    the name of the message
    type         string!    the type of the message
    lowest       int!       the lowest version of the range
    highest      int!       the highest version of the range
    layout       string!    equal where the bytes are, tagged fields aside
    names        string!    equal where the fields are called the same as well
    tags         {TAGS}  the tagged fields, with the path of their struct
    shape        array<string>  for people: each field's path, and how it travels
    """


class Changes(TableFrame):
    """The columns from `rule` on are the fields of `diff`'s JSON output."""

    ABOUT = "What diff tells of each distinct pair of neighbouring contents."
    SCHEMA = """
    old_root     string!    the content before
    root         string!    the content after
    rule         string!    the id of the rule about such changes
    severity     string!    error, warning or info
    breaks       string!    wire, storage, support, semantics, source or none
    kind         string!    the precise kind of the change
    message_name string!    the name of the message
    message_type string!    the type of the message
    versions     string!    the versions that the change affects; empty for none
    field        string!    the path of the field; empty for a change of the whole message
    path         string!    the path of the file
    line         int!       the first line, from 1
    column       int!       the first column, from 1
    old          string!    the old side, as JSON text
    new          string!    the new side, as JSON text
    message      string!    what changed
    end_line     int!       the last line
    end_column   int!       the column behind the end
    proof        string!    bytes that one side writes and the other misreads or refuses, as JSON text
    unproven     boolean!   whether a proof may be missing because the message has too many fields to try all
    url          string     the documentation of the rule
    old_path     string     the path of the file before
    old_line     int        its first line before
    old_column   int        its first column before
    api_key      int        the API key of a request or response, the number of a coordinator's record
    """


class Pairs(TableFrame):
    """So that none is compared twice."""

    ABOUT = "The pairs of contents that were compared, changes or not."
    SCHEMA = """
    old_root     string!    the content before
    root         string!    the content after
    released     string!    stands for the releases that decided what is released; empty where the older content did
    """


class Spans(TableFrame):
    """A finding is introduced in the first revision that has it, and fixed in the first one after without it.

    A change has no end. A release has what it descends from (git's merge base with the line); `backports` are releases
    that do not descend from a revision with it, and have it all the same. The `inner` columns name, where a merge
    brought it, the last commit behind that merge that touched the file.
    """

    ABOUT = "When each finding was introduced and fixed, and when each change came in, by commit and release."
    PARTITIONED = True
    SCHEMA = """
    source       string!    the name of the source
    lineage      string!    the line of history
    what         string!    finding or change
    key          string!    the same for a finding wherever its file lies, and across renames of its message
    rule         string!    the id of the rule
    severity     string!    error, warning or info
    breaks       string     what a change breaks; null for a finding
    message_name string!    the name of the message
    field        string!    the field of a change; empty for a finding
    path         string!    the path of the file
    message      string!    what is wrong, or what changed
    introduced_position int!  the position of the first revision that has it
    introduced_commit string!  the id of its commit
    introduced_time timestamp  its time
    fixed_position int      the position of the first revision after that without it; null while it is open
    fixed_commit string     the id of its commit
    fixed_time   timestamp  its time
    open         boolean    whether the newest revision has the finding; null for a change
    first_release string    the first release of the source that has it; null when it was never released
    fixed_release string    the first release after that without it
    before_first_release boolean!  whether a change came before the first release, and so is in all
    from_beginning boolean!  whether the line's first revision has the finding
    ended        string     how a finding ended: fixed, suppressed, message removed or version removed
    inner_commit string     the id of the commit behind the merge
    inner_author string     its author
    inner_subject string    the first line of its message
    backports    array<string>  the releases that it was backported to
    """


class Offers(TableFrame):
    """A client uses `lowest` to `highest`, a broker offers up to `offered`."""

    ABOUT = "The versions of each RPC that a content has as a client, and offers as a broker."
    SCHEMA = f"""
    root         string!    the content of a revision
    api_key      int!       the API key
    name         string!    the name of the RPC
    lowest       int!       the lowest version
    highest      int!       the highest version of a client
    offered      int        the highest version of a broker; null where it is for other listeners, or unstable
    request_headers {HEADERS}  the header versions of the request
    response_headers {HEADERS}  the header versions of the response
    deprecated   {RANGES}  the deprecated versions of the request
    names_software boolean!  whether the request has ClientSoftwareName (KIP-511)
    mode         string     how a broker runs by default, kraft or zookeeper; null where its messages do not tell
    """


class Matrix(TableFrame):
    """The view `release_matrix` has these rows for each pair of releases."""

    ABOUT = "For each pair of contents of releases, client and broker, and each RPC: what they agree on."
    SCHEMA = """
    client_root  string!    the content of the client
    broker_root  string!    the content of the broker
    api_key      int!       the API key
    name         string!    the client's name of the RPC; the broker's where the client has none
    lowest       int        the lowest version in common
    highest      int        the highest version in common
    chosen       int        the version that is used
    request_header int      the header version of the request
    response_header int     the header version of the response
    instance_id  boolean!   whether the request header carries ClientInstanceId (KIP-1313)
    deprecated   boolean!   whether a side calls the version deprecated
    status       string!    as in `negotiate`
    broker_name  string     the broker's name of the RPC: two messages may claim one API key
    client_lowest int       the lowest version of the client
    client_highest int      the highest version of the client
    broker_lowest int       the lowest version of the broker
    broker_highest int      the highest version of the broker
    mode         string     the broker's mode, kraft or zookeeper
    reason       string     why they do not agree
    """


class Drift(TableFrame):
    """One row for each range of versions of a message in the newest set of a fork's line of history.

    Requests and responses meet by the API key that they claim, others by their names. `same`: upstream has, or had,
    these versions with this layout. `collision`: it has them with other layouts only, and never had this one.
    `only-in-fork`: it never had these versions.
    """

    ABOUT = "For each message and version of each fork: same as upstream, only in the fork, or a collision."
    PARTITIONED = True
    SCHEMA = """
    source       string!    the name of the fork
    lineage      string!    the line of history
    commit       string!    the newest commit of the line
    message_name string!    the name of the message
    type         string!    the type of the message
    lowest       int!       the lowest version of the range
    highest      int!       the highest version of the range
    status       string!    same, only-in-fork or collision
    renamed      boolean!   whether the same bytes have fields of other names
    new_tags     array<int>  the tags that upstream's layout has not, which breaks nobody
    path         string!    the path of the file
    upstream_lineage string  upstream's line with the last revision that has the layout, or the one that collides
    upstream_commit string  the commit of that revision
    upstream_release string  the last release that has it
    api_key      int        the API key
    upstream_name string    upstream's name of the message
    difference   string     what collides
    field        string     the first field that travels otherwise
    layout       string     all that travels, in the fork
    upstream_layout string  all that travels, in upstream
    """


class Problems(TableFrame):
    """A run goes on without what it cannot read."""

    ABOUT = "What could not be read or worked on, and why."
    SCHEMA = """
    stage        string!    the stage, or `sources` and `history` for what lies before them
    subject      string!    what the problem is about: a source, a commit, a file
    problem      string!    what is wrong
    """


TABLES: dict[str, type[TableFrame]] = {kind.NAME: kind for kind in TableFrame.__subclasses__()}


class Runs(TableFrame):
    """The last row of all is the newest state. States before the number `oldest` are gone."""

    ABOUT = "The states of the lake: a row for each stage that was published."
    SCHEMA = f"""
    number       bigint!    counts the states from 1
    run          string!    the token of the run
    stage        string!    what the run had done by then: a stage, or begin, end, request, optimize
    published    timestamp!  when
    writer       string!    the machine and the process that wrote it
    sources      array<string>  the sources of the run, as they were named
    request      string!    the request of the run as JSON text: sources, paths, upstream, configuration
    tables       {VERSIONS}  the version of each table
    stages       {array(STAGE)}  what each stage has worked on
    oldest       bigint!    the first state whose files are still there
    """
