"""The stages of a run: the tables that each reads and writes, and what its results depend on."""

from __future__ import annotations

import marshal
import pickle
import re
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.resources import files
from types import CodeType
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from kiplint.engine.rule import Rule
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.scopes import Scopes, scopes_of
from kiplint.pipeline.lake.lake import Snapshot

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from kiplint.pipeline.listing import Line
    from kiplint.pipeline.work import Work


class Engine(msgspec.Struct, frozen=True):
    """The rules of a run, and globs of the releases that decide what is released; fit to be sent to executors."""

    packed: bytes
    released: tuple[str, ...] = ()

    @classmethod
    def of(cls, rules: RuleSet, released: Iterable[str] = ()) -> Engine:
        """The engine with these rules and releases."""
        return cls(pickle.dumps((rules.rules, rules.all_rules)), tuple(released))

    @property
    def rules(self) -> Scopes:
        """The rules, compiled at most once in this process."""
        return _scopes(self.packed)


@cache
def _scopes(data: bytes) -> Scopes:
    rules, rule_ids = pickle.loads(data)
    return scopes_of(RuleSet(rules, rule_ids))


def _id(rules: Iterable[Rule]) -> str:
    specs = [[rule.id, rule.severity, rule.source, rule.params, msgspec.to_builtins(rule.spec)] for rule in rules]
    return _digest(msgspec.json.encode(specs))


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()[:16]


Problem = tuple[str, str]
"""A subject, and what is wrong with it."""


MOST_REASONS = 20
"""How many sources an error names with the reason, when none can be read."""


def no_source(problems: Sequence[Problem]) -> str:
    """The error where no source can be read."""
    reasons = [f"{name}: {reason}" for name, reason in problems[:MOST_REASONS]]
    more = len(problems) - len(reasons)
    return "no source can be read: " + "; ".join([*reasons, *([f"and {more:,} more"] if more else [])])


class Context(NamedTuple):
    """What a run is about, as stages need it.

    `problems` are what is wrong with sources that cannot be listed, `lost_lines` their lines, as source and lineage.
    `paths` are globs that choose definitions, `upstream` is the source that forks are compared with; `across` asks for
    a matrix of the releases of all sources together, `mail` for the mail addresses of authors.
    """

    engine: Engine
    lines: tuple[Line, ...]
    problems: tuple[Problem, ...]
    paths: tuple[str, ...]
    upstream: str
    lost_lines: tuple[tuple[str, str], ...] = ()
    across: bool = False
    mail: bool = False


class Stage(NamedTuple):
    """A stage: its name, the tables that it reads and writes, and the module in `stages` whose function `run` does it.

    The tables `aside` are not counted for people.
    """

    name: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    aside: tuple[str, ...] = ()

    def run(self, work: Work, context: Context) -> None:
        """Do the stage's work."""
        import_module(f"{STAGE_MODULES}.{self.name}").run(work, context)

    def ids(self, context: Context) -> dict[str, str]:
        """Ids of all that results depend on but for the data, by the names under which the lake records the stage."""
        code = code_id(f"{STAGE_MODULES}.{self.name}")
        texts = _dependencies(context)
        return {name: _digest(f"{code} {texts.get(name, '')}".encode()) for name in PARTS.get(self.name, (self.name,))}


STAGE_MODULES = "kiplint.pipeline.stages"
STAGES = (
    Stage("ingest", (), ("revisions", "blobs", "trees"), ("files", "roots", "sources", "problems")),
    Stage("lint", ("files", "trees", "blobs", "revisions"), ("findings",)),
    Stage("describe", ("blobs",), ("messages", "fields", "layouts")),
    Stage("compare", ("revisions", "messages"), ("changes",), ("pairs",)),
    Stage("spans", ("revisions", "files", "trees", "blobs", "messages", "findings", "changes"), ("spans",)),
    Stage("matrix", ("revisions", "files", "trees", "messages", "fields"), ("matrix",), ("offers",)),
    Stage("drift", ("revisions", "files", "trees", "layouts", "messages"), ("drift",)),
)
PARTS = {"ingest": ("ingest", "ingest-walking")}
"""The stage that is recorded in two parts: what was listed, and how contents are read."""


def undone(snapshot: Snapshot, tables: Iterable[str]) -> Snapshot:
    """A state without some tables, and without the stages that wrote them."""
    missing = set(tables)
    stages = [stage.name for stage in STAGES if missing & {*stage.writes, *stage.aside}]
    names = {part for stage in stages for part in PARTS.get(stage, (stage,))}
    return msgspec.structs.replace(
        snapshot,
        tables={name: version for name, version in snapshot.tables.items() if name not in missing},
        stages={name: state for name, state in snapshot.stages.items() if name not in names},
    )


def _dependencies(context: Context) -> dict[str, str]:
    """What the results of stages depend on besides the data and the code."""
    lines = sorted((line.source, line.lineage, line.path, line.state) for line in context.lines)
    sources = repr((lines, sorted(context.problems), sorted(context.lost_lines)))
    rules = context.engine.rules.whole.rules
    return {
        "ingest": _digest(sources.encode("utf-8", "surrogateescape")),
        "lint": _id(rule for rule in rules if rule.spec.each != "change"),
        "compare": _id(rule for rule in rules if rule.spec.each == "change") + " ".join(context.engine.released),
        "matrix": str(context.across),
        "drift": context.upstream,
    }


_ASIDE = (
    "kiplint.compiled.",
    "kiplint.pipeline.stage.",
    "kiplint.pipeline.work.",
    *(f"kiplint.pipeline.lake.{name}." for name in ("delta", "lake", "storage")),
)
"""What changes no row: how stages run and tables are stored, and compiled rules, as a run has its rules."""
_IMPORT = re.compile(
    r"^\s*(?:from (kiplint[\w.]*) import ((?:\([^)]*\)|[^\n#]*))|import (kiplint[\w.]*))", re.MULTILINE
)
_FOR_TYPES = re.compile(r"^if TYPE_CHECKING:\n(?:[ \t]+.*\n|\n)+", re.MULTILINE)


def code_id(module: str, package: Traversable | None = None) -> str:
    """The id of the code of a stage: of its module, and of all modules of kiplint that it imports, at any depth.

    Only what the code does counts: no comment, no docstring, no place in a file. Other versions of Python have other
    ids. `package` is the directory of kiplint, on a disk or in an archive.
    """
    ids: dict[str, str] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        text = None if name in ids or f"{name}.".startswith(_ASIDE) else _text_of(name, package or files("kiplint"))
        if text is not None:
            ids[name], imports = _parse_module(text)
            waiting += imports
    return _digest(repr(sorted(ids.items())).encode())


@cache
def _parse_module(text: str) -> tuple[str, tuple[str, ...]]:
    """The id of what a module does, and the modules that it may import."""
    text = _FOR_TYPES.sub("", text)
    imports = []
    for package, names, module in _IMPORT.findall(text):
        imports.append(module or package)
        imports += [f"{package}.{name}" for name in re.findall(r"(\w+)(?:\s+as\s+\w+)?", names)]
    code = _without_places(compile(text, "", "exec", dont_inherit=True, optimize=2))
    return _digest(marshal.dumps(code, 2)), tuple(imports)


def _without_places(code: CodeType) -> CodeType:
    """The code without line numbers. Each constant set is a sorted tuple: sets have another order in each process."""
    constants = (
        _without_places(value)
        if isinstance(value, CodeType)
        else tuple(sorted(map(repr, value)))
        if isinstance(value, frozenset)
        else value
        for value in code.co_consts
    )
    return code.replace(co_firstlineno=1, co_linetable=b"", co_consts=tuple(constants))


def _text_of(module: str, package: Traversable) -> str | None:
    """The text of a module; None for what is none."""
    *folders, name = module.split(".")[1:] or [""]
    for path in ((*folders, f"{name}.py"), (*folders, name, "__init__.py")):
        if (file := package.joinpath(*filter(None, path))).is_file():
            return file.read_text("utf-8")
    return None
