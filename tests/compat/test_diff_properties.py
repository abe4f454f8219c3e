"""No change of bytes is ever missed, and none is invented: diffs of generated definitions against their layouts."""

from __future__ import annotations

import copy
import json
from functools import reduce
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from kiplint.compat.change import ChangeFinding
from kiplint.compat.classify import classify
from kiplint.compat.compare import compare_trees
from kiplint.compat.negotiation import negotiate
from kiplint.compat.released import Releases
from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.config import Config
from kiplint.model.layout import Layout, Tokens, layout, slot_tokens, tokens
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from kiplint.versions import NONE, VersionRange
from tools import USUAL, changes_between, document, field, rules_of

RULES = rules_of(Config())
KINDS = ["int32", "int64", "uuid", "string", "bytes", "records", "[]int32", "[]string"]
NULLABLE = ("string", "bytes", "records")
HIGHEST = 5
JSON = dict[str, Any]


@st.composite
def ranges(draw: st.DrawFn) -> str:
    low = draw(st.integers(0, HIGHEST))
    return draw(st.sampled_from([f"{low}+", f"{low}-{HIGHEST}" if low < HIGHEST else f"{low}", f"{low}", "0+"]))


@st.composite
def plain_fields(draw: st.DrawFn, name: str, extra: tuple[str, ...] = ()) -> JSON:
    kind = draw(st.sampled_from([*KINDS, *extra]))
    result = field(name, kind, draw(ranges()))
    if kind in NULLABLE or kind.startswith("[]"):
        result["nullableVersions"] = draw(st.sampled_from(["none", "none", "0+", "2+"]))
    return result


@st.composite
def documents(draw: st.DrawFn) -> JSON:
    """A definition with a struct in place, a common one used at two places, and a tagged field; flexible from 3 on."""
    fields = [draw(plain_fields(f"F{n}", ("[]Common", "Common"))) for n in range(draw(st.integers(1, 4)))]
    inner = [draw(plain_fields(f"I{n}")) for n in range(draw(st.integers(1, 3)))]
    fields.append(field("Struct", draw(st.sampled_from(["Box", "[]Box"])), draw(ranges()), fields=inner))
    if draw(st.booleans()):
        fields.append(field("Tagged", draw(st.sampled_from(["string", "int32"])), "3+", tag=0, taggedVersions="3+"))
    common = [draw(plain_fields(f"C{n}")) for n in range(draw(st.integers(1, 2)))]
    return document(*fields, commonStructs=[{"name": "Common", "versions": "0+", "fields": common}])


@st.composite
def evolutions(draw: st.DrawFn) -> tuple[JSON, JSON]:
    """A definition, and the same after one to three mutations of any of its lists of fields."""
    old = draw(documents())
    new = copy.deepcopy(old)
    for _ in range(draw(st.integers(1, 3))):
        lists = [
            new["fields"],
            new["commonStructs"][0]["fields"],
            *(item["fields"] for item in new["fields"] if "fields" in item),
        ]
        fields = draw(st.sampled_from(lists))
        mutate(draw, fields)
    return old, new


def mutate(draw: st.DrawFn, fields: list[JSON]) -> None:
    at = draw(st.integers(0, len(fields) - 1))
    what = draw(st.sampled_from(["remove", "add", "swap", "type", "versions", "nullable", "rename", "untag", "retag"]))
    item = fields[at]
    if what == "remove" and len(fields) > 1:
        del fields[at]
    elif what == "add" and not any(field["name"] == "New" for field in fields):
        fields.insert(at, draw(plain_fields("New")))
    elif what == "swap":
        other = draw(st.integers(0, len(fields) - 1))
        fields[at], fields[other] = fields[other], fields[at]
    elif what == "rename" and not any(field["name"] == "Other" for field in fields):
        item["name"] = "Other"
    elif what == "versions" and "tag" not in item:
        item["versions"] = draw(ranges())
    elif what == "nullable" and (item["type"] in NULLABLE or item["type"].startswith("[]")) and "tag" not in item:
        item["nullableVersions"] = draw(st.sampled_from(["none", "0+", "2+", "4+"]))
    elif what == "type" and "fields" not in item and "nullableVersions" not in item:
        item["type"] = draw(st.sampled_from(["int32", "int64", "uuid", "string"]))
    elif what == "untag":
        item.pop("tag", None)
        item.pop("taggedVersions", None)
    elif what == "retag" and "tag" in item:
        item["tag"] = 1


def changes(old: JSON, new: JSON) -> tuple[list[ChangeFinding], Message, Message]:
    trees = [
        make_tree(name, [("", [("X.json", json.dumps(document).encode())])])
        for name, document in (("o", old), ("n", new))
    ]
    findings = changes_between(RULES, trees[0], trees[1])
    before, other = (next(tree.messages) for tree in trees)
    return findings, before, other


def breaks(findings: list[ChangeFinding], message: Message) -> set[int]:
    """The versions in which something breaks the wire."""
    return {
        version
        for change in findings
        if change.breaks == "wire"
        for version in range(HIGHEST + 1)
        if version in VersionRange.of_text(change.versions)
    }


def whole(body: Layout) -> Tokens:
    """The tokens of a layout with those of the fields in its tag sections, at every depth."""
    tags = tuple(
        (tag_slot.field.tag, slot_tokens(tag_slot), whole(tag_slot.body) if tag_slot.body else ())
        for tag_slot in body.tags or ()
    )
    inner = tuple(whole(slot.body) for slot in body.slots if slot.body)
    return (tokens(body), tags, inner)


def names(body: Layout) -> Tokens:
    return tuple((part.field.name, names(part.body) if part.body else ()) for part in (*body.slots, *(body.tags or ())))


@settings(max_examples=2 * USUAL)
@given(evolutions())
def test_exactly_the_versions_with_other_bytes_are_broken(pair: tuple[JSON, JSON]) -> None:
    """Those with other tags, or other names in the same bytes, may be."""
    findings, old, new = changes(*pair)
    broken_versions = breaks(findings, new)
    for version in range(HIGHEST + 1):
        before, after = layout(old, version), layout(new, version)
        if tokens(before) != tokens(after):
            assert version in broken_versions
        elif (whole(before), names(before)) == (whole(after), names(after)):
            assert version not in broken_versions


# Negotiation: by another reading of a definition, without the model and its layouts


def written(fields: list[JSON], common: list[JSON], version: int) -> tuple[Any, ...]:
    """What the fields put on the wire in a version; a section of tags is a dictionary."""
    flexible = version >= 3
    parts: list[Any] = []
    tags: dict[int, Any] = {}
    for item in (item for item in fields if version in VersionRange.of_text(item["versions"])):
        kind = item["type"].removeprefix("[]")
        is_array = kind != item["type"]
        inner = common if kind == "Common" else item.get("fields")
        may_be_null = item.get("nullableVersions", "none") != "none" and version in VersionRange.of_text(
            item["nullableVersions"]
        )
        if inner is not None:
            encoding = written(inner, common, version)
        elif kind in ("string", "bytes", "records"):
            length = "varint" if flexible else 2 if kind == "string" else 4
            encoding = ((length, may_be_null and not is_array),)
        else:
            encoding = (kind,)
        if is_array:
            encoding = (("varint" if flexible else 4, may_be_null, encoding),)
        if "tag" in item and flexible:
            tags[item["tag"]] = encoding
        else:
            parts += encoding
    return (*parts, tags) if flexible else tuple(parts)


def can_be_read(ours: Any, theirs: Any) -> bool:
    """Whether the second side reads what the first writes, which may be null; a tag of one side alone is skipped."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return all(can_be_read(ours[tag], theirs[tag]) for tag in ours.keys() & theirs.keys())
    if isinstance(ours, tuple) and isinstance(theirs, tuple):
        return len(ours) == len(theirs) and all(map(can_be_read, ours, theirs))
    if isinstance(ours, bool) and isinstance(theirs, bool):
        return ours <= theirs
    return bool(ours == theirs)


@settings(max_examples=2 * USUAL)
@given(evolutions())
def test_a_version_is_common_exactly_where_the_broker_reads_what_the_client_writes(pair: tuple[JSON, JSON]) -> None:
    """Where the fields have other names or tags, not all such versions are."""
    sides = [as_rpc(definition) for definition in pair]
    [row] = negotiate(("c", sides[0]), [("b", sides[1])]).rpcs
    ours, theirs = (
        [written(item["fields"], item["commonStructs"][0]["fields"], version) for version in range(HIGHEST + 1)]
        for item in pair
    )
    common = [version for version in range(HIGHEST + 1) if can_be_read(ours[version], theirs[version])]
    usable = VersionRange.of_text(row.usable or "")
    assert usable <= union(common)
    messages = [side.by_name["XRequest"] for side in sides]
    for version in common:
        own_meaning, broker_meaning = (meaning(layout(message, version)) for message in messages)
        assert version in usable or own_meaning != broker_meaning
    assert row.status == ("agreed" if HIGHEST in usable else "layout-differs")
    assert row.chosen == (usable.highest if usable else None)


def meaning(body: Layout) -> Tokens:
    """The names of a layout, with the numbers of tags."""
    return tuple(
        (slot.field.name, slot.is_tagged and slot.field.tag, meaning(slot.body) if slot.body else ())
        for slot in body.all_slots
    )


def as_rpc(definition: JSON) -> SchemaSet:
    half = {**definition, "apiKey": 1, "name": "XRequest", "type": "request"}
    other = document(name="XResponse", type="response", apiKey=1, flexibleVersions="3+")
    files = [(f"{side['name']}.json", json.dumps(side).encode()) for side in (half, other)]
    return make_tree("", [("", files)]).main


def union(versions: list[int]) -> VersionRange:
    return reduce(VersionRange.__or__, (VersionRange.of(version, version) for version in versions), NONE)


@given(documents(), documents())
def test_a_key_with_unrelated_messages_gives_one_finding(first: JSON, second: JSON) -> None:
    for item in (*second["fields"], *second["commonStructs"][0]["fields"]):
        item["name"] = f"Other{item['name']}"
        for inner in item.get("fields", ()):
            inner["name"] = f"Other{inner['name']}"
    trees = []
    for title, definition in (("MendLog", first), ("AlterGroups", second)):
        half = {**definition, "apiKey": 501, "name": f"{title}Request"}
        other = document(name=f"{title}Response", type="response", apiKey=501)
        files = [(f"{side['name']}.json", json.dumps(side).encode()) for side in (half, other)]
        trees.append(make_tree(title, [("", files)]))
    [finding] = changes_between(RULES, trees[0], trees[1])
    assert (finding.rule, finding.severity, finding.breaks) == ("compat/api-key-reused", "error", "wire")
    sentence = "AlterGroupsRequest: API key 501 belongs to MendLog in MendLog; give AlterGroups another key"
    assert (finding.path, finding.message) == ("AlterGroupsRequest.json", sentence)


@given(documents())
def test_a_definition_does_not_differ_from_itself(definition: JSON) -> None:
    other = copy.deepcopy(definition)
    other["fields"][0]["about"] = "Said anew."
    assert changes(definition, other)[0] == []


# Histories: a change is judged by the newest release that has a version


class Node(NamedTuple):
    """A commit: its definition, its parents, and the mutation that made it, which may be picked elsewhere."""

    document: JSON
    parents: tuple[int, ...]


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Node], list[int]]:
    """Commits on branches and their merges, and those that are tagged, the oldest release first."""
    nodes = [Node({**draw(documents()), "validVersions": f"0-{draw(st.integers(1, HIGHEST))}"}, ())]
    for _ in range(draw(st.integers(2, 6))):
        parent = draw(st.integers(0, len(nodes) - 1))
        definition, parents = copy.deepcopy(nodes[parent].document), [parent]
        how = draw(st.sampled_from(["mutate", "mutate", "merge", "pick", "bump", "unstable", "drop"]))
        other = draw(st.integers(0, len(nodes) - 1))
        if how == "merge":  # the fields of both, as a merge without a conflict keeps them
            names = {item["name"] for item in definition["fields"]}
            definition["fields"] += [
                item for item in copy.deepcopy(nodes[other].document["fields"]) if item["name"] not in names
            ]
            parents = [parent, other]
        elif how == "pick":
            definition["fields"] = copy.deepcopy(nodes[other].document["fields"])
        elif how == "bump":
            low, high = map(int, definition["validVersions"].split("-"))
            definition["validVersions"] = f"{low}-{min(high + 1, HIGHEST)}"
            definition.pop("latestVersionUnstable", None)
        elif how == "unstable":
            definition["latestVersionUnstable"] = not definition.get("latestVersionUnstable")
        elif how == "drop":
            low, high = map(int, definition["validVersions"].split("-"))
            definition["validVersions"] = f"{min(low + 1, high)}-{high}"
        else:
            mutate(draw, definition["fields"])
        nodes.append(Node(definition, tuple(parents)))
    return nodes, draw(st.lists(st.integers(0, len(nodes) - 1), max_size=4, unique=True))


def tree_of(definition: JSON) -> Tree:
    return make_tree("", [("", [("X.json", json.dumps(definition).encode())])])


@settings(max_examples=2 * USUAL)
@given(histories(), st.data())
def test_a_change_breaks_what_the_newest_release_has(
    history: tuple[list[Node], list[int]], data: st.DataObject
) -> None:
    """Exactly in versions that the change makes other than in that release; without releases, other than in the base."""
    nodes, tags = history
    head = data.draw(st.sampled_from([node for node in nodes if node.parents]))
    base = nodes[data.draw(st.sampled_from(head.parents))]
    trees = [tree_of(nodes[tag].document) for tag in reversed(tags)]
    old, new = tree_of(base.document), tree_of(head.document)
    releases = Releases([str(tag) for tag in tags], trees) if tags else None
    classified_changes = classify(compare_trees(old, new, (), releases), RULES, old.sources, new.sources, prove=False)
    before, after = (next(iter(tree.messages)) for tree in (old, new))
    broken_versions = breaks([finding for _, finding in classified_changes], after)
    for version in range(HIGHEST + 1):
        holders = [next(iter(tree.messages)) for tree in trees] if tags else [before]
        release = next((item for item in holders if version in item.valid and not _is_unstable(item, version)), None)
        if version not in after.valid or release is None:
            assert version not in broken_versions
            continue
        now, then = layout(after, version), layout(release, version)
        was = layout(before, version) if version in before.valid else None
        if tokens(now) != tokens(then) and (was is None or tokens(now) != tokens(was)):
            assert version in broken_versions
        same = [(whole(now), names(now)) == (whole(body), names(body)) for body in (then, was) if body]
        if any(same):
            assert version not in broken_versions


def _is_unstable(message: Message, version: int) -> bool:
    return bool(message.spec.latest_version_unstable) and version == message.valid.highest
