"""Small definitions, checks of them, and runs of the command: what most tests begin with."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, chdir
from io import TextIOWrapper
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from unittest.mock import patch

from hypothesis import settings

from conftest import ROOT, SIGNALS
from kiplint.cli import main
from kiplint.compat.change import ChangeFinding
from kiplint.compat.classify import classify
from kiplint.compat.compare import compare_trees
from kiplint.compat.tree import Tree
from kiplint.engine.config import Config, load_rules, make_ruleset
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import check_set
from kiplint.model.definition import Definition
from kiplint.model.load import load
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from kiplint.sources.schema_files import SchemaFile

USUAL = settings.default.max_examples
"""How many examples of a property are tried; the profile `explore` tries more of all that count in these."""

PLAIN = {"name": "XRequest", "type": "request", "apiKey": 1, "validVersions": "0-5", "flexibleVersions": "3+"}
QUIET = [
    "style/about-missing",
    "style/version-undocumented",
    "rpc/listeners-missing",
]
"""Rules that small definitions break by being small."""


def changes_between(rules: RuleSet, old: Tree, new: Tree, older: Sequence[Tree] = ()) -> list[ChangeFinding]:
    """The changes from a tree to another, by these rules."""
    sources = {path: data for tree in (*older, old) for path, data in tree.sources.items()}
    return [finding for _, finding in classify(compare_trees(old, new, older), rules, sources, new.sources)]


ABOUT_WARNING = b"""\
[severity]
"style/about-missing" = "warning"
"""
"""A configuration that makes a missing description a warning, which text lists."""


def field(name: str = "Field", kind: str = "int32", versions: str = "0+", **others: Any) -> dict[str, Any]:
    """The JSON of a field."""
    return {"name": name, "type": kind, "versions": versions, **others}


def document(*fields: Any, **others: Any) -> dict[str, Any]:
    """The JSON of a request with versions 0-5, flexible from 3 on; a property that is None is left out."""
    whole = {**PLAIN, **others, "fields": list(fields)}
    return {name: value for name, value in whole.items() if value is not None}


def message(*fields: dict[str, Any], **others: Any) -> Message:
    """A message that the reader has nothing to say about."""
    result = load(f"{others.get('name', 'XRequest')}.json", json.dumps(document(*fields, **others)).encode())
    assert result.problems == ()
    return alone(result)


def alone(definition: Definition) -> Message:
    """The message of a definition, as the only one of its set."""
    (message,) = SchemaSet((definition,)).messages
    return message


def schema_set(*definitions: Definition) -> SchemaSet:
    """The definitions as one set."""
    return SchemaSet(definitions)


def rpc(name: str, key: int, valid: str, **others: Any) -> tuple[Message, Message]:
    """A request and its response."""
    same = {"apiKey": key, "validVersions": valid, **others}
    request = message(name=f"{name}Request", type="request", **same)
    return request, message(name=f"{name}Response", type="response", **same)


def definition(*fields: dict[str, Any], **others: Any) -> bytes:
    """The text of `document`, two blanks a level, one property a line."""
    return json.dumps(document(*fields, **others), indent=2).encode()


def expanding(kind: str = "int32", **others: Any) -> bytes:
    """A small definition whose layout has 2 to the power of 40 fields of a type: more than are compared or shown."""
    structs = [
        {"name": f"S{n}", "versions": "0+", "fields": [field("A", f"S{n + 1}"), field("B", f"S{n + 1}")]}
        for n in range(40)
    ]
    structs.append({"name": "S40", "versions": "0+", "fields": [field("A", kind)]})
    return definition(field("Root", "S0"), commonStructs=structs, **others)


def check(
    files: Mapping[str, bytes] | bytes, config: Config | None = None, base: str = "", *, single_file: bool = True
) -> list[Finding]:
    """What a configuration's rules find in the files of a set; a single text is XRequest.json."""
    if isinstance(files, bytes):
        files = {"XRequest.json": files}
    rules = rules_of(config or Config(), base)
    return check_set([SchemaFile(path, data) for path, data in files.items()], rules, single_file=single_file).findings


RULESETS: dict[str, RuleSet] = {}


def rules_of(config: Config, base: str = "") -> RuleSet:
    """The rules of a configuration, selected once, but for packs in files; packages on the path may bring others."""
    if config.rule_packs:
        return make_ruleset(config, load_rules(config, base))
    if (key := repr((config, sys.path))) not in RULESETS:
        RULESETS[key] = make_ruleset(config, load_rules(config, base))
    return RULESETS[key]


def ids(findings: Sequence[Finding]) -> list[str]:
    """The rules of the findings, in their order."""
    return [finding.rule for finding in findings]


def complaint(action: Callable[[], object]) -> str:
    """The text of the usage error that an action ends in."""
    try:
        action()
    except UsageError as error:
        return str(error)
    raise AssertionError("there was no usage error")


class _Output(NamedTuple):
    code: int
    out: str
    err: str


class Ran(_Output):
    """What a run of the command came to; the line that closes a clean run stands apart from its standard error."""

    closing: str


_CLOSING = re.compile(r"^[0-9,]+ (?:file|message)s? (?:checked|compared), no (?:findings|changes)\n", re.MULTILINE)


_SHAPING = re.compile(
    r"(PYTHON|LC_|LANG|XDG_CONFIG|GITHUB_|PIP_(BUILD_)?CONSTRAINT|CI$|KIPLINT|(NO_|FORCE_|CLI)COLOR|TERM$|COLUMNS|LINES)"
)


MODULES = str(ROOT / "src")
"""Where processes find kiplint."""
START = (sys.executable, "-P", "-m", "kiplint")
SECONDS = 300
"""What a run may take at most."""


def environment(**others: str) -> dict[str, str]:
    """The environment of a run: this one's without anything that shapes output, and with the checkout on the path."""
    env = {name: value for name, value in os.environ.items() if not _SHAPING.match(name)}
    return {**env, "PYTHONPATH": MODULES, "LANG": "C.UTF-8", "COLUMNS": "100", "KIPLINT_DEBUG": "1", **others}


def _call(words: Sequence[str], cwd: Path, stdin: bytes, variables: Mapping[str, str]) -> tuple[int, bytes, bytes]:
    """Run the command in this process, as if it were one of its own: the exit code, and what it wrote."""
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    with TemporaryDirectory() as folder, ExitStack() as stack:
        paths = [Path(folder, name) for name in ("in", "out", "err")]
        paths[0].write_bytes(stdin)
        files = [stack.enter_context(path.open(mode)) for path, mode in zip(paths, ("rb", "wb", "wb"), strict=True)]
        for name, file in zip(("stdin", "stdout", "stderr"), files, strict=True):
            stack.enter_context(patch.object(sys, name, TextIOWrapper(file, "utf-8", "backslashreplace")))
        stack.enter_context(patch.object(sys, "argv", ["kiplint", *words]))
        stack.enter_context(patch.dict(os.environ, environment(**variables), clear=True))
        stack.enter_context(patch.object(os, "_exit", sys.exit))
        stack.enter_context(chdir(cwd))
        try:
            main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            stream.close()
        return code, paths[1].read_bytes(), paths[2].read_bytes()


def kiplint(
    *words: str | bytes | Path,
    cwd: Path,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    command: Sequence[str] = START,
) -> Ran:
    """Run the command in a directory. A traceback fails the test, whatever it expects.

    It takes a start of Python only for another `command`, for what Python reads of the environment, and for the
    language server, which reads descriptors.
    """
    arguments, variables = [*map(os.fsdecode, words)], env or {}
    if command is START and arguments[:1] != ["lsp"] and not any(name.startswith("PYTHON") for name in variables):
        code, out, err = _call(arguments, cwd, stdin, variables)
    else:
        process = subprocess.run(
            [*command, *arguments],
            cwd=cwd,
            input=stdin,
            capture_output=True,
            env=environment(**variables),
            check=False,
            timeout=SECONDS,
        )
        code, out, err = process.returncode, process.stdout, process.stderr
    text = err.decode()
    result = Ran(code, out.decode(), _CLOSING.sub("", text))
    result.closing = "".join(_CLOSING.findall(text))
    assert "Traceback" not in result.err, result.err
    return result
