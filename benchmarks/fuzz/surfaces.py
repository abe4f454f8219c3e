"""What is fuzzed: a way to read an input, inputs that are right to begin with, and how it may be refused."""

import atexit
import html
import io
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from benchmarks.workspace import REPOSITORY, corpus_root
from kiplint.codec.capture import UnreadableCapture, read_capture
from kiplint.codec.catalog import Catalog, Definitions
from kiplint.codec.frames import decode_request, decode_response
from kiplint.codec.records import read_batches
from kiplint.commands.check.run import CheckResult
from kiplint.commands.kip.drafts import read_kip
from kiplint.commands.kip.run import settle
from kiplint.compat.compare import compare_trees
from kiplint.compat.judge import judge
from kiplint.compat.tree import make_tree
from kiplint.engine.config import Config, read_config
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Span
from kiplint.engine.packs import load_pack
from kiplint.engine.ruleset import RuleSet, load_rules, make_ruleset
from kiplint.engine.run import Input, check_set
from kiplint.model.load import load
from kiplint.readers.outcome import readings_of
from kiplint.render.formats import format_names, write
from kiplint.sources.cleanup import close
from kiplint.sources.open import open_sets
from kiplint.sources.schema_files import SourceError
from kiplint.text.lines import decode_text
from kiplint.text.locate import Locator
from kiplint.text.suppressions import parse_suppressions

SET = REPOSITORY / "fixtures" / "sets" / "broker"
NAME = "XRequest.json"


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
    made = Path(tempfile.mkdtemp(prefix="kiplint-fuzz-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


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
        if not all(line.isprintable() for line in text.split("\n")) and name != "html":
            raise AssertionError(f"{name} has signs that act")
        if name in ("json", "sarif", "rdjson", "gitlab"):
            json.loads(text)


def expression(data: bytes) -> None:
    """An expression as that of a rule about fields, run over a definition."""
    text = data.decode("utf-8", "replace")
    rule = {"id": "r", "each": "field", "expect": text, "message": "{name}", "severity": "error", "why": "w"}
    loaded = load_pack(_file("one.json", json.dumps({"pack": "p", "title": "t", "rules": [rule]}).encode()))
    check_set([Input(NAME, definitions()[0])], RuleSet(loaded, loaded), partial=True)


def pack(data: bytes) -> None:
    """A pack, run over a definition."""
    loaded = load_pack(_file("pack.json", data))
    check_set([Input(NAME, definitions()[0])], RuleSet(loaded, loaded), partial=True)


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
    old, new, *_ = (*data.split(b"\0\0\0\0"), data)
    before, after = (make_tree(name, [("", [(NAME, data)])]) for name, data in (("old", old), ("new", new)))
    for change in judge(compare_trees(before, after), rules(), before.sources, after.sources):
        _ = (change.message, change.proof, change.span)


def repository(data: bytes) -> None:
    """A repository with one object damaged: which one, the first byte says."""
    top = _repository()
    objects = sorted(path for path in (top / ".git").rglob("*") if path.is_file() and path.suffix != ".sample")
    chosen = objects[data[0] % len(objects)] if data else objects[0]
    before, mode = chosen.read_bytes(), chosen.stat().st_mode
    chosen.chmod(0o644)
    try:
        chosen.write_bytes(
            data[1:] if len(data) > 64 else before[: len(before) // 2] + data + before[len(before) // 2 :]
        )
        for open_set in open_sets(["HEAD:"], lambda path: True, repository=str(top)):
            [load(file.path, file.data) for file in open_set.files]
    finally:
        close()
        chosen.write_bytes(before)
        chosen.chmod(mode)


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


def kip(data: bytes) -> None:
    """A KIP: text, Markdown or a page of a wiki; every definition in it, and where that stands."""
    result = read_kip(_file("kip.html", data))
    for draft in settle(result, None).kip.definitions:
        _ = (draft.name, result.span(draft.block, Span(1, 1, 1, 2)), draft.span)


def readers(data: bytes) -> None:
    """A definition, as other readers than Kafka's take it."""
    known = [rule for rule in rules().known if rule.each == "reading"]
    made = RuleSet(known, known)
    made.readings = readings_of(*known)
    check_set([Input(NAME, data)], made, partial=True)


def _kips() -> list[bytes]:
    texts = [data.decode() for data in definitions()[:40] if data.isascii()]
    pages = [f"<html><h1>K</h1><pre class='x'>{html.escape(text)}</pre>&nbsp;<!-- c --></html>" for text in texts]
    return [page.encode() for page in (*(f"# K\n\n```json\n{text}\n```\n" for text in texts), *texts, *pages)]


def _archives() -> list[bytes]:
    import tarfile
    import zipfile

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as jar:
        jar.writestr(f"a/{NAME}", definitions()[0])
    result = [packed.getvalue()]
    for mode in ("w", "w:gz", "w:bz2", "w:xz"):
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode=mode) as tar:
            entry = tarfile.TarInfo(f"a/{NAME}")
            entry.size = len(definitions()[0])
            tar.addfile(entry, io.BytesIO(definitions()[0]))
        result.append(packed.getvalue())
    return result


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
    shared = corpus_root().parent / "bytes" / "capture.pcapng"
    return (
        [shared.read_bytes()[:60_000]]
        if shared.is_file()
        else [b"\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a\1\0\0\0" * 9]
    )


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
    return [old + b"\0\0\0\0" + new for old, new in pairwise(definitions())]


TOLD = (UsageError, SourceError)
SURFACES = (
    Surface("decoder", definitions, lambda data: load(NAME, data)),
    Surface("locator", definitions, locate),
    Surface("suppression", definitions, lambda data: parse_suppressions(decode_text(data))),
    Surface("rules", definitions, check),
    Surface("expressions", _expressions, expression, TOLD),
    Surface("packs", _packs, pack, TOLD),
    Surface("configuration", _configurations, configuration, TOLD),
    Surface("archives", _archives, archive, TOLD),
    Surface("git", _expressions, repository, TOLD),
    Surface("diff", _pairs, compare, TOLD),
    Surface("formats", definitions, report),
    Surface("kips", _kips, kip, TOLD),
    Surface("readers", definitions, readers, TOLD),
    Surface("frames", _frames, frame),
    Surface("records", _batches, records),
    Surface("captures", _captures, capture, (UnreadableCapture,)),
)
