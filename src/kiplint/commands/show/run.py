"""What a message puts on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from kiplint.compat.tree import FieldBudget, broken, load
from kiplint.engine.configure import Path
from kiplint.engine.errors import UsageError
from kiplint.model.layout import headed_intervals, layout, lines, ranges_of
from kiplint.model.message import Message
from kiplint.render.report import RunResult
from kiplint.text.show import printable
from kiplint.text.words import did_you_mean, plural
from kiplint.versions import InvalidRange, VersionRange, boundaries


class LayoutResult(RunResult, frozen=True):
    """A message, and the ranges of versions on which its layout is the same; `broken` as in Report."""

    message: Message
    ranges: tuple[VersionRange, ...]

    command = "show"
    renderers: ClassVar[Mapping[str, str]] = {
        "text": "kiplint.commands.show.text",
        "json": "kiplint.commands.show.result",
        "html": "kiplint.commands.show.page",
    }
    unread = "left out"

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.message.name} {', '.join(map(str, self.ranges))}>"

    def __str__(self) -> str:
        drawn = []
        for versions in self.ranges:
            drawn.append(f"{printable(self.message.name)} {versions}")
            for depth, name, encoding, width in lines(layout(self.message, versions.lowest)):
                drawn.append(f"  {'  ' * depth}{printable(name)}  {printable(encoding)}  {width}")
        return "\n".join(drawn)


class LayoutsResult(RunResult, frozen=True):
    """All messages of a set or tree, by name, each with its layouts; `broken` as in Report."""

    messages: tuple[LayoutResult, ...]

    command = "show"
    renderers: ClassVar[Mapping[str, str]] = {
        "text": "kiplint.commands.show.text",
        "json": "kiplint.commands.show.result",
        "html": "kiplint.commands.show.page",
    }
    unread = "left out"

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {plural(len(self.messages), 'message')}>"

    def __str__(self) -> str:
        return "\n".join(map(str, self.messages))


def show_all(source: Path = ".", *, repository: Path | None = None) -> LayoutsResult:
    """The layouts of every message of a schema set, or of all sets of a tree.

    Raises UsageError for a message that unfolds into too many fields, and SourceError for what cannot be opened.
    """
    tree = load(source, repository)
    found = sorted(tree.messages, key=lambda one: (one.name, one.file))
    return LayoutsResult(tuple(_layouts(one, None) for one in found), broken=broken(tree))


def show(wanted: str, source: Path = ".", *, repository: Path | None = None) -> LayoutResult:
    """The layouts of a message; `wanted` is its name, and a version after an at sign.

    Raises UsageError where there is no such message or version, and SourceError for what cannot be opened.
    """
    name, at, version = wanted.partition("@")
    tree = load(source, repository)
    found = [message for message in tree.messages if message.name == name]
    if not found:
        known = [message.name for message in tree.messages]
        raise UsageError(f"there is no message {name} in {tree.name}{did_you_mean(name, known)}")
    message = found[0]
    only = _version(version, message) if at else None
    return msgspec.structs.replace(_layouts(message, only), broken=broken(tree))


def _layouts(message: Message, only: VersionRange | None) -> LayoutResult:
    bearing = [one for container in (message, *message.structs) for one in ranges_of(container)]
    bearing += [entry.versions for entry in message.header_ranges]
    FieldBudget(message).spend(message, len(list(boundaries(bearing, message.valid))) or 1)
    ranges = tuple(one for one in headed_intervals(message) if only is None or one & only)
    return LayoutResult(message, ranges)


def _version(text: str, message: Message) -> VersionRange:
    try:
        version = VersionRange.parse(text)
    except InvalidRange as error:
        raise UsageError(f'the version "{text}" {error}') from None
    if not version & message.valid:
        raise UsageError(f"{message.name} has no version {text}; its valid versions are {message.valid}")
    return version
