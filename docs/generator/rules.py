"""The rule reference, generated from the shipped packs and their fixtures."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import msgspec

from generator.markdown import code, page, place, prose, table
from generator.precision import record
from kiplint.compat.base import CONFIGURATION_CHANGED
from kiplint.engine.packs import shipped, shipped_rules
from kiplint.engine.rule import FieldRequirement, PackSpec, Rule
from kiplint.model.rpcs import PROTECTED
from kiplint.text.decode import blank_comments

INTRODUCTION = """\
Every built-in rule is on the page of its pack, with its reason and its source. `kiplint explain RULE` also shows
examples.

The id of a rule is `pack/rule`. That id, the name of a pack, or a glob such as `*/default-*` selects rules in
`--select` and `--ignore`, in the [configuration](../guide/configuration.md), and in
[comments that suppress a finding](../guide/suppressing.md). An *error* is rejected by Kafka's generator, breaks a
released protocol, violates a KIP, or was a mistake in every release that contained it. A *warning* is most likely a
mistake. An *info* is worth a look. A rule that is *off* must be selected by its id.
"""

PROTECTION = """\
**RPCs that rules protect.** Peers identify an RPC only by its API key, so these rules apply whatever
the name of the RPC in a file. The keys 17 and 18 are Kafka's RPCs in every schema set, the others in a set that has
ApiVersions."""


def make() -> dict[str, str]:
    """The page `reference/rules.md`, which lists all rules, and a page for each pack, by path in `docs`."""
    packs = [(name, list(rules)) for name, rules in groupby(shipped_rules(), key=lambda rule: rule.pack)]
    titles = dict(pack_titles())
    index = table(
        ["pack", "what it is about", "rules"],
        [[f"[{name}](rules/{name}.md)", prose(titles[name]), str(len(rules))] for name, rules in packs],
    )
    rpc_table = table(["API key", "RPC", "rules"], list(_protected_rpcs()))
    index_page = page("Rules", INTRODUCTION, index, PROTECTION, rpc_table, _of_review())
    pages = {f"reference/rules/{name}.md": _pack_page(name, titles[name], rules) for name, rules in packs}
    return {"reference/rules.md": index_page, **pages}


def _protected_rpcs() -> Iterator[list[str]]:
    """The RPCs that rules protect, with the rules that name them."""
    for key, rpc in PROTECTED.items():
        rules = [rule.id for rule in shipped_rules() if re.search(rf"'{rpc.name}|\"{rpc.name}", _by_key(rule))]
        yield [str(key), rpc.name, ", ".join(f"[`{rule}`]({place(rule)})" for rule in rules)]


def _by_key(rule: Rule) -> str:
    """The text of a rule that uses the API key; empty for others."""
    text = msgspec.json.encode(rule.spec).decode()
    return text if re.search(r"rpc_name|kafka_title|schemas\.requests", text) else ""


def _of_review() -> str:
    """The rule that is code."""
    rule = CONFIGURATION_CHANGED
    rows = [[code(rule.spec.id), _level(rule), prose(rule.title), prose(rule.spec.why)]]
    about = (
        "Changes of a pull request other than those of its definitions. `kiplint review` reports them; these rules "
        "cannot be selected or ignored."
    )
    return "\n\n".join([f"## {rule.pack}", about, table(["rule", "severity", "what it finds", "why"], rows)])


def pack_titles() -> Iterator[tuple[str, str]]:
    """The name and title of each shipped pack, in the order of their names."""
    for file in sorted(Path(shipped("packs")).glob("*.json")):
        spec = msgspec.json.decode(blank_comments(file.read_bytes()), type=PackSpec)
        yield spec.pack, spec.title


def overview() -> str:
    """The packs as the README lists them."""
    return table(
        ["pack", "what it is about"],
        [[f"[{name}](docs/reference/rules/{name}.md)", prose(title)] for name, title in pack_titles()],
    )


def _pack_page(name: str, title: str, rules: list[Rule]) -> str:
    return page(name, f"{prose(title)}. [All packs](../rules.md)", *map(_rule, rules))


def _rule(rule: Rule) -> str:
    parts = [f"## {rule.id}", f"{prose(rule.title)}. {prose(rule.spec.why)}", "\n".join(_facts(rule)), _params(rule)]
    return "\n\n".join(part for part in parts if part)


def _facts(rule: Rule) -> Iterator[str]:
    spec = rule.spec
    yield f"- Severity: {_level(rule)}"
    for softer in spec.levels:
        yield f"- Severity when {code(softer.when)}: {softer.severity}"
    yield f"- Source: {prose(rule.source)}"
    if precision := record(rule.id):
        yield f"- {precision}"
    yield f"- {_judgement(rule)}"
    yield from (f"- {code(name)} stands for {code(text)}" for name, text in spec.let.items())
    for name, requirement in spec.fields.items():
        properties = msgspec.json.format(msgspec.json.encode(_properties(requirement)), indent=0).decode()
        yield f"- The field {name} must be {code(properties)}"
    for case in spec.says:
        yield f"- {f'When {code(case.when)}' if case.when else 'Else'}: {code(case.message)}"
    if spec.instead:
        yield f"- Write instead: {code(spec.instead)}"
    yield from (
        f"- Help: {code(text)}" for text in dict.fromkeys([*(case.help for case in spec.says), spec.help]) if text
    )
    if spec.fix:
        yield f"- Fix: {code(spec.fix)}"


def _judgement(rule: Rule) -> str:
    """Which elements the rule is about, and what breaks it."""
    spec = rule.spec
    when = f" with {code(spec.when)}" if spec.when else ""
    if spec.expect:
        predicate = f"must have {code(spec.expect)}"
    elif spec.fields and not spec.says and not spec.message:
        predicate = "must have the fields below"
    else:
        predicate = "violates it in the cases below" if spec.says and spec.says[-1].when else "violates it"
    return f"Each [{rule.each}](../../guide/writing-rules.md#facts-and-functions){when} {predicate}"


def _properties(requirement: FieldRequirement) -> dict[str, object]:
    """What a field is asked for, as the pack says it."""
    properties = msgspec.to_builtins(requirement)
    usual = msgspec.to_builtins(FieldRequirement())
    return {name: value for name, value in properties.items() if value != usual[name]}


def _level(rule: Rule) -> str:
    return f"off ({rule.active_severity} if selected)" if rule.severity == "off" else rule.severity


def _params(rule: Rule) -> str:
    rows = ([code(name), code(json.dumps(value))] for name, value in rule.params.items())
    return table(["parameter", "default"], rows)
