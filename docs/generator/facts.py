"""The reference of the rule language: kinds of elements, their facts, and functions."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from generator.markdown import anchor, code, page, prose, table
from kiplint.compat.change import Kind
from kiplint.engine.language import FUNCTIONS, KINDS, RANGE_FACTS, facts_of
from kiplint.engine.packs import shipped_rules
from kiplint.model.fields import Container
from kiplint.versions import VersionRange

CLASSES = {element.__name__: element for element in (*KINDS.values(), Container, VersionRange)}

INTRODUCTION = """\
The language of rule expressions. [Writing rules](../guide/writing-rules.md) shows how to use it.

A rule looks at one kind of element (`each`). In its expressions, the facts of that element are names, as in `tag`; the
facts of another element follow a dot, as in `message.flexible`. Types are written as in Python; the facts of a class
are in the section below with its name."""
RANGES = """\
A set of versions, shown as Kafka writes it (`3`, `0-2`, `3+`, `none`). Ranges can be compared (`<=` is "within", `==`)
and combined (`&` in both, `|` in either, `-` in the first only); an empty one is false.
"""
OTHERS = "The facts that messages and structs share: the type of `owner`."


class Fact(NamedTuple):
    """A fact: its name, its type as written, and what it means."""

    name: str
    type: str
    about: str


@cache
def facts(class_name: str) -> dict[str, Fact]:
    """The described facts of a class of elements, by name; for `VersionRange` its members."""
    kind = CLASSES[class_name]
    names = RANGE_FACTS if kind is VersionRange else facts_of(kind)
    found: dict[str, Fact] = {}
    for base in reversed(kind.__mro__):
        for fact in _own(base) if base.__module__.startswith("kiplint.") else ():
            about = fact.about or (found[fact.name].about if fact.name in found else "")
            found[fact.name] = fact._replace(about=about)
    return {name: fact for name, fact in found.items() if name in names and fact.about}


def _own(kind: type) -> Iterator[Fact]:
    """The annotated attributes and the properties that a class itself declares."""
    [definition] = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(definition, ast.ClassDef)
    for statement, following in pairwise([*definition.body, ast.Pass()]):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            yield _attribute(statement.target.id, statement.annotation, following)
        elif isinstance(statement, ast.FunctionDef) and statement.returns:
            yield Fact(statement.name, ast.unparse(statement.returns), ast.get_docstring(statement) or "")


def _attribute(name: str, annotation: ast.expr, following: ast.stmt) -> Fact:
    """An annotated attribute. Its description is in the annotation, or is the string below it."""
    about = ""
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "Annotated":
        assert isinstance(annotation.slice, ast.Tuple)
        annotation, *marks = annotation.slice.elts
        texts = (node.value for mark in marks for node in ast.walk(mark) if isinstance(node, ast.Constant))
        about = next((text for text in texts if isinstance(text, str)), "")
    if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
        about = inspect.cleandoc(str(following.value.value))
    return Fact(name, ast.unparse(annotation), about)


def make() -> str:
    """The page `reference/facts.md`."""
    sections = [_element(heading, class_name) for heading, class_name in _headings().items()]
    return page("Facts and functions", INTRODUCTION, *sections, _changes(), f"## Functions\n\n{_functions()}")


def _headings() -> dict[str, str]:
    """The sections by heading: every kind of element, then what else has facts."""
    kinds = {kind: element.__name__ for kind, element in KINDS.items()}
    others = {name: name for name in CLASSES if name not in kinds.values()}
    return {**kinds, **others, "VersionRange": "VersionRange"}


def _changes() -> str:
    """The kinds of changes, in the words of their rules."""
    titles = {rule.spec.id: rule.title for rule in shipped_rules() if rule.pack == "compat"}
    rows = ([code(kind.label), code(kind.rule), prose(f"{titles[kind.rule]}.")] for kind in Kind)
    return f"## Kinds of changes\n\n{table(['kind', 'name', 'what it is'], rows)}"


def _element(heading: str, class_name: str) -> str:
    anchors = {name: anchor(head) for head, name in _headings().items()}
    rows = [[code(fact.name), _type(fact.type, anchors), prose(fact.about)] for fact in facts(class_name).values()]
    note = "" if heading == class_name else f" Its class is `{class_name}`."
    return f"## {heading}\n\n{_about(class_name)}{note}\n\n{table(['fact', 'type', 'meaning'], rows)}"


def _about(class_name: str) -> str:
    """The first paragraph of the docstring of a kind of element."""
    if class_name not in {element.__name__ for element in KINDS.values()}:
        return RANGES.strip() if class_name == "VersionRange" else OTHERS
    text = CLASSES[class_name].__doc__ or ""
    return prose(text.split("\n\n")[0].replace("\n", " "))


def _type(annotation: str, anchors: dict[str, str]) -> str:
    plain, optional, _ = annotation.partition(" | None")
    places = [anchors[name] for name in re.findall(r"\w+", plain) if name in anchors]
    text = f"[{code(plain)}](#{places[-1]})" if places else code(plain)
    return f"{text} or `None`" if optional else text


def _functions() -> str:
    """The functions that expressions can call."""
    arguments = ("x", "x, y")
    rows = [
        [code(f"{name}({arguments[function.arguments - 1]})"), function.returns, prose(function.about)]
        for name, function in FUNCTIONS.items()
    ]
    return table(["function", "gives", "meaning"], rows)
