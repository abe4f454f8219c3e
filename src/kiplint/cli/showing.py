"""What `kiplint show` does, apart from reading its arguments."""

from __future__ import annotations

import sys

import msgspec

from kiplint.cli.process import CLEAN
from kiplint.cli.terminal import use_color
from kiplint.cli.trees import open_tree, warn_of_broken
from kiplint.compat.limits import Budget
from kiplint.engine.errors import UsageError
from kiplint.model.message import Message
from kiplint.report.layout.text import layout_document, pieces, write_layouts
from kiplint.text.suggest import did_you_mean
from kiplint.versions import InvalidRange, VersionRange


def run_show(wanted: str, source: str, repository: str | None, output_format: str, color: str) -> int:
    """Draw the layouts of a message; `wanted` is its name, and a version after an at sign."""
    name, at, version = wanted.partition("@")
    tree = open_tree(source, repository)
    warn_of_broken(tree)
    found = [message for message in tree.messages if message.name == name]
    if not found:
        known = [message.name for message in tree.messages]
        raise UsageError(f"there is no message {name} in {source}{did_you_mean(name, known, 0.5)}")
    message = found[0]
    Budget(message).spend(message)
    ranges = pieces(message, _version(version, message) if at else None)
    if output_format == "json":
        document = layout_document(message, ranges)
        print(msgspec.json.format(msgspec.json.encode(document), indent=2).decode())
    elif not ranges:
        print(f"{name} has no valid version")
    else:
        write_layouts(message, ranges, sys.stdout, color=use_color(color, sys.stdout))
    return CLEAN


def _version(text: str, message: Message) -> VersionRange:
    try:
        version = VersionRange.parse(text)
    except InvalidRange as error:
        raise UsageError(f'the version "{text}" {error}') from None
    if not version & message.valid:
        raise UsageError(f"{message.name} has no version {text}; its valid versions are {message.valid}")
    return version
