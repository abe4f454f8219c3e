"""The stages of a run: the tables that each reads and writes, and what its results depend on."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.resources import files
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
        return cls(pickle.dumps((rules.rules, rules.known)), tuple(released))

    @property
    def rules(self) -> Scopes:
        """The rules, compiled at most once in this process."""
        return _scopes(self.packed)

    @property
    def texts(self) -> Mapping[str, str]:
        """Ids of the rules as they are written and configured: of definitions, and of changes."""
        rules = self.rules.whole.rules
        return {
            "lint": _id(rule for rule in rules if rule.spec.each != "change"),
            "compare": _id(rule for rule in rules if rule.spec.each == "change") + " ".join(self.released),
        }


@cache
def _scopes(packed: bytes) -> Scopes:
    rules, rule_ids = pickle.loads(packed)
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

    `problems` are what is wrong with sources that cannot be listed, `lost` their lines, as source and lineage. `paths`
    are globs that choose definitions, `upstream` is the source that forks are compared with; `across` asks for a matrix
    of the releases of all sources together, `mail` for the mail addresses of authors.
    """

    engine: Engine
    lines: tuple[Line, ...]
    problems: tuple[Problem, ...]
    paths: tuple[str, ...]
    upstream: str
    lost: tuple[tuple[str, str], ...] = ()
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
    sources = repr((lines, sorted(context.problems), sorted(context.lost)))
    own = {"ingest": _digest(sources.encode("utf-8", "surrogateescape"))}
    return own | {"matrix": str(context.across), "drift": context.upstream, **context.engine.texts}


_IMPORT = re.compile(
    r"^\s*(?:from (kiplint[\w.]*) import ((?:\([^)]*\)|[^\n#]*))|import (kiplint[\w.]*))", re.MULTILINE
)
_FOR_TYPES = re.compile(r"^if TYPE_CHECKING:\n(?:[ \t]+.*\n|\n)+", re.MULTILINE)


def code_id(module: str) -> str:
    """The id of the code of a stage: of its module, and of all modules of kiplint that it imports, at any depth."""
    return id_of(module, files("kiplint"))


def id_of(module: str, package: Traversable) -> str:
    """The same in a copy of kiplint, which is its directory, on a disk or in an archive.

    The compiled rules do not count: they follow from the rules of a run, which stages name themselves.
    """
    digest = sha256()
    for name, text in sorted(_modules(module, package).items()):
        digest.update(b"\0" + name.encode() + b"\0" + sha256(text.encode()).digest())
    return digest.hexdigest()[:16]


def _modules(module: str, package: Traversable) -> dict[str, str]:
    """The texts of a module and of those that it imports."""
    texts: dict[str, str] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in texts and not name.startswith("kiplint.compiled") and (text := _read(name, package)) is not None:
            texts[name] = text
            waiting += _imports(text)
    return texts


def _imports(text: str) -> Iterator[str]:
    for package, names, module in _IMPORT.findall(_FOR_TYPES.sub("", text)):
        yield module or package
        yield from (f"{package}.{name}" for name in re.findall(r"(\w+)(?:\s+as\s+\w+)?", names))


def _read(module: str, package: Traversable) -> str | None:
    """The text of a module; None for what is none."""
    return _text_of(package.joinpath(*module.split(".")[1:-1], f"{module.rpartition('.')[2]}.py")) or _text_of(
        package.joinpath(*module.split(".")[1:], "__init__.py")
    )


def _text_of(file: Traversable) -> str | None:
    return file.read_text("utf-8") if file.is_file() else None
