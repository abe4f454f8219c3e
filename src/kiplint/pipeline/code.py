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
    """A module: its name, its source, and whether what its functions import counts too."""

    name: str
    source: bytes
    is_package: bool
    whole: bool


def code_id(module: str, package: Traversable | None = None) -> str:
    """An id of a module, all that it imports from this package, and the version.

    `package` is the directory of another copy of the package than the one that runs, wherever it lies.
    """
    digest = sha256(__version__.encode())
    for one in sorted(_closure(module, package or files(PACKAGE))):
        digest.update(b"\0" + one.name.encode() + b"\0" + sha256(one.source).digest())
    return digest.hexdigest()[:16]


def modules_of(module: str, package: Traversable | None = None) -> tuple[str, ...]:
    """The names of the modules that `code_id` is made of, in order."""
    return tuple(sorted({one.name for one in _closure(module, package or files(PACKAGE))}))


@cache
def _closure(module: str, package: Traversable) -> frozenset[Module]:
    found: dict[tuple[str, bool], Module] = {}
    todo = [(module, True)]
    while todo:
        name, whole = todo.pop()
        if (name, whole) in found or (name, True) in found:
            continue
        one = _read(name, package, whole)
        if one:
            found[name, whole] = one
            todo += [(parent, False) for parent in _parents(name)]
            todo += [(name, name != PACKAGE) for name in _imports(one, package)]
    return frozenset(found[key] for key in found if key[1] or (key[0], True) not in found)


def _parents(name: str) -> Iterator[str]:
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


@cache
def _read(name: str, package: Traversable, whole: bool) -> Module | None:
    """A module of the package, None when there is none of this name."""
    first, *parts = name.split(".")
    if first != PACKAGE:
        return None
    folder = package.joinpath(*parts, "__init__.py")
    file = package.joinpath(*parts[:-1], f"{parts[-1]}.py") if parts else folder
    for place in (file, folder):
        if place.is_file():
            return Module(name, place.read_bytes(), place == folder, whole)
    return None


@cache
def _imports(module: Module, package: Traversable) -> frozenset[str]:
    """The modules of the package that a module imports; names that it takes out of a module are no modules."""
    return frozenset(
        name
        for statement in _statements(_parsed(module.source), whole=module.whole)
        for name in _named(statement, module, package)
        if _read(name, package, True)
    )


def _parsed(source: bytes) -> ast.Module:
    """As much of a source as has imports: mostly its first lines, and they take a tenth of the time of it all."""
    if not INNER.search(source):
        end = max((found.end() for found in IMPORT.finditer(source)), default=0)
        with suppress(SyntaxError):
            return ast.parse(source[:end])
    return ast.parse(source)


def _statements(node: ast.AST, *, whole: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield node
    elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        for child in node.orelse:
            yield from _statements(child, whole=whole)
    elif whole or not isinstance(node, FUNCTIONS):
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.expr):
                yield from _statements(child, whole=whole)


def _named(statement: ast.Import | ast.ImportFrom, module: Module, package: Traversable) -> Iterator[str]:
    if isinstance(statement, ast.Import):
        yield from (alias.name for alias in statement.names)
        return
    base = statement.module or ""
    if statement.level:
        steps = statement.level - module.is_package
        base = ".".join([*module.name.split(".")[: -steps or None], *base.split(".")]).rstrip(".")
    for alias in statement.names:
        inner = f"{base}.{alias.name}"
        yield inner if _read(inner, package, True) else base
