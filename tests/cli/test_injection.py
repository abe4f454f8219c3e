"""Texts of strangers, in every command and every format: nowhere more than text.

Names of files, messages, fields and structs, values in bytes, what a broker says, what a pack of rules says of itself.
A command that is not in the table is tried with such names for its arguments; formats are those that are declared.
"""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from hostile import FORGED
from kiplint.cli.process import WorkflowLog
from render.findings import valid_run
from tools import Ran, definition, environment, field, kiplint

from .declared import NAMES as COMMANDS
from .declared import formats_of, is_argument, parameters_of

NAMES = [
    *FORGED,
    "A\x1b[31m\x1b]0;t\x07\x00\x7f\x9b\u202e\u2028\u2029\u200b\ufffe\U000e0041",
    "A\"'`*_~$&amp;[x](javascript:x)@all![y](z)",
    "A::stop-commands::x",
    "fixes #2, GH-1 gh-7 org/repo#1 org/repo@0123456789 !4",
    "0123456789abcdef0123456789abcdef01234567 deadbee 1234567",
    "www.forged.org WWW.forged.org http://forged.org https://forged.org ftp://x.y mailto:a@b.org a@b.org",
    "世界 🎉 é",
]
NAME = NAMES[5]
COMMAND = "::add-matcher::FooRequest.json"
FOLDER = "new\x1b[31m\u202e"
PACK = {
    "pack": "odd",
    "title": f"T{NAME}{NAMES[0]}",
    "source": f"S{NAME}{NAMES[1]}",
    "rules": [
        {
            "id": "one",
            "each": "message",
            "expect": "len(name) < 1",
            "at": "name",
            "severity": "error",
            "message": f"M{NAME}{NAMES[0]} {{name}}",
            "why": f"W{NAME}{NAMES[1]}",
            "params": {f"p{NAME}": [NAME]},
        }
    ],
}
BODY = "XRequest@0"


def nasty(number: int) -> str:
    """The name with a number, and all others behind it."""
    return NAMES[number % len(NAMES)]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two releases of RPCs with such names, and with fields that have them; a pack of rules; bytes to decode."""
    top = tmp_path_factory.mktemp("injection")
    for release, valid in (("old", "0-1"), (FOLDER, "0-2")):
        (top / release).mkdir()
        for key, name in enumerate(NAMES):
            for kind in ("Request", "Response"):
                fields = [field(f"{name}{at}", about=f"Number {at}. {name}") for at in range(1 + (release != "old"))]
                text = definition(*fields, name=f"{name}{kind}", type=kind.lower(), apiKey=key, validVersions=valid)
                (top / release / f"X{key}{kind}.json").write_bytes(f"// {NAME}\n".encode() + text)
    (top / FOLDER / f"{NAMES[0]}.json".replace("/", " ")).write_bytes(b"{,")
    (top / "plain").mkdir()
    texts = [field(f"{NAME}{at}", "string") for at in range(2)]
    (top / "plain" / "XRequest.json").write_bytes(f"// {NAME}\n".encode() + definition(*texts, apiKey=18))
    (top / "plain" / "RequestHeader.json").write_bytes(definition(name="RequestHeader", type="header", apiKey=None))
    (top / "pack.json").write_text(json.dumps(PACK))
    (top / "kiplint.toml").write_text('rule-packs = ["pack.json"]\nselect = ["all"]\n')
    (top / "kip.md").write_bytes(
        b"".join(b"# %s\n```json\n%s\n```\n" % (NAME.encode(), path.read_bytes()) for path in (top / FOLDER).glob("X*"))
    )
    (top / "body.hex").write_text(body(NAMES[0], NAME))
    (top / "wrong.hex").write_text(body(NAME, NAMES[8]) + "00")
    (top / COMMAND).write_bytes(definition(field(COMMAND), validVersions="##[add-mask]error"))
    (top / "broken").mkdir()
    (top / "broken" / f"{NAME.replace(chr(0), '')}.json").write_bytes(b'{"validVersions": "0", "fields": [,')
    return top


def body(*texts: str) -> str:
    """The bytes of XRequest 0 with these strings, in hexadecimal digits."""
    data = b"".join(len(text.encode()).to_bytes(2, "big") + text.encode() for text in texts)
    return data.hex()


TABLE: dict[str, list[tuple[str, ...]]] = {
    "check": [
        ("check", FOLDER),
        ("check", FOLDER, "--all"),
        ("check", FOLDER, "--select", "odd"),
        ("check", "broken"),
        ("check", NAMES[0]),
        ("check", FOLDER, "--select", NAMES[0]),
        ("check", FOLDER, "--severity", f"{NAMES[0]}=x"),
        ("check", FOLDER, "--config", NAMES[0]),
    ],
    "diff": [("diff", "old", FOLDER), ("diff", "old", "broken")],
    "rollout": [("rollout", "old", FOLDER)],
    "show": [*(("show", f"{name}Request".replace("\0", ""), FOLDER) for name in NAMES), ("show", "XRequest", "plain")],
    "negotiate": [("negotiate", "old", FOLDER)],
    "migrate kip-1313": [("migrate", "kip-1313", FOLDER, "--dry-run"), ("migrate", "kip-1313", "broken", "--dry-run")],
    "migrate bump": [
        ("migrate", "bump", NAMES[8], "--set", "old", "--dry-run"),
        ("migrate", "bump", "X", "--set", "plain", "--dry-run", "--note", NAMES[0]),
    ],
    "decode": [
        ("decode", "--set", "plain", BODY, "body.hex"),
        ("decode", "--set", "plain", BODY, "wrong.hex"),
        ("decode", "--set", "plain", f"{NAMES[0]}@0", "body.hex"),
        ("decode", "--set", "plain", NAMES[0]),
        ("decode", "--set", "plain", "--input-format", "jsonl", "lines.jsonl"),
    ],
    "kip": [
        ("kip", "kip.md"),
        ("kip", NAMES[0]),
        ("kip", "kip.md", "--base", "old"),
        ("kip", "kip.md", "--base", NAMES[0]),
    ],
    "rules": [("rules",), ("rules", NAMES[0])],
    "explain": [("explain", "odd/one"), ("explain", NAMES[0])],
    "schema": [("schema", NAMES[0])],
    "pipeline run": [("pipeline", "run", f"{NAMES[0]}=x", "--out", "lake")],
    "pipeline report": [("pipeline", "report", NAMES[0])],
    "pipeline matrix": [("pipeline", "matrix", NAMES[0])],
    "pipeline blame": [("pipeline", "blame", NAMES[0], NAMES[0])],
    "pipeline query": [("pipeline", "query", NAMES[0], NAMES[0])],
}
OTHERS = {
    command: [
        (*command.split(), *(NAMES[0] for parameter in parameters_of(command).values() if is_argument(parameter)))
    ]
    for command in COMMANDS
    if command not in TABLE
}


def cases(command: str, lines: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """The first line in every format, and each other line in the next format in turn."""
    forms = ("", *formats_of(command))
    first, *others = lines
    yield from ((command, first, form) for form in (forms if "--output-format" not in first else ("",)))
    for number, words in enumerate(others):
        yield command, words, "" if "--output-format" in words else forms[number % len(forms)]


CASES = [case for command, lines in (TABLE | OTHERS).items() for case in cases(command, lines)]
CASES += cases("check", [("check", COMMAND)])


def without_nul(word: str) -> str:
    """A word as a command line can have it."""
    return word.replace("\0", "")


def run(here: Path, words: tuple[str, ...], form: str) -> Ran:
    arguments = [*map(without_nul, words), *(("--output-format", form) if form else ())]
    stdin = (here / FOLDER / "X0Request.json").read_bytes()
    variables = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(here / "summary.md")}
    return kiplint(*arguments, cwd=here, stdin=stdin, env=variables)


ANNOTATION = r"::(error|warning|notice) (file=[^,:]+(,(line|endLine|col|endColumn)=\d+)*,)?title=[^,:]+::.+"


def lines_are_text(out: str, form: str = "text") -> None:
    """Nothing acts on a terminal, and no line is a command of a workflow but kiplint's own annotations."""
    for line in out.split("\n"):
        assert line.isprintable(), [char for char in line if not char.isprintable()]
        if line.lstrip().startswith("::"):
            assert form in ("", "github")  # which is the usual format in a workflow
            assert re.fullmatch(ANNOTATION, line)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a ##[error]b\n::add-mask::x\n", "a ##\\u005berror]b\n:\\u003aadd-mask::x\n"),
        (" \t\x1b[1m::a::b\r\u3000::a::b", " \t\x1b[1m:\\u003aa::b\r\u3000:\\u003aa::b"),
        ("###[x] # #[ ##\n[ a::b: ::c\n: :d\n", "###\\u005bx] # #[ ##\n[ a::b: ::c\n: :d\n"),
        ('{"a": "##[x]"}', '{"a": "##\\u005bx]"}'),
    ],
)
def test_a_workflow_command_is_broken_wherever_writes_divide_it(text: str, expected: str) -> None:
    for size in range(1, len(text) + 1):
        out = io.BytesIO()
        log = WorkflowLog(out, "utf-8")
        assert sum(log.write(text[at : at + size]) for at in range(0, len(text), size)) == len(text)
        log.flush()
        assert out.getvalue().decode() == expected


@pytest.mark.parametrize(("command", "words", "form"), CASES, ids=lambda value: str(value)[:40] if value else "-")
def test_nothing_is_more_than_text(here: Path, command: str, words: tuple[str, ...], form: str) -> None:
    (here / "summary.md").unlink(missing_ok=True)
    (here / "lines.jsonl").write_text(json.dumps({"message": NAMES[0], "version": 0, "hex": NAMES[0]}) + "\n")
    result = run(here, words, form)
    lines_are_text(result.out, form)
    lines_are_text(result.err)
    assert "##[" not in result.out + result.err
    assert "internal error" not in result.err
    means_the_same(result.out, form)
    if (here / "summary.md").exists():
        means_the_same((here / "summary.md").read_text("utf-8"), "markdown")


def means_the_same(out: str, form: str) -> None:
    """A document is well formed, whatever it tells."""
    if form == "markdown":
        is_plain(out)
    elif form in ("json", "gitlab") and out:
        json.loads(out)
    elif form == "jsonl":
        assert all(json.loads(line) for line in out.splitlines())
    elif form == "sarif" and out:
        valid_run(json.loads(out))
    elif form == "junit" and out:
        root = ElementTree.fromstring(out)
        assert {element.tag for element in root.iter()} - {"system-out"} <= {
            "testsuites",
            "testsuite",
            "testcase",
            "failure",
        }
    elif form == "github":
        assert [line for line in out.splitlines() if not re.fullmatch(ANNOTATION, line)] == []


LINK = re.compile(
    r"(?i)@\w|#\d|\bgh-\d|\b[0-9a-f]{7,40}\b|://|\bwww\.|\bmailto:\S+@\w",
)
"""What GitHub makes a link of in a text, or a person be told of."""


def is_plain(document: str) -> None:
    """Markdown of strangers has no link, no image and no HTML, and GitHub makes none of what stands between tags."""
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(document):
        assert token.type != "html_block"
        for part in token.children or []:
            assert part.type not in ("link_open", "image", "s_open")
            assert part.type != "html_inline" or part.content == "<!-- -->"
            if part.type == "text":
                assert LINK.search(part.content) is None, part.content


def _pieces(terminal: io.FileIO) -> Iterator[bytes]:
    """What a terminal is given, which comes by and by, until nobody has it open any more."""
    with suppress(OSError):  # as Linux says that it is closed
        while piece := terminal.read(1 << 16):
            yield piece


def test_a_patch_on_a_terminal(here: Path) -> None:
    """A patch is the bytes of files, except where they would act."""
    (here / "patch").mkdir()
    text = f'// {NAME}\n{{ "name": "XRequest", "validVersions": "0",\n  "fields": [], }}\n'
    (here / "patch" / "XRequest.json").write_text(text)
    words = [sys.executable, "-m", "kiplint", "check", "patch", "--isolated", "--diff"]
    pty = pytest.importorskip("pty")  # Windows has none
    outside, inside = pty.openpty()
    with open(outside, "rb", buffering=0) as terminal:
        with open(inside, "wb", buffering=0) as end:
            child = subprocess.run(words, cwd=here, env=environment(), stdout=end, stderr=subprocess.PIPE, check=False)
        assert child.returncode == 1, child.stderr
        patch = b"".join(_pieces(terminal)).decode().replace("\r\n", "\n")
    assert "+++ " in patch
    for line in patch.split("\n"):
        assert line.replace("\t", "").isprintable()
    plain = subprocess.run(words, cwd=here, env=environment(), capture_output=True, check=False)
    assert NAME.encode() in plain.stdout
