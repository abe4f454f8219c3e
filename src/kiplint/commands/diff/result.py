"""The JSON document of a diff. Fields are stable, and only ever added to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import asdict

from kiplint.compat.judge import BREAKS, Judged
from kiplint.compat.witness import Side
from kiplint.engine.finding import Severity
from kiplint.engine.rule import Breaks
from kiplint.render.findings.json import Line
from kiplint.render.report import RuleInfo
from kiplint.text.show import encodable

NO_RULES: Final[Mapping[str, RuleInfo]] = {}


class ProofObject(msgspec.Struct, frozen=True, kw_only=True):
    """An example message that proves a break: bytes that one side writes and the other misreads or refuses."""

    reader: Side
    version: Annotated[int, Meta(description="The version of the message.")]
    writer: Side
    outcome: Literal["misread", "refused"]
    hex: Annotated[str, Meta(description="The bytes of the message, in hexadecimal digits.")]
    value: Annotated[dict[str, Any], Meta(description="The message, as `kiplint decode` shows it.")]
    offset: Annotated[int, Meta(ge=0, description="The first byte that the two sides read differently.")]
    field: Annotated[str, Meta(description="The field that the writer puts there; empty for none.")]
    wrote: Annotated[Any, Meta(description="The value that the writer puts there.")]
    read_as: Annotated[str, Meta(description="The field that the reader takes it for; empty for none.")]
    read: Annotated[Any, Meta(description="The value that the reader takes it for, or why it refuses.")]
    rule: Annotated[str | None, Meta(description="The rule that a refusing reader names.")] = None


class ChangeObject(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One change, also one line of the jsonl output."""

    rule: Annotated[str, Meta(description="The rule's id, pack/rule.")]
    severity: Severity
    breaks: Annotated[Breaks, Meta(description="What the change breaks.")]
    kind: Annotated[str, Meta(description="The kind of change, such as `field-removed`.")]
    message_name: str
    message_type: str
    versions: Annotated[str, Meta(description="The versions that change; empty for none.")]
    field: Annotated[str, Meta(description="The path of the field; empty for a change of the whole message.")]
    path: Annotated[str, Meta(description="The file in the new set; of a removed message, in the old one.")]
    line: Line
    column: Line
    end_line: Line
    end_column: Annotated[int, Meta(ge=1, description="Exclusive: the first column after the place.")]
    old: Annotated[dict[str, Any], Meta(description="What the old set has, by property.")]
    new: Annotated[dict[str, Any], Meta(description="What the new set has, by property.")]
    message: str
    proof: tuple[ProofObject, ...]
    unproven: Annotated[
        bool, Meta(description="Whether the message has too many fields to look for a proof to the end.")
    ] = False
    url: Annotated[str, Meta(description="Where the rule is documented; left out for a user's own rules.")] = ""
    old_path: Annotated[str, Meta(description="The file in the old set; left out where it is not known.")] = ""
    old_line: Line | UnsetType = UNSET
    old_column: Line | UnsetType = UNSET


class DiffSummary(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How many messages were compared, how many changes there are, and how many break what."""

    messages: int
    changes: int
    wire: int
    storage: int
    support: int
    semantics: int
    source: int
    none: int
    unproven: Annotated[int, Meta(description="Breaks without a proof that may have one; left out for 0.")] = 0


class DiffDocument(msgspec.Struct, frozen=True):
    """What `kiplint diff --output-format json` writes."""

    version: Literal[1]
    changes: tuple[ChangeObject, ...]
    summary: DiffSummary


DOCUMENTS = {"diff": DiffDocument}


def diff_document(changes: Sequence[Judged], compared: int, rules: Mapping[str, RuleInfo] = NO_RULES) -> DiffDocument:
    """The document of changes in `compared` messages; `rules` describes the rules of the changes."""
    counts = Counter(change.breaks for change in changes)
    summary = DiffSummary(
        messages=compared,
        changes=len(changes),
        unproven=sum(change.is_unproven for change in changes),
        **{breaks: counts[breaks] for breaks in BREAKS},
    )
    return DiffDocument(1, tuple(change_object(change, rules) for change in changes), summary)


def change_object(change: Judged, rules: Mapping[str, RuleInfo] = NO_RULES) -> ChangeObject:
    """A change, for JSON."""
    rule, old = rules.get(change.rule), change.old_span
    return ChangeObject(
        rule=change.rule,
        severity=change.severity,
        breaks=change.breaks,
        kind=change.kind,
        message_name=change.message_name,
        message_type=change.message_type,
        versions=change.versions,
        field=change.field,
        path=encodable(change.path),
        line=change.span.line,
        column=change.span.column,
        end_line=change.span.end_line,
        end_column=change.span.end_column,
        old=dict(change.old),
        new=dict(change.new),
        message=change.message,
        proof=tuple(ProofObject(reader=witness.reader, **asdict(witness)) for witness in change.proof),
        unproven=change.is_unproven,
        url=rule.url if rule else "",
        old_path=encodable(change.old_path),
        old_line=old.line if old else UNSET,
        old_column=old.column if old else UNSET,
    )
