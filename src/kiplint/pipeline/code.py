"""What the results of a module depend on: the text of all modules of this package that it imports, and they in turn.

Read from the source, so that nothing is imported to know it, and no list is kept by hand: whoever imports a module
depends on it, also from inside a function. Imports for type checkers alone do not count. Of a package that is only
passed through on the way to a module of it, what runs counts: its text, and what it imports outside functions. The
outermost is always passed through: its functions are the library's door, and nothing inside goes out by it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple

from kiplint import __version__

PACKAGE = "kiplint"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
IMPORT = re.compile(rb"^(?:from|import)\b[^\n(]*(?:\([^)]*\))?", re.MULTILINE)
INNER = re.compile(rb"(?:^[ \t]+|[;:][ \t]*)(?:from|import)\b", re.MULTILINE)


class Module(NamedTuple):
    """A module: its name, its source, and whether it is a package."""

    name: str
    source: bytes
    is_package: bool


class Code:
    """The source of a copy of this package, as it is when it is first read; `place` is the package's directory."""

    def __init__(self, place: Traversable) -> None:
        self._place = place
        self._modules: dict[str, Module | None] = {}
        self._imports: dict[tuple[str, bool], frozenset[str]] = {}

    def module(self, name: str) -> Module | None:
        """A module of the package, None when there is none of this name."""
        if name not in self._modules:
            self._modules[name] = self._read(name)
        return self._modules[name]

    def closure(self, name: str) -> list[Module]:
        """A module and all that it imports from the package, in the order of names. Raises KeyError for no module."""
        done: set[tuple[str, bool]] = set()
        todo = [(name, True)]
        while todo:
            one = todo.pop()
            if one not in done:
                done.add(one)
                todo += [(parent, False) for parent in _parents(one[0])]
                todo += [(other, other != PACKAGE) for other in self._imported(*one)]
        return [self._known(one) for one in sorted({name for name, _ in done})]

    def _known(self, name: str) -> Module:
        found = self.module(name)
        if not found:
            raise KeyError(name)
        return found

    def _read(self, name: str) -> Module | None:
        first, *parts = name.split(".")
        if first == PACKAGE:
            folder = self._place.joinpath(*parts, "__init__.py")
            file = self._place.joinpath(*parts[:-1], f"{parts[-1]}.py") if parts else folder
            for place in (file, folder):
                if place.is_file():
                    return Module(name, place.read_bytes(), place == folder)
        return None

    def _imported(self, name: str, whole: bool) -> frozenset[str]:
        """The modules that a module imports; for one that is not `whole`, only outside functions."""
        if (name, whole) not in self._imports:
            module = self._known(name)
            found = (self._named(one, module) for one in statements(module.source, whole=whole))
            self._imports[name, whole] = frozenset(other for names in found for other in names if self.module(other))
        return self._imports[name, whole]

    def _named(self, statement: ast.Import | ast.ImportFrom, module: Module) -> Iterator[str]:
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
            return
        base = statement.module or ""
        if statement.level:
            steps = statement.level - module.is_package
            base = ".".join([*module.name.split(".")[: -steps or None], *base.split(".")]).rstrip(".")
        for alias in statement.names:
            inner = f"{base}.{alias.name}"
            yield inner if self.module(inner) else base


def code_id(module: str, code: Code | None = None) -> str:
    """An id of a module, all that it imports from this package, and the version; of the code that runs, or a copy."""
    digest = sha256(__version__.encode())
    for one in (code or running()).closure(module):
        digest.update(b"\0" + one.name.encode() + b"\0" + sha256(one.source).digest())
    return digest.hexdigest()[:16]


@cache
def running() -> Code:
    """The code that runs, wherever it lies: in a directory or in an archive."""
    return Code(files(PACKAGE))


def statements(source: bytes, *, whole: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports of a source that run; those in functions only if `whole`."""
    yield from _statements(parsed(source), whole)


def parsed(source: bytes) -> ast.Module:
    """As much of a source as has imports: mostly its first lines, and they take a tenth of the time of it all."""
    if not INNER.search(source):
        end = max((found.end() for found in IMPORT.finditer(source)), default=0)
        with suppress(SyntaxError):
            return ast.parse(source[:end])
    return ast.parse(source)


def _statements(node: ast.AST, whole: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield node
        return
    if isinstance(node, FUNCTIONS) and not whole:
        return
    for_types = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
    for child in node.orelse if isinstance(node, ast.If) and for_types else ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield from _statements(child, whole)


def _parents(name: str) -> Iterator[str]:
    while "." in name:
        name = name.rpartition(".")[0]
        yield name
