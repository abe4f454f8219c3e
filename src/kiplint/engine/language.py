"""The language of rules: the kinds of elements, their facts, the functions, and expressions over them.

Expressions are a whitelist over Python's syntax trees. Every name is a fact of the element, a name of the rule's `let`,
`params`, or the variable of a comprehension; every attribute is a fact of some kind of element; every call is one of
the language's functions. Anything else is rejected.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from fnmatch import fnmatchcase
from functools import cache, cached_property
from string import Formatter
from typing import Any, Final, NamedTuple

import msgspec

from kiplint.engine.errors import ExpressionError
from kiplint.model.fields import Container, Field, Struct
from kiplint.model.headers import HeaderRange
from kiplint.model.load import ProblemElement
from kiplint.model.message import Message
from kiplint.model.notes import Note
from kiplint.model.schemas import Rpc, SchemaSet
from kiplint.text.words import did_you_mean
from kiplint.versions import VersionRange

KINDS: dict[str, type] = {
    "problem": ProblemElement,
    "message": Message,
    "struct": Struct,
    "field": Field,
    "header_range": HeaderRange,
    "note": Note,
    "rpc": Rpc,
    "set": SchemaSet,
}
"""The class of each kind of element."""
RANGE_FACTS = ("lowest", "highest", "open", "parts")
"""The facts of a version range."""
ELEMENT_NAMES: dict[str, Collection[str]] = {}
"""By kind whose rules are each about the elements with their own id: the names that these elements may have."""


def register(kind: str, element_class: type, names: Collection[str]) -> None:
    """Register a further kind of element that rules can be about, for a package above the engine.

    `names` are the names of the elements: a rule without `when` is about those with its id, and is rejected if there is
    no such name.
    """
    KINDS[kind] = element_class
    ELEMENT_NAMES[kind] = tuple(names)
    facts.cache_clear()
    all_facts.cache_clear()


@cache
def facts(kind: str) -> frozenset[str]:
    """The names of the facts of a kind of element: its public attributes, without methods."""
    return facts_of(KINDS[kind])


@cache
def all_facts() -> frozenset[str]:
    """The names of the facts of all kinds of elements, and of version ranges."""
    return frozenset(RANGE_FACTS).union(facts_of(Container), *map(facts, KINDS))


@cache
def facts_of(element_class: type) -> frozenset[str]:
    """The names of the facts of a class: of its annotated attributes and cached properties, except private ones."""
    names: set[str] = set()
    for base in element_class.__mro__:
        names.update(getattr(base, "__annotations__", ()))
        names.update(name for name, value in vars(base).items() if isinstance(value, cached_property))
    return frozenset(name for name in names if not name.startswith("_"))


class Function(NamedTuple):
    """A function of the language: the Python function, how many arguments it takes, and its result for the reference.

    `returns` is the type of the result, such as "`int`", and `about` a sentence on it.
    """

    call: Callable[..., Any]
    arguments: int
    returns: str
    about: str


def _quote(text: str) -> str:
    """A text as a JSON string; `?` stands for what UTF-8 cannot encode."""
    return msgspec.json.encode(text.encode(errors="replace").decode()).decode()


def join(items: Iterable[object]) -> str:
    """The items as text, with commas between them."""
    return ", ".join(map(str, items))


FUNCTIONS: dict[str, Function] = {
    "len": Function(len, 1, "`int`", "The number of items or characters."),
    "any": Function(any, 1, "`bool`", "Whether any item is true."),
    "all": Function(all, 1, "`bool`", "Whether every item is true."),
    "min": Function(min, 1, "an item", "The smallest item."),
    "max": Function(max, 1, "an item", "The largest item."),
    "sorted": Function(sorted, 1, "the items", "The items in order."),
    "join": Function(join, 1, "`str`", "The items as text, with commas between them."),
    "lower": Function(str.lower, 1, "`str`", "The text in lowercase."),
    "upper": Function(str.upper, 1, "`str`", "The text in uppercase."),
    "quoted": Function(_quote, 1, "`str`", "The text as a JSON string, in double quotes."),
    "startswith": Function(str.startswith, 2, "`bool`", "Whether the text begins with another."),
    "endswith": Function(str.endswith, 2, "`bool`", "Whether the text ends with another."),
    "matches": Function(fnmatchcase, 2, "`bool`", "Whether the text matches a pattern with `*`, `?` and `[...]`."),
    "version_range": Function(
        VersionRange.parse, 1, "`VersionRange`", 'The version range that a text such as "3+" means.'
    ),
}


LONGEST_SHOWN = 500


def as_text(value: Any) -> str:
    """A value as text of at most 500 characters; the items of a collection are separated by commas."""
    # A parameter that is a list of words is a dict.
    text = join(value) if type(value) in (list, tuple, set, frozenset, dict) else str(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def singular_or_plural(value: Any, singular: str, plural: str) -> str:
    """The text for the hole `{value:singular|plural}`: `singular` for a single thing, otherwise `plural`.

    A single thing is the number 1, a range of a single version (`3`, but not `3+`, `0-1` or `none`), or a list, set or
    mapping with a single item. None takes the plural.
    """
    if isinstance(value, VersionRange):
        is_single = bool(value) and value.lowest == value.highest
    elif isinstance(value, int) or value is None:
        is_single = value == 1
    else:
        is_single = len(value) == 1
    return singular if is_single else plural


_PLAIN: Final = (ast.IfExp, ast.Tuple, ast.List, ast.Set, ast.Subscript)
_OPERATORS: Final = (
    ast.boolop, ast.Not, ast.USub, ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.BitAnd, ast.BitOr
)  # fmt: skip
_AT: Final[Any] = {"lineno": 1, "col_offset": 0}
"""The position of the nodes that are added to a tree."""
_LOAD, _STORE = ast.Load(), ast.Store()
_ELEMENT: Final = ast.Name("_element", _LOAD, **_AT)
_PARAMS: Final = ast.Name("_params", _LOAD, **_AT)
_NAMES: Final[dict[str, Any]] = {
    "__builtins__": {},
    "_text": as_text,
    "_word": singular_or_plural,
    **{name: function.call for name, function in FUNCTIONS.items()},
}


class Hole(NamedTuple):
    """The text before a hole of a template, the expression in the hole, and its words for the singular and the plural.

    The expression is None at the end of the template; there are no words where the hole shows the value itself.
    """

    before: str
    expression: str | None
    words: tuple[str, ...] = ()


def holes(template: str) -> list[Hole]:
    """The holes of a template such as `in {versions}`, each with the text before it. Raises ExpressionError.

    `{{` and `}}` are braces; `{number:version|versions}` is a hole with words.
    """
    result = []
    try:
        parts = list(Formatter().parse(template))
    except ValueError as error:
        raise ExpressionError(f"cannot parse the expressions in {short(template)}: {error}") from None
    for before, expression, format_spec, conversion in parts:
        words = tuple(format_spec.split("|")) if format_spec else ()
        if conversion or len(words) not in (0, 2):
            hole = f"{expression}!{conversion}" if conversion else f"{expression}:{format_spec}"
            raise ExpressionError(f"{{{short(hole)}}} needs a singular and a plural, as in {{number:version|versions}}")
        result.append(Hole(before, expression, words))
    return result


def split_location(text: str) -> tuple[str, str]:
    """The two parts of a rule's `at`: an expression for the element to point to, and the property of that element.

    `request.apiKey` has the parts `request` and `apiKey`. `apiKey` alone has an empty expression, which means
    the element that violates the rule. The property may have holes; dots in holes do not separate the parts.
    """
    match = re.fullmatch(r"(?s)(?:(.*)\.)?((?:[^.{}]|\{[^{}]*\})*)", text)
    return (match[1] or "", match[2]) if match else ("", text)


def short(text: str) -> str:
    """A text as errors quote it: if it has over 60 characters, the first 57 and three dots."""
    return text if len(text) <= 60 else text[:57] + "..."


class Expressions(ast.NodeTransformer):
    """Compiles the expressions of one rule: over the facts of a kind of element, with the names of its parameters.

    It turns the tree of an expression into that of Python code over two variables: `_element` and `_params`.
    """

    def __init__(self, kind: str, params: Collection[str] = ()) -> None:
        self.kind = kind
        self._facts = facts(kind)
        self._params = params
        self._lets: dict[str, ast.expr] = {}
        self._variable = ""  # that of the comprehension that is being visited; empty outside one

    def let(self, name: str, text: str) -> None:
        """Let later expressions use `name` for the expression `text`. Raises ExpressionError."""
        is_taken = name in self._facts or name in FUNCTIONS or name == "params"
        if is_taken or not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
            raise ExpressionError(f"{name} is reserved or not a valid name; choose another one")
        self._lets[name] = self.tree(text)

    def tree(self, text: str) -> ast.expr:
        """An expression as the tree of Python code over `_element` and `_params`. Raises ExpressionError."""
        try:
            result: ast.expr = self.visit(parse(text))
        except RecursionError:
            raise ExpressionError("it nests too deeply") from None
        return result

    def value(self, text: str) -> Callable[[Any, Any], Any]:
        """The function that takes an element and the parameters, and returns the value of an expression."""
        return _function("_element", self.tree(text))

    def template(self, text: str) -> Callable[[Any, Any], str]:
        """The function that takes an element and the parameters, and returns a template with its holes filled."""
        parts: list[ast.expr] = []  # of an f-string
        for before, expression, words in holes(text):
            parts.append(ast.Constant(before, **_AT))
            if expression is not None:
                function = ast.Name("_word" if words else "_text", _LOAD, **_AT)
                arguments = [self.tree(expression), *(ast.Constant(item, **_AT) for item in words)]
                parts.append(ast.FormattedValue(ast.Call(function, arguments, [], **_AT), conversion=-1, **_AT))
        return _function("_element", ast.JoinedStr(parts, **_AT))

    def filter(self, conditions: Sequence[str]) -> Callable[[Iterable[Any], Any], list[Any]]:
        """The function that takes elements and the parameters, and returns the elements for which all conditions hold.

        An empty condition always holds.
        """
        target, elements = ast.Name("_element", _STORE, **_AT), ast.Name("_elements", _LOAD, **_AT)
        loop = ast.comprehension(target, elements, [self.tree(text) for text in conditions if text], is_async=0)
        return _function("_elements", ast.ListComp(_ELEMENT, [loop], **_AT))

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Keep a node of any other type if it is in the language, otherwise raise ExpressionError, as all visits do."""
        if isinstance(node, ast.expr) and not _is_plain(node):
            raise ExpressionError(f"{short(ast.unparse(node))} is not part of the rule language")
        return super().generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        """Keep a literal: text, a whole number, a truth value or None."""
        if node.value is None or isinstance(node.value, (bool, int, str)):
            return node
        text = ast.unparse(node)[:40]
        raise ExpressionError(f"{text} is not a literal of the rule language: use strings or small integers")

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Turn a fact into an attribute of `_element`, and a name of `let` into its expression; keep a variable."""
        name = node.id
        if name == self._variable:
            return ast.Name(name, _LOAD, **_AT)
        if name in self._lets:
            return self._lets[name]
        if name in self._facts:
            return ast.Attribute(_ELEMENT, name, _LOAD, **_AT)
        kind = self.kind.replace("_", " ")
        raise _unknown(name, f"a fact of a {kind}", [*self._facts, *self._lets, self._variable, "params"])

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Turn `params.most` into `_params["most"]`, and keep a fact of another element, such as `owner.name`."""
        if isinstance(node.value, ast.Name) and node.value.id == "params":
            if node.attr not in self._params:
                raise _unknown(node.attr, "a parameter of the rule", self._params)
            return ast.Subscript(_PARAMS, ast.Constant(node.attr, **_AT), _LOAD, **_AT)
        node.value = self.visit(node.value)
        if node.attr not in all_facts():
            raise _unknown(node.attr, "a fact", all_facts())
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        """Keep a call of one of the language's functions with as many arguments as it takes."""
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name not in FUNCTIONS:
            raise _unknown(name or ast.unparse(node.func), "a function of the rule language", FUNCTIONS)
        count = FUNCTIONS[name].arguments
        if node.keywords or len(node.args) != count or any(isinstance(item, ast.Starred) for item in node.args):
            raise ExpressionError(f"{name}() takes {count} argument{'s' * (count != 1)}")
        node.args = [self.visit(item) for item in node.args]
        return node

    def _comprehension(self, node: ast.GeneratorExp | ast.ListComp | ast.SetComp) -> ast.expr:
        """Keep a comprehension over one variable, which its conditions and its item may use."""
        loop = node.generators[0]
        if len(node.generators) > 1 or loop.is_async or not isinstance(loop.target, ast.Name):
            raise ExpressionError("a comprehension must have one `for` with one variable")
        if self._variable:
            raise ExpressionError("a comprehension inside another is not part of the rule language; make it a fact")
        name = loop.target.id
        if name in self._facts or name in self._lets or name in FUNCTIONS or name == "params" or name.startswith("_"):
            raise ExpressionError(f"{name} already has a meaning here; rename the variable of the comprehension")
        loop.iter = self.visit(loop.iter)
        self._variable = name
        try:
            loop.ifs = [self.visit(condition) for condition in loop.ifs]
            node.elt = self.visit(node.elt)
        finally:
            self._variable = ""
        return node

    visit_GeneratorExp = visit_ListComp = visit_SetComp = _comprehension  # noqa: N815


def parse(text: str) -> ast.expr:
    """The syntax tree of a text that is a Python expression. Raises ExpressionError if it is none."""
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else "it nests too deeply or contains a NUL"
        raise ExpressionError(f"cannot read {short(text)}: {reason}") from None


def _is_plain(node: ast.expr) -> bool:
    """Whether a node is in the language; the nodes inside it are checked when they are visited."""
    if isinstance(node, ast.Compare):
        for operator, operand in zip(node.ops, node.comparators, strict=True):
            is_none = isinstance(operand, ast.Constant) and operand.value is None
            if isinstance(operator, (ast.Is, ast.IsNot)) and not is_none:
                return False  # `is` is there for `is None` only
        return True
    if isinstance(node, ast.Dict):
        return None not in node.keys  # as it is for `{**other}`
    if isinstance(node, (ast.BoolOp, ast.UnaryOp, ast.BinOp)):
        return isinstance(node.op, _OPERATORS)
    return isinstance(node, _PLAIN)


def _function(first_parameter: str, body: ast.expr) -> Callable[[Any, Any], Any]:
    """The Python function with two parameters, the second one `_params`, that returns the value of `body`."""
    arguments = [ast.arg(name, **_AT) for name in (first_parameter, "_params")]
    signature = ast.arguments([], arguments, None, [], [], None, [])
    tree = ast.Expression(ast.Lambda(signature, body, **_AT))
    result: Callable[[Any, Any], Any] = eval(compile(tree, "<rule>", "eval"), _NAMES)
    return result


def _unknown(name: str, what: str, names: Iterable[str]) -> ExpressionError:
    """The error for a name that is not, for example, `a function of the rule language`; `names` are the valid ones."""
    return ExpressionError(f"{short(name)} is not {what}{did_you_mean(name, sorted(names))}")
