"""What is fuzzed: a way to read an input, inputs that are right to begin with, and how it may be refused."""

import asyncio
import atexit
import base64
import gzip
import html
import io
import json
import logging
import os
import re
import shutil
import subprocess
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random
from threading import Event
from traceback import format_tb
from typing import Any, Final, NamedTuple, get_args

from pygls.exceptions import JsonRpcException, JsonRpcInternalError
from pygls.io_ import StdoutWriter, run

import kiplint
from benchmarks.workspace import REPOSITORY, corpus_root
from kiplint import decode
from kiplint.cli.app import make_app
from kiplint.cli.options import Command
from kiplint.codec.capture import UnreadableCapture, read_capture
from kiplint.codec.catalog import Catalog, Definitions
from kiplint.codec.frames import decode_request, decode_response
from kiplint.codec.records import read_batches
from kiplint.commands.check.run import CheckResult
from kiplint.commands.decode import text as decoded_text
from kiplint.commands.decode.inputs import InputFormat
from kiplint.commands.decode.result import decoded_object
from kiplint.commands.kip.drafts import read_kip
from kiplint.commands.kip.run import place_in_files
from kiplint.compat.compare import compare_trees
from kiplint.compat.judge import judge
from kiplint.compat.tree import make_tree
from kiplint.engine.config import Config, read_config
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding, Span
from kiplint.engine.packs import load_pack
from kiplint.engine.place import parse_suppressions
from kiplint.engine.ruleset import RuleSet, load_rules, make_ruleset
from kiplint.engine.run import Input, check_set
from kiplint.fixes import kip_1313
from kiplint.fixes.apply import fix_set
from kiplint.fixes.bump import bump, release
from kiplint.fixes.fixers import make_fixes
from kiplint.fixes.new_version import FieldToAdd
from kiplint.fixes.sets import Files, Goal, Migration, client_rpcs, load_set, prove
from kiplint.model.load import load
from kiplint.model.schemas import SchemaSet
from kiplint.pipeline.answers import query as lake_query
from kiplint.pipeline.answers.reader import Reader
from kiplint.pipeline.answers.views import queries
from kiplint.pipeline.lake.lake import Lake
from kiplint.render.findings.json import as_json
from kiplint.render.formats import format_names, write
from kiplint.server.app import make
from kiplint.sources.cleanup import close
from kiplint.sources.open import open_sets
from kiplint.sources.schema_files import SchemaFile, SchemaFiles, SourceError
from kiplint.text.lines import decode_text
from kiplint.text.locate import Locator

SET = REPOSITORY / "fixtures" / "sets" / "broker"
NAME = "XRequest.json"
URI = f"file:///fuzz/{NAME}"
OWN = os.path.join(os.path.dirname(kiplint.__file__), "")
APART = b"\0\0\0\0"
"""What stands between the parts of an input that has several."""


class Surface(NamedTuple):
    """One surface. `read` takes an input, and raises one of `refusals`, or nothing."""

    name: str
    seeds: Callable[[], Sequence[bytes]]
    read: Callable[[bytes], object]
    refusals: tuple[type[Exception], ...] = ()


@cache
def definitions() -> tuple[bytes, ...]:
    """Definitions that are right, and those of all fixtures, most of which are wrong in one way."""
    files = [*SET.rglob("*.json"), *sorted((REPOSITORY / "fixtures").glob("*/*/*/*.json"))]
    return tuple(file.read_bytes() for file in files)


@cache
def rules() -> RuleSet:
    """All rules there are."""
    config = Config(select=["all"])
    return make_ruleset(config, load_rules(config, ""))


@cache
def place() -> Path:
    """A directory for inputs that have to be files; it goes with the process."""
    folder = Path(tempfile.mkdtemp(prefix="kiplint-fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _file(name: str, data: bytes) -> str:
    file = place() / name
    file.write_bytes(data)
    return str(file)


def locate(data: bytes) -> None:
    """Every place that a reader of a definition may ask for."""
    text = decode_text(data)
    locator = Locator(text)
    for pointer in ("", "/name", "/fields/0/type", "/fields/1", "/headerVersions/0-1", "/odd~1~0/99999999999999999999"):
        (line, column, _, _) = locator.span(pointer)
        if line < 1 or column < 1:
            raise AssertionError(f"{pointer} is at {line}:{column}")


def check(data: bytes) -> CheckResult:
    """All rules over one definition."""
    result = check_set([Input(NAME, data)], rules(), partial=True)
    return CheckResult(findings=tuple(result.findings), files=1, messages=result.messages, sources=result.sources)


def report(data: bytes) -> None:
    """What the rules find, in every format: no sign acts, and what is JSON is JSON."""
    findings = check(data)
    for name in format_names():
        out = io.StringIO()
        write(name, findings, out)
        text = out.getvalue()
        if name != "html":
            _require_inert(name, text)
        if name in ("json", "sarif", "rdjson", "gitlab"):
            json.loads(text)


def _require_inert(name: str, text: str) -> None:
    if not all(line.isprintable() for line in text.split("\n")):
        raise AssertionError(f"{name} has signs that act")


def expression(data: bytes) -> None:
    """An expression as that of a rule about fields, run over a definition."""
    text = data.decode("utf-8", "replace")
    rule = {"id": "r", "each": "field", "expect": text, "message": "{name}", "severity": "error", "why": "w"}
    pack_rules = load_pack(_file("one.json", json.dumps({"pack": "p", "title": "t", "rules": [rule]}).encode()))
    check_set([Input(NAME, definitions()[0])], RuleSet(pack_rules, pack_rules), partial=True)


def pack(data: bytes) -> None:
    """A pack, run over a definition."""
    pack_rules = load_pack(_file("pack.json", data))
    check_set([Input(NAME, definitions()[0])], RuleSet(pack_rules, pack_rules), partial=True)


def configuration(data: bytes) -> None:
    """A configuration, and the rules that it selects."""
    config = read_config(_file("kiplint.toml", data))
    make_ruleset(config, load_rules(config, str(place())))


def archive(data: bytes) -> None:
    """An archive, as what its first bytes say it is."""
    for open_set in open_sets([_file("x.jar", data)], lambda path: True):
        [load(file.path, file.data) for file in open_set.files]


def compare(data: bytes) -> None:
    """A definition and itself, or what came before it."""
    old, new, *_ = (*data.split(APART), data)
    before, after = (make_tree(name, [("", [(NAME, data)])]) for name, data in (("old", old), ("new", new)))
    for _, change in judge(compare_trees(before, after), rules(), before.sources, after.sources):
        _ = (change.statement, change.former_place)


def repository(data: bytes) -> None:
    """A repository with one object damaged: which one, the first byte says."""
    top = _repository()
    objects = sorted(path for path in (top / ".git").rglob("*") if path.is_file() and path.suffix != ".sample")
    target = objects[data[0] % len(objects)] if data else objects[0]
    before, mode = target.read_bytes(), target.stat().st_mode
    target.chmod(0o644)
    try:
        target.write_bytes(
            data[1:] if len(data) > 64 else before[: len(before) // 2] + data + before[len(before) // 2 :]
        )
        for open_set in open_sets(["HEAD:"], lambda path: True, repository=str(top)):
            [load(file.path, file.data) for file in open_set.files]
    finally:
        close()
        target.write_bytes(before)
        target.chmod(mode)


@cache
def _repository() -> Path:
    top = place() / "repository"
    (top / "a").mkdir(parents=True)
    (top / "a" / NAME).write_bytes(definitions()[0])
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]):
        subprocess.run(["git", "-C", str(top), *words], check=True, env={"PATH": os.environ["PATH"], "HOME": str(top)})
    return top


@cache
def catalog() -> Catalog:
    """The layouts of the small set."""
    return Catalog([Definitions([(str(file), file.read_bytes()) for file in (SET / "clients").glob("*.json")])])


def frame(data: bytes) -> None:
    """A request, and the response to an ApiVersions request."""
    decode_request(catalog(), data, spans=True)
    decode_response(catalog(), 18, 3, data)


def records(data: bytes) -> None:
    """Record batches of a log."""
    read_batches(data)


def capture(data: bytes) -> None:
    """A capture, every frame of it decoded."""
    for frame in read_capture(catalog(), data).frames:
        frame.decode(catalog())


def text(data: bytes) -> None:
    """What `decode` reads; its first line names the input format. The output is inert, and JSON where it should be."""
    form, _, rest = data.partition(b"\n")
    forms = {name.encode(): name for name in get_args(InputFormat)}
    result = decode(rest, sets=[SET / "clients"], input_format=forms.get(form, "auto"), records=True, limit=10_000)
    for write_decoded in (decoded_text.write, decoded_text.write_markdown):
        out = io.StringIO()
        write_decoded(result, out, color=False)
        _require_inert("decode", out.getvalue())
    for entry in result.entries:
        json.loads(as_json(decoded_object(entry, offsets=True)))


_FILES = (NAME, "XResponse.json", "RequestHeader.json")


def migrate(data: bytes) -> None:
    """A request, its response and the request header: each migration of the set, and its fixes, leave it readable."""
    parts = zip(_FILES, data.split(APART, 2), strict=False)
    files = SchemaFiles("", tuple(SchemaFile(name, part) for name, part in parts))
    schemas = load_set(files)[0]
    for migration, goal in _migrations(schemas):
        edits = prove(files, migration, rules(), goal, schemas).files
        _require_readable({edit.path: edit.before for edit in edits}, {edit.path: edit.after for edit in edits})

    def findings(now: Files) -> Sequence[Finding]:
        return check_set([Input(path, now[path]) for path in now], rules(), fixer=make_fixes).findings

    result = fix_set({file.path: file.data for file in files.files}, findings, unsafe=True)
    _require_readable(result.before, result.after)


COMMANDS: Final = (
    "changelog OLD NEW",
    "check NEW --diff --unsafe-fixes",
    "check NEW --output-format html",
    "decode --set NEW 0012000300000001000461707031000000",
    "diff NEW OLD --output-format html",
    "diff OLD NEW --output-format json",
    "encode RequestHeader@2 --set NEW --json {}",
    "migrate bump RPC --schemas NEW --diff --add-field Extra:[]{Inner:int32?}:So.",
    "migrate kip-1313 --diff NEW",
    "negotiate --clients all NEW --output-format json",
    "negotiate --matrix OLD NEW --output-format html",
    "negotiate NEW OLD --output-format json",
    "new rpc Extra --schemas NEW --dry-run",
    "rollout OLD NEW --output-format json",
    "show --all NEW --output-format html",
    "show --all NEW --output-format json",
    "vectors NEW",
)
"""Command lines. NEW stands for the set, OLD for another set, RPC for the first RPC of NEW."""


def command(data: bytes) -> None:
    """Run a command on a set of a request, its response and the request header, and on what it was before.

    Without that the other set is one of the fixtures. A checksum selects the command.
    """
    parts = data.split(APART, 5)
    sides = {"NEW": place() / "set", "OLD": place() / "before"}
    for folder, files in zip(sides.values(), (parts[:3], parts[3:]), strict=True):
        folder.mkdir(exist_ok=True)
        for file, part in zip(_FILES, (*files, b"", b"", b""), strict=False):
            (folder / file).write_bytes(part)
    match = re.search(rb'"name": "(\w{1,50})Request"', data)
    words = {word: str(folder) for word, folder in sides.items()} | {"RPC": match[1].decode() if match else "X"}
    if len(parts) <= 3:
        words["OLD"] = str(SET / "clients")
    line = COMMANDS[zlib.crc32(data) % len(COMMANDS)].split()
    commands: list[Command] = []
    make_app(commands.append, line)([words.get(word, word) for word in line], standalone_mode=False)
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        code = commands[0].run()
    if line[-1] == "json" and code < 2:
        json.loads(out.buffer.getvalue())


def _migrations(schemas: SchemaSet) -> Iterator[tuple[Migration, Goal | None]]:
    yield kip_1313.migrate(schemas), kip_1313.unmet
    yield kip_1313.migrate(schemas, tagged=True), kip_1313.unmet
    yield kip_1313.migrate(schemas, only_declare=True), None
    fields = [FieldToAdd.parse("New:[]string?:A field.")]
    for rpc in client_rpcs(schemas):
        yield bump(rpc, fields=fields), None
        yield bump(rpc, unstable=True, new_version=True), None
        yield release(rpc), None


def _require_readable(before: Files, after: Files) -> None:
    for path, data in before.items():
        if load(path, data).message and not load(path, after[path]).message:
            raise AssertionError(f"{path} cannot be read any more")


def query(data: bytes) -> None:
    """A query to a lake: DuckDB answers, or says in one line what is wrong."""
    try:
        lake_query.query(lake(), data.decode("utf-8", "replace"), 10, QUERY_SECONDS)
    except UsageError as error:
        if "INTERNAL" in str(error) or "\n" in str(error):
            raise AssertionError(str(error)) from None


@cache
def lake() -> Reader:
    """A lake with tables that are empty."""
    empty_lake = Lake(place() / "lake")
    with empty_lake.writing():
        empty_lake.publish(empty_lake.snapshot(), {"revisions": ()}, "ingest")
    return Reader(empty_lake)


QUERY_SECONDS = 2


def session(data: bytes) -> None:
    """A text that an editor opens, then messages about it, one a line: the server has no internal error of its own."""
    definition, _, messages = data.partition(APART)
    item = {"uri": URI, "languageId": "json", "version": 1, "text": definition.decode("utf-8", "replace")}
    answer = item | {"uri": URI.replace("Request", "Response"), "text": definitions()[1].decode()}
    lines = [
        _message("initialize", {"capabilities": {}}),
        *(_message("textDocument/didOpen", {"textDocument": document}) for document in (item, answer)),
        *filter(None, messages.split(b"\n")),
    ]
    failures: list[Exception] = []

    def report(error: Exception, source: object) -> None:
        parts = [*(getattr(error, "data", None) or {}).get("traceback", ()), *format_tb(error.__traceback__)]
        is_refusal = isinstance(error, JsonRpcException) and not isinstance(error, JsonRpcInternalError)
        if not is_refusal and any(OWN in part and "in handle_message" not in part for part in parts):
            failures.append(error)

    async def converse() -> None:
        server = make()
        server.protocol._converter = _converter()  # it takes 40 ms to be made again
        server.report_server_error = report  # type: ignore[method-assign]
        server.protocol.set_writer(StdoutWriter(io.BytesIO()), include_headers=False)
        stream = b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(line), line) for line in lines)
        run(Event(), io.BytesIO(stream), server.protocol, error_handler=report)
        server.check("/fuzz")
        server.rest()

    logging.disable()
    try:
        asyncio.run(converse())
    finally:
        logging.disable(logging.NOTSET)
    if failures:
        raise failures[0]


@cache
def _converter() -> Any:
    return make().protocol._converter


def _message(method: str, params: Any) -> bytes:
    number = {} if "/did" in method else {"id": 1}
    return json.dumps({"jsonrpc": "2.0", **number, "method": method, "params": params}).encode()


def kip(data: bytes) -> None:
    """A KIP: text, Markdown or a page of a wiki; every definition in it, and where that stands."""
    result = read_kip(_file("kip.html", data))
    for draft in place_in_files(result, None).kip.definitions:
        _ = (draft.name, result.span(draft.block, Span(1, 1, 1, 2)), draft.span)


def _kips() -> list[bytes]:
    texts = [data.decode() for data in definitions()[:40] if data.isascii()]
    pages = [f"<html><h1>K</h1><pre class='x'>{html.escape(text)}</pre>&nbsp;<!-- c --></html>" for text in texts]
    return [page.encode() for page in (*(f"# K\n\n```json\n{text}\n```\n" for text in texts), *texts, *pages)]


def _archives() -> list[bytes]:
    import zipfile

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as jar:
        jar.writestr(f"a/{NAME}", definitions()[0])
    return [buffer.getvalue()]


def _expressions() -> list[bytes]:
    rows = [json.loads(_plain(file)) for file in sorted((REPOSITORY / "rules").glob("*.json"))]
    texts = [rule.get(part) for row in rows for rule in row["rules"] for part in ("expect", "when")]
    return [text.encode() for text in texts if text]


def _plain(file: Path) -> str:
    text = file.read_text("utf-8")
    return text[text.index("{") :]


def _configurations() -> list[bytes]:
    return [
        b'select = ["default"]\nfail-on = "error"\nexclude = ["**/x/**"]\n[severity]\n"style" = "error"\n',
        b'[rules."kip-1313/header-missing".params]\nrequire = true\n[per-file-ignores]\n"a/*" = ["tags"]\n',
        b'extend = "kiplint.toml"\nbaseline = "b.json"\nrule-packs = ["one.json"]\n',
    ]


def _captures() -> list[bytes]:
    corpus_file = corpus_root().parent / "bytes" / "capture.pcapng"
    captures = [(REPOSITORY / "fixtures" / "bytes" / "client.pcap").read_bytes()]
    return [*captures, corpus_file.read_bytes()[:60_000]] if corpus_file.is_file() else captures


def _texts() -> list[bytes]:
    frame = _frames()[1]
    digits = " ".join(f"{byte:02x}" for byte in frame)
    line = json.dumps({"direction": "request", "api_key": 3, "api_version": 12, "hex": frame.hex()}).encode()
    forms = {
        "hex": frame.hex().encode() + b"\n0x" + digits.encode(),
        "base64": base64.b64encode(frame),
        "stream": len(frame).to_bytes(4, "big") + frame,
        "frame": frame,
        "capture": _captures()[0],
        "records": _batches()[0],
        "jsonl": line + b"\n" + line,
    }
    texts = (name.encode() + b"\n" + data for name, data in forms.items())
    return [*texts, *(b"auto\n" + data for data in (*forms.values(), gzip.compress(forms["stream"])))]


def _sets() -> list[bytes]:
    headers = [file.read_bytes() for file in sorted((REPOSITORY / "fixtures").rglob("RequestHeader.json"))]
    requests = sorted((REPOSITORY / "fixtures").rglob("*Request.json"))
    pairs = ((file, file.with_name(file.name.replace("Request", "Response"))) for file in requests)
    return [
        APART.join((request.read_bytes(), response.read_bytes(), headers[number % len(headers)]))
        for number, (request, response) in enumerate(pairs)
        if response.exists()
    ]


def _set_pairs() -> list[bytes]:
    return [some + APART + some for some in _sets()]


def _queries() -> list[bytes]:
    texts = queries("kafka", across=True).values()
    return [text.encode() for text in (*texts, *GOOD_QUERIES, *BAD_QUERIES)]


GOOD_QUERIES = (
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 4) SELECT sum(n) FROM t",
    "SELECT count(*) FROM revisions a JOIN releases b USING (source) WHERE EXISTS (SELECT 1 FROM findings) IS FALSE",
    "SELECT len(list(x)) FROM unnest([1, 2]) AS t(x) -- read_text('/etc')",
    "FROM revisions SELECT position, row_number() OVER (PARTITION BY source ORDER BY time DESC) ORDER BY ALL LIMIT 3",
    "SELECT * EXCLUDE (root) REPLACE (upper(source) AS source) FROM revisions "
    "PIVOT (max(position) FOR release IN ('1.0'))",
    "SELECT {'a': [1, 2][1:]}, list_filter([1], x -> x > 0), CASE WHEN true THEN 1::DECIMAL(9, 2) END, $$a$$ "
    "FROM revisions",
    "DESCRIBE TABLE Revisions",
    "SHOW VIEWS;",
)
BAD_QUERIES = (
    "SELECT * FROM '/etc/passwd'",
    "WITH a AS (SELECT * FROM read_json('/x')) SELECT (SELECT content FROM read_blob('/etc/passwd')) FROM a",
    "SELECT * FROM revisions WHERE 1 IN (SELECT 1 FROM read_csv('/etc/passwd'))",
    "SELECT * FROM parquet.`/etc/passwd` LATERAL VIEW explode(parts) t AS p",
    "SELECT getenv('HOME'), current_setting('memory_limit'), reflect('java.lang.Runtime', 'getRuntime'), $1, ${x}",
    "SELECT * FROM duckdb_settings(), information_schema.tables, main.revisions, query('SELECT 1')",
    "COPY revisions TO 'x.csv'",
    "ATTACH 'x.db'; INSERT INTO revisions SELECT 1; PRAGMA database_list",
)
"""Queries that the guards accept, and queries that they refuse."""


def _sessions() -> list[bytes]:
    rng = Random(0)
    texts = definitions()[:: max(1, len(definitions()) // 200)]
    return [text + APART + b"\n".join(_messages(text, rng)) for text in texts]


def _messages(data: bytes, rng: Random) -> Iterator[bytes]:
    """Everything that an editor sends, at any places of the text."""

    def place() -> dict[str, int]:
        return {"line": rng.randrange(data.count(b"\n") + 2), "character": rng.randrange(60)}

    name = {"uri": URI, "version": 2}
    for method, keys in METHODS.items():
        area = {"start": place(), "end": place()}
        changes = [{"range": area, "text": rng.choice(('"', "{", '"name": "New",\n', ""))}, {"text": "{}"}]
        words: dict[str, Any] = {
            "position": place(),
            "range": area,
            "context": {"diagnostics": [], "includeDeclaration": True},
            "contentChanges": changes[: rng.choice((1, 1, 1, 2))],
            "newName": "New",
            "query": "o",
            "settings": {"kiplint": {"base": ""}},
            "changes": [],
            "command": "kiplint.explain",
            "arguments": ["tags/gap"],
        }
        yield _message(method, {"textDocument": name} | {key: words[key] for key in keys})


METHODS = {
    "textDocument/hover": ("position",),
    "textDocument/completion": ("position",),
    "textDocument/codeAction": ("range", "context"),
    "textDocument/didChange": ("contentChanges",),
    "textDocument/inlayHint": ("range",),
    "textDocument/documentSymbol": (),
    "workspace/symbol": ("query",),
    "textDocument/foldingRange": (),
    "textDocument/definition": ("position",),
    "textDocument/references": ("position", "context"),
    "textDocument/prepareRename": ("position",),
    "textDocument/rename": ("position", "newName"),
    "textDocument/didSave": (),
    "workspace/executeCommand": ("command", "arguments"),
    "workspace/didChangeConfiguration": ("settings",),
    "workspace/didChangeWatchedFiles": ("changes",),
    "textDocument/didClose": (),
}
"""The methods of the language server, with the properties of their parameters beside the document."""


def _packs() -> list[bytes]:
    return [_plain(file).encode() for file in sorted((REPOSITORY / "rules").glob("*.json"))]


def _frames() -> list[bytes]:
    return [
        bytes.fromhex("0012000300000001000461707031") + b"\0\x02a\x02b\0",
        bytes.fromhex("0003000c0000000100016100"),
    ]


def _batches() -> list[bytes]:
    head = bytes(8) + (61 - 12 + 7).to_bytes(4, "big") + bytes(4) + b"\2" + bytes(4)
    return [head + bytes([0, n]) + bytes(34) + b"\0\0\0\1" + b"\x0c\0\0\0\1\1\0" for n in range(5)]


def _pairs() -> list[bytes]:
    return [old + APART + new for old, new in pairwise(definitions())]


REFUSALS = (UsageError, SourceError)
SURFACES = (
    Surface("decoder", definitions, lambda data: load(NAME, data)),
    Surface("locator", definitions, locate),
    Surface("suppression", definitions, lambda data: parse_suppressions(decode_text(data))),
    Surface("rules", definitions, check),
    Surface("expressions", _expressions, expression, REFUSALS),
    Surface("packs", _packs, pack, REFUSALS),
    Surface("configuration", _configurations, configuration, REFUSALS),
    Surface("archives", _archives, archive, REFUSALS),
    Surface("git", _expressions, repository, REFUSALS),
    Surface("diff", _pairs, compare, REFUSALS),
    Surface("formats", definitions, report),
    Surface("kips", _kips, kip, REFUSALS),
    Surface("frames", _frames, frame),
    Surface("records", _batches, records),
    Surface("captures", _captures, capture, (UnreadableCapture,)),
    Surface("decode", _texts, text, REFUSALS),
    Surface("migrate", _sets, migrate, REFUSALS),
    Surface("commands", _set_pairs, command, REFUSALS),
    Surface("lsp", _sessions, session),
    Surface("query", _queries, query, (*REFUSALS, MemoryError)),
)
