"""The layouts of a message: what it puts on the wire, by range of versions."""

from __future__ import annotations

from collections.abc import Sequence

from kiplint.commands.show.result import LayoutResult, LayoutsResult
from kiplint.compat.tree import Tree, broken, layout_intervals, load
from kiplint.engine.config import Path
from kiplint.engine.errors import UsageError
from kiplint.model.message import Message
from kiplint.text.words import did_you_mean
from kiplint.versions import InvalidRange, VersionRange


def show(message: str, source: Path = ".", *, repository: Path | None = None) -> LayoutResult | LayoutsResult:
    """The layouts of a message, or of the two halves of an RPC: `NAME`, or `NAME@VERSION` for the layout of a version.

    Raises UsageError where no set or more than one has the message, for a version that it has not, and for layouts with
    too many fields; and SourceError for what cannot be opened.
    """
    name, at, version = message.partition("@")
    tree = load(source, repository)
    results = [_layouts(item, _version(version, item) if at else None) for item in _find(tree, name)]
    if results[0].message.name == name:
        return LayoutResult(results[0].message, results[0].ranges, broken=broken(tree))
    return LayoutsResult(tuple(results), broken=broken(tree))


def _find(tree: Tree, name: str) -> list[Message]:
    """The message of a name, or the halves of its RPC, of the only set that has it."""
    for names in ((name,), (f"{name}Request", f"{name}Response")):
        by_set = {directory: _messages(schemas.messages, names) for directory, schemas in tree.sets.items()}
        directories = sorted(directory for directory, messages in by_set.items() if messages)
        if len(directories) > 1:
            places = ", ".join(_place(tree.name, directory) for directory in directories)
            raise UsageError(f"several sets have {name}: {places}; name one of them")
        if directories:
            return by_set[directories[0]]
    all_names = [*dict.fromkeys(message.name for message in tree.messages)]
    all_names += [rpc.name for schemas in tree.sets.values() for rpc in schemas.rpcs]
    raise UsageError(f"there is no message {name} in {tree.name}{did_you_mean(name, all_names)}")


def _messages(messages: Sequence[Message], names: Sequence[str]) -> list[Message]:
    """The messages of these names; of two with the same name, the first."""
    by_name = {message.name: message for message in reversed(messages)}
    return [by_name[name] for name in names if name in by_name]


def _place(tree: str, directory: str) -> str:
    """The set as an argument names it: `4.0.0:clients`, or a path."""
    if tree in (".", "./"):
        return directory or "."
    return f"{tree}{directory}" if tree.endswith((":", "/")) else f"{tree}/{directory}".rstrip("/")


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
