"""Input that was made to do harm: a finding or exit code 2, never a traceback, and nothing of it raw on the terminal.

The cases are those of design.md, section 13, as far as single files and directories go.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kiplint.engine.config import Config
from kiplint.engine.finding import Finding
from kiplint.limits import DEFINITION_BYTES, DEFINITION_LEVELS, DEFINITION_PROBLEMS, UNFOLDED_LEVELS
from tools import QUIET, check, definition, document, environment, field, ids, kiplint


class Case(NamedTuple):
    """The bytes of a definition, and the worst rule that it breaks; none when it is fine."""

    name: str
    data: bytes
    rule: str | None


def dump(value: object) -> bytes:
    return json.dumps(value).encode()


def with_text(text: str, **others: Any) -> bytes:
    """A definition with a piece of JSON as it stands in place of a property `"HERE"`."""
    return definition(**{"about": None, **others}).replace(b'"HERE"', text.encode("utf-8", "surrogatepass"))


def nested(levels: int) -> bytes:
    """A definition whose fields stand inside one another."""
    inner: list[dict[str, Any]] = []
    for level in range(levels):
        inner = [{"name": f"F{level}", "type": f"S{level}", "versions": "0+", **({"fields": inner} if inner else {})}]
    return dump(document(*inner))


def chain_structs(levels: int) -> bytes:
    """A definition whose common structs are each the type of a field of the one before."""
    structs = [{"name": f"S{n}", "versions": "0+", "fields": [field("A", f"S{n + 1}")]} for n in range(levels)]
    structs.append({"name": f"S{levels}", "versions": "0+", "fields": [field("A")]})
    return dump(document(field("A", "S0"), commonStructs=structs))


def make_layouts(count: int) -> bytes:
    """A definition with another layout in each of its versions."""
    return dump(document(*(field(f"F{n}", versions=f"{n}+") for n in range(count)), validVersions=f"0-{count}"))


NASTY = "X\r\n::error file=a::pwned\x1b[31m\x1b]0;t\x07\u202e\u2028<script>alert(1)</script>"
FILE = "new\nline ::error::\x1b[31m<b>.json"
ESCAPED_FILE = r"new\u000aline ::error::\u001b[31m<b>.json"
COMMENT = b"// " + b"x" * 38 + b" " + b"y" * 38 + b"\n"

CASES = [
    # depth
    Case("deep-enough", definition(field("A", "S", fields=[field("B", "T", fields=[field("C")])])), None),
    Case("deep-fields", nested(DEFINITION_LEVELS), "syntax/too-deep"),
    Case("deep-arrays", b"[" * 100_000 + b"]" * 100_000, "syntax/too-deep"),
    Case("deep-objects", b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "syntax/too-deep"),
    Case("deep-and-open", b"[" * 100_000, "syntax/too-deep"),
    Case("deep-unknown", definition(odd="HERE").replace(b'"HERE"', b"[" * 100 + b"]" * 100), "syntax/too-deep"),
    Case("chain-of-structs", chain_structs(UNFOLDED_LEVELS - 1), None),
    Case("long-chain-of-structs", chain_structs(UNFOLDED_LEVELS), "syntax/too-deep"),
    # numbers
    Case("huge-integer", with_text("1" + "0" * 30, apiKey="HERE"), "shape/wrong-type"),
    Case("huge-float", with_text("1e400", apiKey="HERE"), "syntax/invalid-json"),
    Case("long-number", with_text("9" * 5000, apiKey="HERE"), "syntax/invalid-json"),
    Case("long-exponent", with_text("1e" + "9" * 5000, apiKey="HERE"), "syntax/invalid-json"),
    Case("huge-tag", definition(field(tag=10**10, taggedVersions="3+")), "shape/wrong-type"),
    Case("not-a-number", with_text("NaN", apiKey="HERE"), "syntax/json5-only"),
    Case("long-default", definition(field(default="9" * 5000)), "fields/default-invalid"),
    Case("hexadecimal-default", definition(field(default="0x" + "f" * 5000)), "fields/default-invalid"),
    # versions
    Case("all-versions", definition(field(), validVersions="0-32767"), "versions/valid-open"),
    Case("all-but-one-version", definition(field(versions="0-32766"), validVersions="0-32766"), None),
    Case("long-version", definition(validVersions="9" * 5000), "versions/invalid-range"),
    Case("long-range", definition(field(versions="0-" + "9" * 100_000)), "versions/invalid-range"),
    Case("other-digits", definition(validVersions="٠-٣"), "versions/invalid-range"),
    Case("blank-version", definition(validVersions=" " * 5000), "versions/invalid-range"),
    # size
    Case("megabytes-of-comments", COMMENT * 20_000 + definition(), "syntax/too-large"),
    Case("just-small-enough", COMMENT * 12_900 + definition(), None),
    Case("megabytes-of-nothing", b" " * (DEFINITION_BYTES + 1), "syntax/too-large"),
    Case("megabytes-of-blanks", definition() + b"\n" * (DEFINITION_BYTES - 1000), None),
    Case("one-long-line", definition(field(about="a" * 500_000)), None),
    Case("many-layouts", make_layouts(300), "conventions/later-without-default"),
    Case("many-layouts-too-large", make_layouts(400), "syntax/too-large"),
    Case("many-fields", dump(document(*(field(f"F{n}") for n in range(2000)))), None),
    Case("many-wrong-fields", dump(document(*(field(f"F{n}", "int3") for n in range(1000)))), "fields/unknown-type"),
    Case("many-unknown-properties", dump({**document(), **{f"p{n}": n for n in range(20_000)}}), "shape/unknown-property"),
    Case("many-duplicates", b"{" + b'"a": 1, ' * 50_000 + b'"a": 2}', "syntax/duplicate-key"),
    Case("many-commas", b"[" + b"," * 100_000 + b"]", "syntax/invalid-json"),
    Case("long-key", dump({**document(), "k" * 100_000: 1}), "shape/unknown-property"),
    Case("long-name", definition(name="X" * 100_000 + "Request"), None),
    # keys
    Case("duplicate-key", definition().replace(b"{", b'{ "name": "Other",', 1), "syntax/duplicate-key"),
    Case("duplicate-key-escaped", definition().replace(b"{", b'{ "n\\u0061me": "Other",', 1), "syntax/duplicate-key"),
    Case("duplicate-key-in-a-field", definition(field()).replace(b'"int32"', b'"int8", "type": "int16"'), "syntax/duplicate-key"),
    Case("empty-key", definition(**{"": 1}), "shape/unknown-property"),
    Case("prototype", definition(__proto__={}, __class__=1), "shape/unknown-property"),
    # characters
    Case("lone-surrogate", with_text('"X\\ud800Request"', name="HERE"), "syntax/invalid-json"),
    Case("lone-low-surrogate", with_text('"\\udc00"', name="HERE"), "syntax/invalid-json"),
    Case("surrogate-in-bytes", with_text('"X\ud800Request"', name="HERE"), "syntax/not-utf8"),
    Case("surrogate-pair", definition(field(about="HERE")).replace(b"HERE", b"\\ud83d\\ude00"), None),
    Case("surrogate-in-a-key", with_text("1", odd="HERE").replace(b'"odd"', b'"\\ud800"'), "syntax/invalid-json"),
    Case("nul", b"\0", "syntax/invalid-json"),
    Case("nul-after", definition() + b"\0", "syntax/trailing-content"),
    Case("nul-between", definition().replace(b",", b",\0", 1), "syntax/invalid-json"),
    Case("nul-in-a-string", with_text('"X\0Request"', name="HERE"), "syntax/invalid-json"),
    Case("nul-escaped", with_text('"X\\u0000Request"', name="HERE"), "rpc/message-name-invalid"),
    Case("tab-in-a-string", with_text('"X\tRequest"', name="HERE"), "syntax/invalid-json"),
    Case("line-end-in-a-string", with_text('"X\nRequest"', name="HERE"), "syntax/invalid-json"),
    Case("separator-in-a-string", definition(field(about="a\u2028b")), None),
    Case("not-utf8", b"\xff\xfe\xfd", "syntax/not-utf8"),
    Case("cut-character", definition() + b"// \xe2\x82", "syntax/not-utf8"),
    Case("overlong", definition(name="HERE").replace(b"HERE", b"\xc0\xaf"), "syntax/not-utf8"),
    Case("latin-1", definition(field(about="HERE")).replace(b"HERE", b"caf\xe9"), "syntax/not-utf8"),
    Case("utf-16", definition().decode().encode("utf-16"), "syntax/not-utf8"),
    Case("utf-32", definition().decode().encode("utf-32"), "syntax/not-utf8"),
    Case("byte-order-mark", b"\xef\xbb\xbf" + definition(), "syntax/byte-order-mark"),
    Case("two-byte-order-marks", b"\xef\xbb\xbf" * 2 + definition(), "syntax/json5-only"),
    Case("carriage-returns", definition(field()).replace(b"\n", b"\r\n"), None),
    Case("carriage-returns-alone", definition(field()).replace(b"\n", b"\r"), None),
    Case("odd-white-space", definition().replace(b" ", "\u00a0".encode()), "syntax/json5-only"),
    # names
    Case("nasty-message-name", definition(name=NASTY + "Request"), "rpc/message-name-invalid"),
    Case("nasty-field-name", definition(field(NASTY)), "fields/invalid-name"),
    Case("nasty-type", definition(field("A", NASTY)), "fields/unknown-type"),
    Case("nasty-struct", definition(field("A", "[]" + NASTY, fields=[field("B")])), "fields/unknown-type"),
    Case("nasty-version", definition(validVersions=NASTY), "versions/invalid-range"),
    Case("nasty-key", definition(**{NASTY: 1}), "shape/unknown-property"),
    Case("nasty-header", definition(headerVersions={NASTY: NASTY}), "kip-1313/header-key"),
    Case("nasty-listener", definition(listeners=[NASTY]), "rpc/listeners-unknown"),
    Case("nasty-default", definition(field(default=NASTY)), "fields/default-invalid"),
    Case("nasty-about", definition(field(about=NASTY + '"')), "style/about-not-java"),
    Case("nasty-entity-type", definition(field(entityType=NASTY)), "shape/unknown-enum-value"),
    Case("nasty-comment", b"// " + NASTY.replace("\r\n", " ").encode() + b"\n" + definition(extra=1), "shape/unknown-property"),
    Case("nasty-ignore", b"// kiplint: ignore[\x1b[31m] \x1b[31m\n" + definition(), "style/unused-ignore"),
    Case("nasty-junk", b"{ \x1b[31m::error::<script> }", "syntax/invalid-json"),
    # structure
    Case("empty", b"", "syntax/empty-file"),
    Case("blank", b" \n\t\r\n", "syntax/empty-file"),
    Case("only-a-comment", b"// nothing", "syntax/empty-file"),
    Case("only-an-open-comment", b"/* nothing", "syntax/invalid-json"),
    Case("only-a-byte-order-mark", b"\xef\xbb\xbf", "syntax/empty-file"),
    Case("null", b"null", "shape/wrong-type"),
    Case("a-number", b"1", "shape/wrong-type"),
    Case("a-string", b'"validVersions"', "shape/wrong-type"),
    Case("an-array", b"[]", "shape/wrong-type"),
    Case("an-array-of-definitions", b"[" + definition() + b"]", "shape/wrong-type"),
    Case("an-object", b"{}", "shape/missing-property"),
    Case("open-string", b'{ "name": "X', "syntax/invalid-json"),
    Case("open-object", definition()[:-1], "syntax/invalid-json"),
    Case("two-definitions", definition() * 2, "syntax/trailing-content"),
    Case("structs-in-a-circle", definition(commonStructs=[
        {"name": name, "versions": "0+", "fields": [field("F", other)]} for name, other in ("AB", "BC", "CA")
    ]), "structs/recursive"),
    Case("a-circle-of-thousands", dump(document(commonStructs=[
        {"name": f"S{n}", "versions": "0+", "fields": [field("F", f"S{(n + 1) % 500}")]} for n in range(500)
    ])), "structs/recursive"),
    Case("yaml", b"name: XRequest\ntype: request\nvalidVersions: 0\n", "syntax/invalid-json"),
    Case("xml", b"<validVersions>0</validVersions>", "syntax/invalid-json"),
    Case("python", b"{'name': None, 'validVersions': True}", "syntax/invalid-json"),
    Case("binary", bytes(range(256)) * 100, "syntax/not-utf8"),
]  # fmt: skip
BY_NAME = {case.name: case for case in CASES}
FILES = [case for case in CASES if len(case.data) < 60_000 or not case.name.startswith(("deep-", "many-"))]
"""The cases that a directory has; the others take seconds, and are tried alone."""
MUCH = "many-wrong-fields.json"
"""The case of which more is said than a pipe holds."""

SEVERITIES = ("error", "warning", "info")
SMALL = Config(ignore=QUIET)


def worst(findings: list[Finding]) -> str | None:
    ranking = [finding for severity in SEVERITIES for finding in findings if finding.severity == severity]
    return ranking[0].severity if ranking else None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_case(case: Case) -> None:
    findings = check(case.data, SMALL)
    gravest = {finding.rule for finding in findings if finding.severity == worst(findings)}
    assert (case.rule in gravest) if case.rule else (findings == []), ids(findings)[:10]
    assert len(findings) <= 2 * DEFINITION_PROBLEMS or case.name.startswith("many-")
    for finding in findings:
        assert finding.message.isprintable()
        assert len(finding.message) < 1000


def test_the_number_of_findings_does_not_grow_with_their_text() -> None:
    """Every message about a field names the message, whose name may be most of the file."""
    names = [field("F" * 200 + str(n), versions="9+", about="F") for n in range(2000)]
    data = definition(*names, name="X" * 400_000 + "Request")
    findings = check(data, Config(select=["versions"]))
    assert len(findings) == 2000
    assert sum(len(finding.message) + len(finding.message_name) + len(finding.place) for finding in findings) < 4 * len(
        data
    )


def write_case(name: str, place: Path) -> str:
    """The file with a case alone; beside the others it takes as long as all of them."""
    file = place / f"{name}.json"
    file.write_bytes(BY_NAME[name].data)
    return str(file)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cases as one schema set, under file names that are hostile too."""
    top = tmp_path_factory.mktemp("hostile")
    for case in FILES:
        (top / f"{case.name}.json").write_bytes(case.data)
    (top / FILE).write_bytes(definition(field("A", "int3")))
    return top


def raw(text: str) -> set[str]:
    """The characters that a terminal or a parser of lines could take for more than text."""
    return {char for char in text if not (char.isprintable() or char == "\n")}


def test_a_directory_of_all_of_them(folder: Path, tmp_path: Path) -> None:
    """Both formats come of one run, as it takes seconds."""
    result = kiplint("check", ".", "--output-format=text", f"--output-format=json={tmp_path / 'json'}", cwd=folder)
    assert (result.code, result.err, raw(result.out)) == (1, "", set())
    # What begins a line is ours: no name of a file or field has broken one.
    assert not [line for line in result.out.splitlines() if line.startswith(("::", "\x1b", "<"))]
    assert f" --> {ESCAPED_FILE}:10:" in result.out
    text = (tmp_path / "json").read_text("utf-8")
    assert raw(text) == set()
    paths = {row["path"] for row in json.loads(text)["findings"]}
    assert paths >= {ESCAPED_FILE, *(f"{case.name}.json" for case in FILES if case.rule and is_walked(case))}


def is_walked(case: Case) -> bool:
    """Whether a directory's walk takes the file for a definition; it is silent on the rest."""
    from kiplint.sources.schema_files import SchemaFile, definitions

    return bool(definitions([SchemaFile("x.json", case.data)])[0])


def test_a_reader_that_goes_away(folder: Path) -> None:
    """The others of the set, which are read for what a definition is to have, do no harm."""
    command = [sys.executable, "-m", "kiplint", "check", MUCH, "--output-format", "jsonl"]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert json.loads(process.stdout.readline())["rule"]
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_of_few_characters(tmp_path: Path, encoding: str) -> None:
    result = kiplint("check", write_case("latin-1", tmp_path), cwd=tmp_path, env={"PYTHONIOENCODING": encoding})
    assert (result.code, result.err) == (1, "")
    assert '"caf\\ufffd' in result.out
