"""The expression language of rules: what it takes, what it means, and what it refuses."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kiplint.engine.errors import ExpressionError
from kiplint.engine.expression import BIGGEST_NUMBER, MOST_LEVELS, Words, element_of, translate
from kiplint.engine.language import KINDS, facts
from kiplint.engine.rule import ConditionalSeverity, Level, Rule, RuleSpec, type_of
from kiplint.engine.ruleset import Compiled, Hit, Violation
from kiplint.engine.runtime import FUNCTIONS, as_text
from kiplint.engine.translate import TemplatePart, compile_in_memory, split_place, template_parts
from kiplint.versions import VersionRange
from tools import field, message, rpc, schema_set

PARAMS: dict[str, Any] = {
    "words": ["a", "b"],
    "least": 3,
    "on": True,
    "table": {"Topic": "0-1"},
    "mixed": [1, "a"],
}
TYPES = {name: type_of(value) for name, value in PARAMS.items()}


def rule(
    kind: Any = "field", *, levels: list[ConditionalSeverity] | None = None, severity: Level = "error", **parts: Any
) -> Rule:
    spec = RuleSpec(id="r", each=kind, why="", **{"message": "said", **parts}, levels=levels or [])
    return Rule(pack="p", spec=spec, severity=severity, source="", params=PARAMS, origin="p.json")


def value(expression: str, element: object, kind: str = "field") -> Any:
    """The value of an expression for an element."""
    text = ast.unparse(translate(expression, words(kind)).tree)
    names = {name: function.call for name, function in FUNCTIONS.items()}
    return eval(text, {"__builtins__": {}, "e": element, "params": PARAMS, **names})


def words(kind: str) -> Words:
    return Words(KINDS[kind].__name__, "e", TYPES)


def refusal(expression: str, kind: str = "field") -> str:
    with pytest.raises(ExpressionError) as error:
        translate(expression, words(kind))
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
        ("name == 'Topic' and tag is None", True),
        ("name != 'Topic' or is_array", True),
        ("name in ('A', 'Topic')", True),
        ("name not in ['Topic']", False),
        ("'Topic' if is_array else 'x'", "Topic"),
        ("1 + 2 * 3 - 7 // 2 % 2", 6),
        ("-1", -1),
        ("1 < 2 <= 2", True),
        ("'a' + name", "aTopic"),
        ("versions.lowest", 1),
        ("(versions - nullable).highest", 1),
        ("nullable <= versions", True),
        ("not versions & version_range('0')", True),
        ("(versions | version_range('0')).open", True),
        ("[str.lowest for str in versions.parts]", [1]),
        ("len(owner.fields)", 2),
        ("any(item.tag is not None for item in owner.fields)", True),
        ("all(item.tag is None for item in owner.fields)", False),
        ("[item.name for item in owner.fields if item.tag is None]", ["Topic"]),
        ("{item.name for item in owner.fields}", {"Topic", "Count"}),
        ("join(item.name for item in owner.fields)", "Topic, Count"),
        ("sorted([item.name for item in owner.fields])", ["Count", "Topic"]),
        ("min([3, 1, 2]) + max([3, 1, 2])", 4),
        ("owner.by_name['Count'].tag", 3),
        ("[item for item in message.fields][1].name", "Count"),
        ("definition.fields[0].name", "Name"),
        ("message.structs_by_name['TopicData'].field.name", "Topic"),
        ("message.schemas.messages[0].name", "XRequest"),
        ("lower(name) + upper(name)", "topicTOPIC"),
        ("startswith(name, 'To') and endswith(name, 'ic')", True),
        ("matches(name, 'T*[a-c]')", True),
        ("params.least + 1", 4),
        ("params.on", True),
        ("params.words[0]", "a"),
        ("params.table[name]", "0-1"),
        ("version_range(params.table[name]).highest", 1),
        ("{'a': 1}", {"a": 1}),
        ("()", ()),
        ("{1, 2}", {1, 2}),
        ("None", None),
        (" name ", "Topic"),
        ("name # a remark", "Topic"),
    ],
)
def test_what_expressions_mean(expression: str, result: object) -> None:
    assert value(expression, TOPIC) == result


@pytest.mark.parametrize(
    ("kind", "expression", "result"),
    [
        ("message", "valid.highest", 5),
        ("message", "[field.name for field in all_fields]", ["Topic", "Count", "Name", "Id"]),
        ("struct", "name + ' in ' + message.name", "TopicData in XRequest"),
        ("rpc", "request.valid == response.valid", True),
        ("rpc", "lagging.name", "AResponse"),
        ("set", "len(rpcs)", 1),
        ("header_range", "previous is None and is_first", True),
    ],
)
def test_every_kind_of_element(kind: str, expression: str, result: object) -> None:
    pair = schema_set(*rpc("A", 1, "0"))
    request = message(headerVersions={"0+": "1"})
    elements = {
        "message": WHOLE,
        "struct": WHOLE.structs[0],
        "rpc": pair.rpcs[0],
        "set": pair,
        "header_range": request.header_ranges[0],
    }
    assert value(expression, elements[kind], kind) == result


NOT_PART = " is not part of the rule language"
OPERATOR = ": that operator is not part of the rule language"
TAKES = ": that operator takes whole numbers or version ranges, not "
LITERAL = " is not a literal of the rule language: use text or small whole numbers"
NESTED = "a comprehension inside another is not part of the rule language; make it a fact"
ONE_FOR = "a comprehension has one `for` with one variable"


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        # attributes and names
        ("name.upper", "upper is not known of name, which has no facts"),
        ("name.upper()", "name.upper is not a function of the rule language; did you mean upper?"),
        ("'{0.__class__}'.format(name)", "'{0.__class__}'.format is not a function of the rule language"),
        ("().__class__.__bases__", "__class__ is not known of (), which has no facts"),
        ("message.__class__", "__class__ is not a fact of a message"),
        ("message.__dict__['spec']", "__dict__ is not a fact of a message"),
        ("message._valid", "_valid is not a fact of a message; did you mean valid?"),
        ("message.data", "data is not a fact of a message"),
        ("kind", "kind is not a fact of a field"),
        ("versions.intervals", "intervals is not a fact of a version range"),
        ("tag.real", "real is not known of tag, which has no facts"),
        ("__builtins__", "__builtins__ is not a fact of a field"),
        ("__debug__", "__debug__ is not a fact of a field"),
        ("e", "e is not a fact of a field"),
        ("p_words", "p_words is not a fact of a field"),
        ("len", "len is not a fact of a field"),
        ("bounded", "bounded is not a fact of a field"),
        # suggestions
        ("verions", "verions is not a fact of a field; did you mean versions?"),
        ("Name", "Name is not a fact of a field; did you mean name?"),
        ("owner.feilds", "feilds is not a fact of a Container; did you mean fields?"),
        ("versions.lowst", "lowst is not a fact of a version range; did you mean lowest?"),
        ("any(item.nam for item in owner.fields)", "nam is not a fact of a field; did you mean name?"),
        ("params.leest", "leest is not a parameter of the rule; did you mean least?"),
        ("params.__class__", "__class__ is not a parameter of the rule"),
        ("params", "params is not a value by itself: write params. and the name of a parameter"),
        (
            "[params for x in owner.fields]",
            "params is not a value by itself: write params. and the name of a parameter",
        ),
        ("params.on.real", "real is not known of params.on, which has no facts"),
        ("lenght(name)", "lenght is not a function of the rule language; did you mean len?"),
        # calls
        ("__import__('os')", "__import__ is not a function of the rule language"),
        ("eval('1')", "eval is not a function of the rule language"),
        ("open(name)", "open is not a function of the rule language"),
        ("range(10)", "range is not a function of the rule language"),
        ("sum([1])", "sum is not a function of the rule language"),
        ("name()", "name is not a function of the rule language"),
        ("(len)(name)()", "len(name) is not a function of the rule language"),
        ("len()", "len() takes 1 argument"),
        ("len(name, name)", "len() takes 1 argument"),
        ("startswith(name)", "startswith() takes 2 arguments"),
        ("len(obj=name)", "len() takes 1 argument"),
        ("max(*owner.fields)", "max() takes 1 argument"),
        ("max([1], **owner.by_name)", "max() takes 1 argument"),
        ("sorted(owner.fields, key=len)", "sorted() takes 1 argument"),
        # constructs
        ("lambda: 1", "lambda: 1" + NOT_PART),
        ("f'{name}'", "f'{name}'" + NOT_PART),
        ("(x := 1)", "(x := 1)" + NOT_PART),
        ("[*owner.fields]", "*owner.fields" + NOT_PART),
        ("(yield)", "(yield)" + NOT_PART),
        ("(yield from owner.fields)", "(yield from owner.fields)" + NOT_PART),
        ("await name", "await name" + NOT_PART),
        ("{item: 1 for item in owner.fields}", "{item: 1 for item in owner.fields}" + NOT_PART),
        ("{**owner.by_name}", "{**owner.by_name}: **" + NOT_PART),
        ("name[0:1]", "a slice" + NOT_PART),
        ("name[::-1]", "a slice" + NOT_PART),
        ("~1", "Invert" + NOT_PART),
        ("+1", "UAdd" + NOT_PART),
        # operators
        ("2 ** 10", "2 ** 10" + OPERATOR),
        ("9 ** 9 ** 9", "9 ** 9 ** 9" + OPERATOR),
        ("1 << 60", "1 << 60" + OPERATOR),
        ("1 / 2", "1 / 2" + OPERATOR),
        ("1 ^ 2", "1 ^ 2" + OPERATOR),
        ("name @ name", "name @ name" + OPERATOR),
        ("'a' * 9", "'a' * 9" + TAKES + "str and int"),
        ("9 * name", "9 * name" + TAKES + "int and str"),
        ("[1] * 9", "[1] * 9" + TAKES + "tuple[int, ...] and int"),
        ("'%d' % 1", "'%d' % 1" + TAKES + "str and int"),
        ("versions + versions", "versions + versions" + TAKES + "VersionRange and VersionRange"),
        ("versions & 3", "versions & 3" + TAKES + "VersionRange and int"),
        (
            "owner.fields + owner.fields",
            "owner.fields + owner.fields" + TAKES + "tuple[Field, ...] and tuple[Field, ...]",
        ),
        ("params.mixed[0] + 1", "params.mixed[0] + 1" + TAKES + "Any and int"),
        ("True + 1", "True + 1" + TAKES + "bool and int"),
        ("tag is 3", "tag is 3: `is` compares with None only; write == or !="),
        ("None is not tag", "None is not tag: `is` compares with None only; write == or !="),
        # literals
        ("1.5", "1.5" + LITERAL),
        ("1e3", "1000.0" + LITERAL),
        ("1j", "1j" + LITERAL),
        ("b'a'", "b'a'" + LITERAL),
        ("...", "..." + LITERAL),
        (str(BIGGEST_NUMBER), f"{BIGGEST_NUMBER}" + LITERAL),
        (f"-{BIGGEST_NUMBER}", f"{BIGGEST_NUMBER}" + LITERAL),
        # comprehensions
        ("[a for a in owner.fields for b in owner.fields]", ONE_FOR),
        ("[a async for a in owner.fields]", ONE_FOR),
        ("[a for a, b in owner.fields]", ONE_FOR),
        ("[[b for b in owner.fields] for a in owner.fields]", NESTED),
        ("[a for a in owner.fields if any(b for b in owner.fields)]", NESTED),
        (
            "[name for name in owner.fields]",
            "name is a name of its own here; call the comprehension's variable differently",
        ),
        (
            "[params for params in owner.fields]",
            "params is a name of its own here; call the comprehension's variable differently",
        ),
        (
            "[_a for _a in owner.fields]",
            "_a is a name of its own here; call the comprehension's variable differently",
        ),
        # text
        ("-" * 900 + "1", "cannot read " + "-" * 57 + "...: it nests too deeply"),
    ],
)
def test_what_is_refused(expression: str, problem: str) -> None:
    assert refusal(expression) == problem


@pytest.mark.parametrize(
    "expression",
    [
        "", "name if", "name; name", "name = 1", "import os", "\0", "(" * 400 + "1" + ")" * 400, "not " * 200 + "1",
        "[" * 150 + "]" * 150, "'", "name\nname", "*owner.fields", r"matches(name, '\d')",
    ],
)  # fmt: skip
def test_what_is_refused_in_python_s_words(expression: str) -> None:
    text = expression if len(expression) <= 60 else expression[:57] + "..."
    assert refusal(expression).startswith(f"cannot read {text}: ")


def test_limits_are_exact() -> None:
    assert value(str(BIGGEST_NUMBER - 1), TOPIC) == BIGGEST_NUMBER - 1
    # Each minus is two levels: the operation, and its operator beside the operand; then the number.
    assert value("-" * (MOST_LEVELS - 1) + "1", TOPIC) == -1
    assert "it nests too deeply" in refusal("-" * MOST_LEVELS + "1")


def test_facts_of_other_kinds_are_unknown() -> None:
    assert refusal("tag", "message") == "tag is not a fact of a message"
    assert refusal("header_ranges", "field").startswith("header_ranges is not a fact of a field")
    assert refusal("response", "header_range").startswith("response is not a fact of a header range")


@given(st.text(max_size=40) | st.lists(st.sampled_from(
    ["name", "versions", "owner", ".", "fields", "(", ")", "[", "]", "{", "}", "for", "one", "in", " ", "if", "else", "and",
     "not", "-", "+", "*", "**", "&", "|", "1", "'a'", ",", ":", "params", "least", "len", "any", "==", "<=", "is", "None",
     "lambda", "await", "\\", "\n", "#", "_", "=", ":="]
), max_size=14).map("".join))  # fmt: skip
def test_any_text_is_taken_or_refused(expression: str) -> None:
    try:
        tree = translate(expression, words("field")).tree
    except ExpressionError as error:
        assert str(error)
    else:
        compile(ast.Expression(tree), "", "eval")


def test_every_name_that_is_left_is_one_of_ours() -> None:
    own_names = {"e", "params", *FUNCTIONS}
    tree = translate("any(item.tag == params.least for item in owner.fields) and len(name) > 1", words("field")).tree
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert names == {"e", "any", "len", "params", "v_item"}
    assert names - own_names == {"v_item"}


@pytest.mark.parametrize(
    ("kind", "element"),
    [
        ("tuple[Field, ...]", "Field"),
        ("list[str, ...]", "str"),
        ("frozenset[str]", "str"),
        ("dict[str, Field]", "Field"),
        ("dict[tuple[str, int], Message]", "Message"),
        ("dict[str, tuple[int, ...]]", "Any"),
        ("VersionRange", "Any"),
        ("str", "Any"),
    ],
)
def test_types_of_items(kind: str, element: str) -> None:
    assert element_of(kind) == element


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("plain", [TemplatePart("plain")]),
        ("", [TemplatePart("")]),
        ("{name}", [TemplatePart("", "name"), TemplatePart("")]),
        ("a {name} b {tag} c", [TemplatePart("a ", "name"), TemplatePart(" b ", "tag"), TemplatePart(" c")]),
        ("{{a}} {name}", [TemplatePart("{a} ", "name"), TemplatePart("")]),
        ("a }} b", [TemplatePart("a } b")]),
        ("{tag:field|fields} x", [TemplatePart("", "tag", ("field", "fields")), TemplatePart(" x")]),
        ("{tag:|s}", [TemplatePart("", "tag", ("", "s")), TemplatePart("")]),
        ("{versions | present:it|them}", [TemplatePart("", "versions | present", ("it", "them")), TemplatePart("")]),
        (
            "{tag:it's|they're} {name}",
            [TemplatePart("", "tag", ("it's", "they're")), TemplatePart(" ", "name"), TemplatePart("")],
        ),
        ("{':' + name}", [TemplatePart("", "':' + name"), TemplatePart("")]),
        ("{'}' + name}", [TemplatePart("", "'}' + name"), TemplatePart("")]),
        ("{len({1: 2})}", [TemplatePart("", "len({1: 2})"), TemplatePart("")]),
    ],
)
def test_holes(text: str, parts: list[TemplatePart]) -> None:
    assert list(template_parts(text)) == parts


@pytest.mark.parametrize("text", ["a {name", "{", "{'}", "{(a}", "a {tag:one|many"])
def test_a_hole_that_stays_open(text: str) -> None:
    with pytest.raises(ExpressionError, match="^the hole {.* is never closed$"):
        list(template_parts(text))


@pytest.mark.parametrize("text", ["{tag:}", "{tag:one}", "{tag:a|b|c}"])
def test_a_hole_with_too_few_words_or_too_many(text: str) -> None:
    with pytest.raises(ExpressionError, match="wants two words, as in {number:version[|]versions}$"):
        list(template_parts(text))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", ("", "")),
        ("name", ("", "name")),
        ("owner.name", ("owner", "name")),
        ("message.fields[0].type", ("message.fields[0]", "type")),
        ("{'a.b' if tag else 'c'}", ("", "{'a.b' if tag else 'c'}")),
        ("owner.{versions.lowest}", ("owner", "{versions.lowest}")),
        ("owner.", ("owner", "")),
    ],
)
def test_places(text: str, place: tuple[str, str]) -> None:
    assert split_place(text) == place


def hits_of(rules: list[Rule], elements: tuple[Any, ...], kind: str = "field") -> list[tuple[int, Any, Violation]]:
    """What rules find: the rule's number, the element, and the violation."""
    hits: list[Hit] = []
    Compiled(kind, rules, compile_in_memory(kind, rules)).walk(elements, hits.append)
    numbers = {rule_case.spec.id: number for number, rule_case in enumerate(rules)}
    return [
        (numbers[running.rule.spec.id], element, Violation.of((running, element, unmet)))
        for running, element, unmet in hits
    ]


def violation_of(rule: Rule, element: Any) -> tuple[str, Any, str]:
    """The violation of a rule by an element: its message, element and property."""
    running = Compiled("field", [rule], compile_in_memory("field", [rule])).active[0]
    assert running
    assert running.describe
    violation = running.describe(element, running.params)
    return violation.message, violation.element, violation.at


def number_rules(*rules: Rule) -> list[Rule]:
    return [replace(rule_case, spec=replace(rule_case.spec, id=f"r-{n}")) for n, rule_case in enumerate(rules)]


def test_compiled_rules() -> None:
    rules = number_rules(
        rule(when="tag is not None", expect="tag < params.least", message="{name} has {tag}", at="tag"),
        rule(expect="name != 'Topic'", message="{versions} {owner.fields[0].versions.parts}", at="owner.{lower(name)}"),
        rule(when="is_array", message="never {{mind}} {params.words}", severity="warning"),
    )
    hits = hits_of(rules, WHOLE.fields)
    assert [(number, element) for number, element, _ in hits] == [(1, TOPIC), (2, TOPIC), (0, COUNT)]
    assert violation_of(rules[0], COUNT) == ("Count has 3", COUNT, "tag")
    assert violation_of(rules[1], TOPIC) == ("1+ 1+", WHOLE, "topic")
    assert violation_of(rules[2], TOPIC) == ("never {mind} a, b", TOPIC, "")


def test_rules_keep_their_own_params() -> None:
    first = rule(when="len(name) > params.least", message="{params.least}")
    second = replace(first, params={"least": 5}, spec=replace(first.spec, id="s"))
    result = [
        (number, element, violation.message) for number, element, violation in hits_of([first, second], WHOLE.fields)
    ]
    assert result == [(0, TOPIC, "3"), (0, COUNT, "3")]
    assert violation_of(second, TOPIC)[0] == "5"


def test_levels_are_tried_in_order() -> None:
    levels = [
        ConditionalSeverity(when="tag == 3", severity="warning"),
        ConditionalSeverity(when="tag is not None or is_array", severity="info"),
    ]
    always: dict[str, Any] = {"when": "True"}
    rules = number_rules(
        rule(levels=levels, **always), rule(levels=levels, **always), rule(**always),
    )  # fmt: skip
    rules[1] = replace(rules[1], severity="warning")
    result = hits_of(rules, (TOPIC, COUNT, TOPIC.definition.fields[0]))
    severities = [[violation.severity for number, _, violation in result if number == n] for n in range(3)]
    # A severity that was asked for holds whatever the rule says of special cases.
    assert severities == [["info", "warning", "error"], ["warning"] * 3, ["error"] * 3]


@pytest.mark.parametrize(
    ("thing", "text"),
    [
        ("a", "a"),
        (3, "3"),
        (None, "None"),
        (["a", 1], "a, 1"),
        (("a",), "a"),
        ((), ""),
        ({"a": None, "b": None}, "a, b"),
        (VersionRange([(0, 1), (3, 3)]), "0-1, 3"),
        (VersionRange(), "none"),
    ],
)
def test_shown(thing: object, text: str) -> None:
    assert as_text(thing) == text


def test_every_fact_has_a_meaning() -> None:
    for kind in KINDS.values():
        facts_by_name = facts(kind.__name__)
        assert facts_by_name
        for name, fact in facts_by_name.items():
            assert fact.name == name
            assert fact.about
            assert fact.type


def test_functions_have_a_meaning() -> None:
    assert all(function.about.endswith(".") for function in FUNCTIONS.values())
