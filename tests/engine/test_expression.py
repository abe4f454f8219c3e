"""The expression language of rules: what it takes, what it means, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiplint.engine.errors import ExpressionError
from kiplint.engine.language import FUNCTIONS, Expressions, Hole, holes, singular_or_plural
from kiplint.versions import VersionRange
from tools import field, message

PARAMS: dict[str, Any] = {
    "words": ["a", "b"],
    "least": 3,
    "on": True,
    "table": {"Topic": "0-1"},
    "mixed": [1, "a"],
}


def value(expression: str, element: object, kind: str = "field") -> Any:
    """The value of an expression for an element."""
    return Expressions(kind, PARAMS).value(expression)(element, PARAMS)


def refusal(expression: str, kind: str = "field") -> str:
    with pytest.raises(ExpressionError) as error:
        Expressions(kind, PARAMS).value(expression)
    return str(error.value)


WHOLE = message(
    field("Topic", "[]TopicData", "1+", nullableVersions="2+", fields=[field("Name", "string"), field("Id", "uuid")]),
    field("Count", tag=3, taggedVersions="3+", default="5"),
)
TOPIC, COUNT = WHOLE.fields


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("name", "Topic"),
        ("not name", False),
        ("name in ('A', 'Topic')", True),
        ("'Topic' if is_array else 'x'", "Topic"),
        ("1 + 2 * 3 - 7 // 2 % 2", 6),
        ("1 < 2 <= 2", True),
        ("versions.lowest", 1),
        ("(versions - nullable).highest", 1),
        ("not versions & version_range('0')", True),
        ("(versions | version_range('0')).open", True),
        ("[str.lowest for str in versions.parts]", [1]),
        ("any(item.tag is not None for item in owner.fields)", True),
        ("[item.name for item in owner.fields if item.tag is None]", ["Topic"]),
        ("join(item.name for item in owner.fields)", "Topic, Count"),
        ("sorted([item.name for item in owner.fields])", ["Count", "Topic"]),
        ("min([3, 1, 2]) + max([3, 1, 2])", 4),
        ("owner.by_name['Count'].tag", 3),
        ("definition.fields[0].name", "Name"),
        ("lower(name) + upper(name)", "topicTOPIC"),
        ("startswith(name, 'To') and endswith(name, 'ic')", True),
        ("matches(name, 'T*[a-c]')", True),
        ("params.least + 1", 4),
        ("params.table[name]", "0-1"),
        ("version_range(params.table[name]).highest", 1),
        ("{'a': 1}", {"a": 1}),
        ("None", None),
        (" name ", "Topic"),
        ("name # a remark", "Topic"),
    ],
)
def test_what_expressions_mean(expression: str, result: object) -> None:
    assert value(expression, TOPIC) == result


ONE_FOR = "a comprehension must have one `for` with one variable"
NESTED = "a comprehension inside another is not part of the rule language; make it a fact"


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("name.upper()", "name.upper is not a function of the rule language; did you mean upper?"),
        ("'{0.__class__}'.format(name)", "'{0.__class__}'.format is not a function of the rule language"),
        ("().__class__.__bases__", "__class__ is not a fact"),
        ("message.__dict__['spec']", "__dict__ is not a fact"),
        ("message._valid", "_valid is not a fact; did you mean valid?"),
        ("message.spec", "spec is not a fact"),
        ("tag.real", "real is not a fact"),
        ("__builtins__", "__builtins__ is not a fact of a field"),
        ("len", "len is not a fact of a field"),
        ("verions", "verions is not a fact of a field; did you mean versions?"),
        ("owner.feilds", "feilds is not a fact; did you mean fields?"),
        ("versions.lowst", "lowst is not a fact; did you mean lowest?"),
        ("any(item.nam for item in owner.fields)", "nam is not a fact; did you mean name?"),
        ("params.leest", "leest is not a parameter of the rule; did you mean least?"),
        ("params.__class__", "__class__ is not a parameter of the rule"),
        ("[params]", "params is not a fact of a field"),
        ("__import__('os')", "__import__ is not a function of the rule language"),
        ("(len)(name)()", "len(name) is not a function of the rule language"),
        ("len(name, name)", "len() takes 1 argument"),
        ("startswith(name)", "startswith() takes 2 arguments"),
        ("len(obj=name)", "len() takes 1 argument"),
        ("max(*owner.fields)", "max() takes 1 argument"),
        ("max([1], **owner.by_name)", "max() takes 1 argument"),
        ("[a for a in owner.fields for b in owner.fields]", ONE_FOR),
        ("[a async for a in owner.fields]", ONE_FOR),
        ("[a for a, b in owner.fields]", ONE_FOR),
        ("[[b for b in owner.fields] for a in owner.fields]", NESTED),
        ("[a for a in owner.fields if any(b for b in owner.fields)]", NESTED),
        ("[name for name in owner.fields]", "name already has a meaning here; rename the variable of the "),
        ("[params for params in owner.fields]", "params already has a meaning here; "),
        ("[_a for _a in owner.fields]", "_a already has a meaning here; "),
        ("-" * 900 + "1", "it nests too deeply"),
    ],
)
def test_what_is_refused(expression: str, problem: str) -> None:
    assert refusal(expression).startswith(problem)


@pytest.mark.parametrize(
    "expression",
    [
        "lambda: 1", "f'{name}'", "(x := 1)", "(yield)", "(yield from owner.fields)", "await name",
        "{item: 1 for item in owner.fields}", "{**owner.by_name}", "~1", "+1", "2 ** 10", "9 ** 9 ** 9", "1 << 60",
        "1 / 2", "1 ^ 2", "name @ name", "tag is 3", "None is not tag",
    ],
)  # fmt: skip
def test_what_is_not_part_of_the_language(expression: str) -> None:
    assert refusal(expression) == f"{expression} is not part of the rule language"


@pytest.mark.parametrize(
    ("expression", "part"), [("[*owner.fields]", "*owner.fields"), ("name[0:1]", "0:1"), ("name[::-1]", "::-1")]
)
def test_a_part_that_is_not_part_of_the_language(expression: str, part: str) -> None:
    assert refusal(expression) == f"{part} is not part of the rule language"


@pytest.mark.parametrize("literal", ["1.5", "1000.0", "1j", "b'a'", "..."])
def test_literals_that_are_refused(literal: str) -> None:
    expected = f"{literal} is not a literal of the rule language: use strings or small integers"
    assert refusal(literal) == expected


@pytest.mark.parametrize(
    "expression",
    [
        "", "name if", "name; name", "name = 1", "import os", "\0", "(" * 400 + "1" + ")" * 400, "'", "name\nname", "*owner.fields", r"matches(name, '\d')",
    ],
)  # fmt: skip
def test_what_is_refused_in_python_s_words(expression: str) -> None:
    text = expression if len(expression) <= 60 else expression[:57] + "..."
    assert refusal(expression).startswith(f"cannot read {text}: ")


@given(st.text(max_size=40) | st.lists(st.sampled_from(
    ["name", "versions", "owner", ".", "fields", "(", ")", "[", "]", "{", "}", "for", "one", "in", " ", "if", "else", "and",
     "not", "-", "+", "*", "**", "&", "|", "1", "'a'", ",", ":", "params", "least", "len", "any", "==", "<=", "is", "None",
     "lambda", "await", "\\", "\n", "#", "_", "=", ":="]
), max_size=14).map("".join))  # fmt: skip
def test_any_text_is_taken_or_refused(expression: str) -> None:
    try:
        Expressions("field", PARAMS).value(expression)
    except ExpressionError as error:
        assert str(error)


def test_functions_know_no_other_names() -> None:
    function = Expressions("field", PARAMS).value("any(item.tag == params.least for item in owner.fields)")
    assert function.__globals__["__builtins__"] == {}
    assert {name for name in function.__globals__ if not name.startswith("_")} == {*FUNCTIONS}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("plain", [Hole("plain", None)]),
        ("", []),
        ("{name}", [Hole("", "name")]),
        ("a {name} b {tag} c", [Hole("a ", "name"), Hole(" b ", "tag"), Hole(" c", None)]),
        ("{{a}} {name}", [Hole("{", None), Hole("a}", None), Hole(" ", "name")]),
        ("{tag:field|fields} x", [Hole("", "tag", ("field", "fields")), Hole(" x", None)]),
        ("{tag:|s}", [Hole("", "tag", ("", "s"))]),
        ("{versions | present:it|them}", [Hole("", "versions | present", ("it", "them"))]),
        ("{tag:it's|they're} {name}", [Hole("", "tag", ("it's", "they're")), Hole(" ", "name")]),
        ("{params['a:b']}", [Hole("", "params['a:b']")]),
    ],
)
def test_holes(text: str, parts: list[Hole]) -> None:
    assert holes(text) == parts


@pytest.mark.parametrize("text", ["a {name", "{", "a } b", "a {tag:one|many", "{name != 'a'}"])
def test_holes_that_cannot_be_read(text: str) -> None:
    with pytest.raises(ExpressionError, match="^cannot parse the expressions in "):
        holes(text)


@pytest.mark.parametrize(
    ("value", "single"),
    [
        (0, False),
        (1, True),
        (None, False),
        ([], False),
        (["a"], True),
        ({"a": 1}, True),
        *((VersionRange.parse(text), text in ("0", "3", "32767")) for text in ("none", "0", "3", "0-1", "3+", "32767")),
        (VersionRange([(0, 0), (2, 2)]), False),
    ],
)
def test_words_by_number(value: object, single: bool) -> None:
    assert singular_or_plural(value, "one", "many") == ("one" if single else "many")
