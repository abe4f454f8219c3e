"""The layouts of messages: what a message puts on the wire, by range of versions."""

from __future__ import annotations

from msgspec.structs import replace

from kiplint.commands.show.history import HALVES
from kiplint.commands.show.result import LayoutResult, LayoutsResult
from kiplint.compat.tree import broken, layout_intervals, load
from kiplint.engine.config import Path
from kiplint.engine.errors import UsageError
from kiplint.model.message import Message
from kiplint.text.words import did_you_mean
from kiplint.versions import InvalidRange, VersionRange


def show_all(source: Path = ".", *, repository: Path | None = None) -> LayoutsResult:
    """The layouts of every message of a schema set, or of all sets of a tree.

    Raises UsageError for a message whose layouts have too many fields, and SourceError for what cannot be opened.
    """
    tree = load(source, repository)
    messages = sorted(tree.messages, key=lambda message: (message.name, message.file))
    return LayoutsResult(tuple(_layouts(message, None) for message in messages), tree.name, broken=broken(tree))


def show(message: str, source: Path = ".", *, repository: Path | None = None) -> LayoutResult | LayoutsResult:
    """The layouts of a message, or of the two halves of an RPC: `NAME`, or `NAME@VERSION` for the layout of a version.

    Raises UsageError where there is no such message or version, and SourceError for what cannot be opened.
    """
    name, at, version = message.partition("@")
    tree = load(source, repository)
    messages = {candidate.name: candidate for candidate in reversed([*tree.messages])}  # the first of a name counts
    halves = [name] if name in messages else [half for end in HALVES if (half := f"{name}{end}") in messages]
    if not halves:
        names = [*dict.fromkeys(candidate.name for candidate in tree.messages)]
        names += [rpc.name for schemas in tree.sets.values() for rpc in schemas.rpcs]
        raise UsageError(f"there is no message {name} in {tree.name}{did_you_mean(name, names)}")
    results = [_layouts(messages[half], _version(version, messages[half]) if at else None) for half in halves]
    if name in messages:
        return replace(results[0], source=tree.name, broken=broken(tree))
    return LayoutsResult(tuple(results), tree.name, broken=broken(tree))


def _layouts(message: Message, only: VersionRange | None) -> LayoutResult:
    intervals = layout_intervals(message)
    return LayoutResult(message, tuple(versions for versions in intervals if only is None or versions & only))


def _version(text: str, message: Message) -> VersionRange:
    try:
        version = VersionRange.parse(text)
    except InvalidRange as error:
        raise UsageError(f'the version "{text}" {error}') from None
    if not version & message.valid:
        raise UsageError(f"{message.name} has no version {text}; its valid versions are {message.valid}")
    return version
