"""Hover texts, and the versions that fields are really in, as inlay hints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from lsprotocol import types

from kiplint.compat.judge import GRAVE, ChangeFinding
from kiplint.compat.tree import FieldBudget
from kiplint.compat.witness import sentence
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding
from kiplint.engine.rule import Rule
from kiplint.model.element import value_or
from kiplint.model.fields import Field, Struct
from kiplint.model.headers import header_map
from kiplint.model.layout import describe, layout, lines, ranges_of, slot, width
from kiplint.model.message import Message
from kiplint.server.buffer import Buffer, child, element_at, place_at
from kiplint.server.completion import describe_property
from kiplint.server.workspace import Neighbours
from kiplint.text.locate import Locator
from kiplint.text.show import printable
from kiplint.versions import VersionRange, boundaries

_MOST_LINES = 60
NOTHING: Final[Mapping[str, ChangeFinding]] = {}


def description(element: Message | Struct | Field) -> str:
    """What it is, the versions that have it, and what it puts on the wire."""
    if isinstance(element, Field):
        return "\n\n".join(_field(element))
    return "\n\n".join(_struct(element) if isinstance(element, Struct) else _message(element))


def _field(field: Field) -> Iterator[str]:
    yield f"**{_code(field.path)}** {_code(field.type)} in {_code(field.message.name)}"
    present = field.present
    yield f"In versions {present}." if present else f"In no valid version of the message ({field.message.valid})."
    facts = [
        f"tagged in {field.tagged & present} with tag {field.tag}" if field.tagged & present else "",
        f"may be null in {field.nullable & present}" if field.nullable & present else "",
        "ignorable" if field.ignorable else "",
    ]
    if any(facts):
        text = ", ".join(filter(None, facts))
        yield f"{text[:1].upper()}{text[1:]}."
    rows = [(str(piece), *_encoding(field, piece.lowest)) for piece in _pieces(field)]
    if rows:
        yield "\n".join(_table(("versions", "on the wire", "bytes"), rows))


def _pieces(field: Field) -> list[VersionRange]:
    """The largest ranges of versions on which the field travels in one way, lowest first."""
    ranges = [*ranges_of(field.owner), field.message.flexible]
    pieces: list[VersionRange] = []
    for piece in boundaries(ranges, field.present):
        is_adjacent = pieces and pieces[-1].highest + 1 == piece.lowest
        if is_adjacent and _encoding(field, pieces[-1].lowest) == _encoding(field, piece.lowest):
            pieces[-1] |= piece
        else:
            pieces.append(piece)
    return pieces


def _encoding(field: Field, version: int) -> tuple[str, str]:
    field_slot = slot(field, version, version in field.message.flexible)
    tagged = f" as tag {field.tag}" if version in field.tagged and version in field.message.flexible else ""
    return describe(field_slot) + tagged, width(field_slot)


def _struct(struct: Struct) -> Iterator[str]:
    yield f"**{_code(struct.name)}** of {_code(struct.message.name)}"
    yield f"In versions {struct.present}." if struct.present else "In no valid version of the message."
    users = [field.path for field in struct.message.all_fields if field.kind.element == struct.name]
    if users:
        yield f"The type of {', '.join(map(_code, users[:8]))}{' and more' if users[8:] else ''}."


def _message(message: Message) -> Iterator[str]:
    key = f", API key {message.api_key}" if message.api_key is not None else ""
    yield f"**{_code(message.name)}** {message.type}{key}"
    if not message.valid:
        yield "It has no valid version."
        return
    flexible = message.flexible & message.valid
    text = f"Versions {message.valid}, " + (f"flexible in {flexible}." if flexible else "none of them flexible.")
    yield text + (f" Version {message.valid.highest} may still change." if message.unstable else "")
    if message.is_rpc:
        rows = [(str(versions), str(header)) for versions, header in header_map(message)]
        yield "\n".join(_table(("versions", f"{message.type} header"), rows))
    newest = message.valid.highest
    try:
        FieldBudget(message).spend(message)
    except UsageError as error:
        yield f"What version {newest} has on the wire is not shown: {printable(str(error))}."
        return
    drawing = [f"{'  ' * row[0]}{printable(row[1])}: {printable(row[2])}" for row in lines(layout(message, newest))]
    rest = [f"... and {len(drawing) - _MOST_LINES} more"] if len(drawing) > _MOST_LINES else []
    yield "\n".join([f"Version {newest} on the wire:", "```text", *drawing[:_MOST_LINES], *rest, "```"])


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (head, ("---",) * len(head), *rows)]


def _code(text: str) -> str:
    return f"`{printable(text).replace('`', ' ')}`"


def hints(buffer: Buffer, within: types.Range, neighbours: Neighbours) -> Iterator[types.InlayHint]:
    """A hint behind each `versions` in a range of the text that differs from the field's actual versions."""
    message = neighbours.message(buffer.path)
    if message is None:
        return
    locator = Locator(buffer.text)
    start, end = buffer.offset(within.start), buffer.offset(within.end)
    for field in message.all_fields:
        spec_versions = value_or(field.spec.versions, "").strip()
        node = locator.node(field.pointer)
        versions = child(node, "versions") if node else None
        if versions is None or not start <= versions.end <= end or str(field.present) == spec_versions:
            continue
        versions_text = str(field.present) if field.present else "never"
        why = f"{field.path} is in versions {versions_text} of {message.name} ({message.valid})"
        yield types.InlayHint(buffer.position(versions.end), versions_text, tooltip=why, padding_left=True)


def hover(
    buffer: Buffer,
    offset: int,
    neighbours: Neighbours,
    findings: Iterable[Finding],
    rules: Mapping[str, Rule],
    breaks: Mapping[str, ChangeFinding] = NOTHING,
) -> types.Hover | None:
    """What to do about breaks; the message, struct or field at a place, its property; reasons for findings; bytes.

    Editors show the first lines of a long text: what to do is above what is known, and the proofs are below.
    `breaks` has the changes that are findings, by fingerprint.
    """
    place = place_at(buffer, offset)
    if place is None:
        return None
    parts: list[str] = []
    remedies: list[str] = []
    proofs: list[str] = []
    message = neighbours.message(buffer.path)
    node = place.node
    if message and (place.tokens[place.depth :] or node.kind != "object"):
        parts.append(description(element_at(message, place)))
    container = place.tokens[place.depth - 2] if place.depth else ""
    if place.tokens[place.depth :] and (meaning := describe_property(container, key := place.tokens[place.depth])):
        parts.append(f"{_code(key)}: {meaning}")
    here = buffer.position(offset)
    for finding in findings:
        span = buffer.range_of_span(finding.span)
        if finding.rule in rules and _before(span.start, here) and _before(here, span.end):
            reason = f"**{finding.rule}**: {printable(rules[finding.rule].spec.why)}"
            change = breaks.get(finding.fingerprint)
            if change and change.breaks != "none":
                remedies.append(_remedy(change, message))
                proofs += [f"```text\n{sentence(witness)}\n```" for witness in change.proof]
            parts.append(reason)
    if not (remedies or parts):
        return None
    start = node.start if node.key is None else node.key_start
    text = "\n\n---\n\n".join(dict.fromkeys([*remedies, *parts, *proofs]))
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), buffer.range(start, node.end))


def _remedy(change: ChangeFinding, message: Message | None) -> str:
    """`Versions 4-18 are released: add version 19 instead.`, or what the rule says."""
    help_text = printable(change.help)
    versions = VersionRange.of_text(change.versions)
    if message is None or change.breaks not in GRAVE or message.valid.highest not in versions:
        what = help_text or printable(change.message)
        return f"**{what[:1].upper()}{what[1:]}.**"
    noun, verb = ("Versions", "are") if versions.lowest < versions.highest else ("Version", "is")
    advice = f" To do so: {help_text}." if help_text else ""
    return f"**{noun} {change.versions} {verb} released: add version {message.valid.highest + 1} instead.**{advice}"


def _before(position: types.Position, other: types.Position) -> bool:
    return (position.line, position.character) <= (other.line, other.character)
