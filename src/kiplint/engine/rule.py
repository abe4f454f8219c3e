"""Rules and packs as they are written: data, typed once for decoding and for the published schema.

Pack files are decoded by msgspec; the descriptions become the published JSON Schema. The annotations are not strings:
to evaluate those takes time at each start.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from kiplint.engine.finding import Severity

Each = Literal["problem", "message", "struct", "field", "header_range", "note", "rpc", "set", "change"]
Scope = Literal["file", "set"]
Level = Literal["error", "warning", "info", "off"]
LEVELS: tuple[Level, ...] = ("error", "warning", "info", "off")
Word = Annotated[str, Meta(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$(?!\n)")]
Breaks = Literal["wire", "storage", "support", "semantics", "source", "none"]
RULES_PAGES = "https://github.com/kiplint/kiplint/blob/main/docs/reference/rules"


class _RuleObject(msgspec.Struct, forbid_unknown_fields=True, gc=False, kw_only=True):
    """An object of a pack file."""


class ConditionalSeverity(_RuleObject):
    """A severity that holds instead of the rule's own when the expression does."""

    when: Annotated[str, Meta(description="An expression over the element.")]
    severity: Annotated[Level, Meta(description="The severity in that case.")]


class Case(_RuleObject):
    """One case of a rule with several messages; properties that it omits are those of the rule."""

    message: Annotated[str, Meta(description="What is wrong, with {expression} holes.")]
    when: Annotated[str, Meta(description="The condition of the case; omitted in a last case for all others.")] = ""
    instead: Annotated[str, Meta(description="What to write, with holes.")] = ""
    help: Annotated[str, Meta(description="What to do, with holes.")] = ""
    at: Annotated[str, Meta(description="The property to point to.")] = ""
    severity: Annotated[Level | None, Meta(description="The severity of the case.")] = None


class FieldRequirement(_RuleObject):
    """The required properties of one field of a message; an omitted property is not checked."""

    type: Annotated[str, Meta(description='The type; "[]" for an array of anything.')] = ""
    versions: Annotated[str, Meta(description="The versions that must have the field, as far as they are valid.")] = ""
    nullable: Annotated[str, Meta(description='The versions in which it may be null; "none" for never.')] = ""
    default: Annotated[str | None, Meta(description='The default as text, "null" for null.')] = None
    tagged: Annotated[str, Meta(description='The versions in which it is tagged; "either" if open.')] = "none"
    ignorable: Annotated[bool | None, Meta(description="Whether it must be ignorable.")] = None
    first: Annotated[bool, Meta(description="Whether it comes before all other fields of its versions.")] = False
    after: Annotated[str, Meta(description="The field that comes right before it in its versions.")] = ""
    fields: Annotated[
        "dict[str, FieldRequirement] | list[FieldRequirement]",
        Meta(description="The fields of its struct: by name, or a list in order where names do not matter."),
    ] = {}


class RuleSpec(_RuleObject):
    """What must hold for one kind of element, and the message for a violation."""

    id: Annotated[Word, Meta(description="The rule's name in its pack.")]
    why: Annotated[str, Meta(description="What goes wrong if the rule is violated.")]
    each: Annotated[
        Each | None, Meta(description="The kind of element that the rule is about; by default, the pack's.")
    ] = None
    scope: Annotated[
        Scope | None,
        Meta(
            description=(
                "Whether a single file decides (`file`) or also others of its set (`set`); by default, the pack's."
            )
        ),
    ] = None
    message: Annotated[
        str, Meta(description="What is wrong, with {expression} holes; for problems, their detail if omitted.")
    ] = ""
    instead: Annotated[
        str,
        Meta(description='What to write, with holes: a value for the property, or `"property": value` if it is new.'),
    ] = ""
    help: Annotated[str, Meta(description="What to do: an edit or a command, with holes.")] = ""
    says: Annotated[
        list[Case],
        Meta(
            description=(
                "Several messages; the first that matches is used. Without `expect`, a case that matches is a finding."
            )
        ),
    ] = []
    let: Annotated[
        dict[str, str], Meta(description="Names for expressions; later expressions can use earlier names.")
    ] = {}
    fields: Annotated[dict[str, FieldRequirement], Meta(description="For messages: the required fields, by name.")] = {}
    title: Annotated[str, Meta(description="The rule in a few words.")] = ""
    when: Annotated[
        str,
        Meta(description="The elements that the rule applies to; by default, all; for problems, those with its id."),
    ] = ""
    expect: Annotated[str, Meta(description="What must hold for them; without it, each such element is a finding.")] = (
        ""
    )
    at: Annotated[
        str, Meta(description="The property to point to, with the path of its element if it is another one.")
    ] = ""
    supersedes: Annotated[
        str | list[str],
        Meta(
            description="The `pack/rule`, or several, that this rule explains: they skip its elements, and `review` "
            "reports what they find in the same RPC with it."
        ),
    ] = ""
    severity: Annotated[
        Level, Meta(description="The severity of a finding; off if the rule runs only when selected.")
    ] = "error"
    levels: Annotated[
        list[ConditionalSeverity],
        Meta(description="Other severities for special cases; the first that matches applies."),
    ] = []
    on: Annotated[Severity, Meta(description="For a rule that is off: its severity when it is selected.")] = "warning"
    source: Annotated[str, Meta(description="Where the rule comes from; by default, the pack's source.")] = ""
    fix: Annotated[
        str,
        Meta(
            description="The name of a fixer: `instead` writes what the rule says to, `suggestion` does so only when "
            "selected for unsafe fixes; others are made for shipped rules."
        ),
    ] = ""
    changes: Annotated[
        str, Meta(description="What an unsafe fix changes besides the text, such as the Java class.")
    ] = ""
    params: Annotated[
        dict[str, Any],
        Meta(
            description="Values that a configuration can override; `@frozen`, `@frozen-names` and "
            "`@connection-names` are the frozen RPCs with their versions, their names, and the names of "
            "the RPCs that open a connection; `@id-types` and `@id-words` are the types of ids, and the "
            "words that their names end with."
        ),
    ] = {}
    breaks: Annotated[Breaks | None, Meta(description="For rules about changes: what the change breaks.")] = None
    breaks_on_disk: Annotated[
        Breaks | None, Meta(description="The same for records on disk; by default, storage instead of wire.")
    ] = None


class PackSpec(_RuleObject):
    """A file of rules."""

    pack: Annotated[Word, Meta(description="The pack's name, the first half of its rules' ids.")]
    rules: Annotated[list[RuleSpec], Meta(description="The rules.")]
    each: Annotated[Each | None, Meta(description="The kind of element of the rules without `each`.")] = None
    scope: Annotated[Scope, Meta(description="The scope of the rules without `scope`.")] = "set"
    title: Annotated[str, Meta(description="What the pack is about.")] = ""
    source: Annotated[str, Meta(description="Where its rules come from: a KIP, the generator, a convention.")] = ""


class Rule(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One rule of one pack, with the severity and the parameters that the configuration gives it.

    `origin` is the path of the pack, empty for a rule that is code, and `source` where the rule comes from, such as a
    KIP.
    """

    pack: str
    spec: RuleSpec
    severity: Level
    source: str = ""
    params: dict[str, Any] = {}
    origin: str = ""
    is_shipped: bool = False
    is_severity_set: bool = False
    """Whether a configuration sets the severity, which then holds in special cases too."""

    @property
    def each(self) -> str:
        """The kind of element that the rule is about."""
        return self.spec.each or ""

    @property
    def id(self) -> str:
        """The full id, `pack/rule`."""
        return f"{self.pack}/{self.spec.id}"

    @property
    def active_severity(self) -> Severity:
        """The severity of the rule when it runs; for a rule that is off, the one that it gets when it is selected."""
        return self.spec.on if self.severity == "off" else self.severity

    @property
    def supersedes(self) -> tuple[str, ...]:
        """The ids of the rules that report nothing about an element that violates this rule."""
        ids = self.spec.supersedes
        if isinstance(ids, str):
            return (ids,) if ids else ()
        return tuple(ids)

    @property
    def title(self) -> str:
        """The rule in a few words; by default its name, such as `Duplicate name` for `duplicate-name`."""
        return self.spec.title or self.spec.id.replace("-", " ").capitalize()

    @property
    def url(self) -> str:
        """The address of the rule's documentation; empty for a user's own rule."""
        return f"{RULES_PAGES}/{self.pack}.md#{self.id.replace('/', '')}" if self.is_shipped else ""


def pack_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a pack of rules."""
    schema = msgspec.json.schema(PackSpec)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "kiplint rule pack", **schema}


def default_condition(kind: str, rule_name: str) -> str:
    """The `when` of a rule without one: a rule about problems or changes is about those that have its name.

    It is `kind == 'trailing-comma'` for the rule syntax/trailing-comma, and empty for rules about other elements.
    """
    fact = {"problem": "kind", "change": "name"}.get(kind)
    return f"{fact} == '{rule_name}'" if fact else ""
