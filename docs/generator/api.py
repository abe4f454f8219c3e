"""The public classes of the Python API, and the types of their attributes."""

from __future__ import annotations

import ast
import inspect
import textwrap
from dataclasses import dataclass
from functools import cache
from typing import Final

INTERNAL: Final = frozenset({"UsageError.word"})
ATTRIBUTES: Final = frozenset({"property", "cached_property"})


@dataclass(frozen=True)
class Attribute:
    """A public attribute or method: its name, its type or signature as written, and its docstring."""

    name: str
    type: str
    about: str
    is_method: bool = False


def attributes(kind: type) -> dict[str, Attribute]:
    """The public attributes and methods of a class by name, inherited ones included."""
    members: dict[str, Attribute] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.partition(".")[0] == "kiplint":
            for name, member in _own(base).items():
                if member is None or f"{kind.__name__}.{name}" in INTERNAL:
                    members.pop(name, None)
                else:
                    about = member.about or (members[name].about if name in members else "")
                    members[name] = Attribute(name, member.type, about, member.is_method)
    return members


@cache
def _own(kind: type) -> dict[str, Attribute | None]:
    """The members that a class itself declares; None for those that are not public."""
    body = _definition(kind).body
    members: dict[str, Attribute | None] = {}
    for statement, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            name, member = statement.target.id, _field(statement, following)
        elif isinstance(statement, ast.FunctionDef):
            name, member = statement.name, _method(statement)
        else:
            continue
        if not name.startswith("_"):
            members[name] = member
    return members


def _definition(kind: type) -> ast.ClassDef:
    [definition] = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(definition, ast.ClassDef)
    return definition


def _field(statement: ast.AnnAssign, following: ast.stmt | None) -> Attribute | None:
    """An annotated attribute. Its description is in the annotation, or is the string below it."""
    assert isinstance(statement.target, ast.Name)
    annotation, about = statement.annotation, ""
    if isinstance(annotation, ast.Name) and annotation.id == "ClassVar":
        return None
    if isinstance(annotation, ast.Subscript) and isinstance(annotation.value, ast.Name):
        if annotation.value.id == "ClassVar":
            return None
        if annotation.value.id == "Annotated":
            assert isinstance(annotation.slice, ast.Tuple)
            annotation, *marks = annotation.slice.elts
            texts = [node.value for mark in marks for node in ast.walk(mark) if isinstance(node, ast.Constant)]
            about = next((text for text in texts if isinstance(text, str)), "")
    if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
        about = inspect.cleandoc(str(following.value.value))
    return Attribute(statement.target.id, ast.unparse(annotation), about)


def _method(statement: ast.FunctionDef) -> Attribute | None:
    """A property, a fact or a method."""
    decorators = {node.id for node in statement.decorator_list if isinstance(node, ast.Name)}
    about = ast.get_docstring(statement) or ""
    return_type = ast.unparse(statement.returns) if statement.returns else "None"
    if decorators & ATTRIBUTES:
        return Attribute(statement.name, return_type, about)
    return Attribute(statement.name, f"({', '.join(_arguments(statement))}) -> {return_type}", about, is_method=True)


def _arguments(statement: ast.FunctionDef) -> list[str]:
    """The parameters as written, without `self`."""
    arguments = statement.args
    plain = arguments.posonlyargs + arguments.args
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults))
    arguments_with_defaults = list(zip(plain, [*defaults, *arguments.defaults], strict=True))
    texts = [
        _argument(argument, default)
        for argument, default in arguments_with_defaults
        if argument.arg not in ("self", "cls")
    ]
    if arguments.vararg:
        texts.append(f"*{_argument(arguments.vararg, None)}")
    elif arguments.kwonlyargs:
        texts.append("*")
    texts += [
        _argument(argument, default)
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    if arguments.kwarg:
        texts.append(f"**{_argument(arguments.kwarg, None)}")
    return texts


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    text = argument.arg + (f": {ast.unparse(argument.annotation)}" if argument.annotation else "")
    return f"{text} = {ast.unparse(default)}" if default else text
