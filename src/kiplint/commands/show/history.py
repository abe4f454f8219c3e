"""The history of a message: the release that brought each version, its KIPs, and the fields that it changed."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Annotated, ClassVar, Final, Literal, NamedTuple, TextIO

import msgspec
from msgspec import Meta

from kiplint.compat.released import released_versions
from kiplint.compat.tree import load as load_tree
from kiplint.engine.config import Path
from kiplint.engine.errors import UsageError
from kiplint.model.load import load
from kiplint.model.message import Message
from kiplint.render.markdown import inline, write_table
from kiplint.render.page import write_page
from kiplint.render.report import RunResult
from kiplint.render.table import table, title, width_of
from kiplint.sources.history import is_candidate, version_tags
from kiplint.sources.open import open_sets
from kiplint.sources.schema_files import NothingThereError
from kiplint.text.words import did_you_mean

HALVES: Final = ("Request", "Response")
"""The ends of the names of an RPC's messages, in the order to show them."""
WORK_TREE: Final = "."
MOST_VERSIONS: Final = 1000
COLUMNS: Final = ("version", "release", "KIPs", "fields")


class VersionRow(msgspec.Struct, frozen=True):
    """A version of a message."""

    version: int
    release: Annotated[str | None, Meta(description="The first release with it; null if it was never released.")]
    is_earlier: Annotated[bool, Meta(description="Whether the oldest release has it, so that it may be older.")]
    last_release: Annotated[str | None, Meta(description="The last release with it; null if the newest one has it.")]
    kips: tuple[str, ...]
    added: Annotated[tuple[str, ...], Meta(description="Paths of the fields that begin in it.")]
    removed: Annotated[tuple[str, ...], Meta(description="Paths of the fields that it no longer has.")]
    changed: Annotated[tuple[str, ...], Meta(description="What else begins in it, such as `flexible`.")]

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """The version, its release, its KIPs and its fields, in words."""
        release = "not released" if self.release is None else self.release + (" or earlier" if self.is_earlier else "")
        last = f", last in {self.last_release}" if self.last_release else ""
        fields = [*(f"+ {name}" for name in self.added), *(f"- {name}" for name in self.removed), *self.changed]
        return str(self.version), release + last, ", ".join(self.kips), ", ".join(fields)


class MessageHistory(msgspec.Struct, frozen=True):
    """The versions of a message, oldest first."""

    message_name: str
    message_type: str
    versions: tuple[VersionRow, ...]


class HistoryDocument(msgspec.Struct, frozen=True):
    """What `kiplint show MESSAGE --history --output-format json` writes."""

    version: Literal[1]
    releases: Annotated[tuple[str, ...], Meta(description="Where the versions were looked for, oldest first.")]
    messages: tuple[MessageHistory, ...]


class HistoryResult(RunResult, frozen=True):
    """The versions of a message, or of both halves of an RPC, over releases. `str` gives the text."""

    name: str
    """The name that was given."""
    releases: tuple[str, ...]
    """The releases, oldest first."""
    messages: tuple[MessageHistory, ...]
    """The history of each message."""

    command = "show"
    listing = "messages"
    renderers: ClassVar = {name: f"kiplint.commands.show.history:write_{name}" for name in ("text", "markdown", "html")}

    @property
    def document(self) -> HistoryDocument:
        """The JSON document."""
        return HistoryDocument(1, self.releases, self.messages)

    def __str__(self) -> str:
        return "\n".join(
            " ".join((message.message_name, *filter(None, row.cells)))
            for message in self.messages
            for row in message.versions
        )


def history(name: str, *sets: Path, repository: Path | None = None) -> HistoryResult:
    """The history of a message, or of both halves of an RPC, over sets, oldest first.

    The sets are by default the release tags of the repository, and its work tree for versions that are not released
    yet. The newest definition that has a version gives its facts. Raises UsageError where no set has the
    message, and SourceError for what cannot be opened.
    """
    place = os.fspath(repository) if repository else None
    tags = () if sets else (f"{tag}:" for tag in version_tags(place) if not is_candidate(tag))
    sources = [os.fspath(path) for path in sets] or [*tags, *([] if place else [WORK_TREE])]
    releases: list[ReleaseMessages] = []
    messages_by_text: dict[bytes, Message | None] = {}
    for source in sources:
        label = "" if source == WORK_TREE and not sets else source.removesuffix(":")
        try:
            releases.append(ReleaseMessages(label, _messages(name, source, place, messages_by_text)))
        except NothingThereError:  # a release from before the definitions
            if sets:
                raise
    halves = [name] if any(name in release.messages for release in releases) else [f"{name}{end}" for end in HALVES]
    histories = [_history(half, releases) for half in halves if any(half in release.messages for release in releases)]
    if not releases:
        raise UsageError("no release tag has definitions, nor has the working directory: name the sets")
    if not histories:
        tree = load_tree(sources[-1], repository)
        names = [message.name for message in tree.messages]
        names += [rpc.name for schemas in tree.sets.values() for rpc in schemas.rpcs]
        raise UsageError(f"no release has a message {name}{did_you_mean(name, names)}")
    labels = tuple(release.name for release in releases if release.name)
    return HistoryResult(name=name, releases=labels, messages=tuple(histories))


class ReleaseMessages(NamedTuple):
    """A release, or the work tree without a name, with the messages whose history is looked for."""

    name: str
    messages: dict[str, Message]


def _messages(
    name: str, source: str, place: str | None, messages_by_text: dict[bytes, Message | None]
) -> dict[str, Message]:
    """The message of a name, or the halves of its RPC, in a set; a text that several releases have is read once."""
    halves = {name, *(f"{name}{end}" for end in HALVES)}
    messages: dict[str, Message] = {}
    for files in open_sets([source], lambda path: True, repository=place):
        for file in files.files:
            if name.encode() not in file.data:
                continue
            if file.data not in messages_by_text:
                messages_by_text[file.data] = load(file.path, file.data).message
            if (message := messages_by_text[file.data]) and message.name in halves:
                messages.setdefault(message.name, message)
    return messages


def _history(name: str, releases: Sequence[ReleaseMessages]) -> MessageHistory:
    definitions = [(release.name, release.messages[name]) for release in releases if name in release.messages]
    parts = [part for _, message in definitions for part in message.valid.parts]
    if any(part.highest - part.lowest > MOST_VERSIONS for part in parts):
        raise UsageError(f"{name} has more than {MOST_VERSIONS:,} versions")
    versions = sorted({version for part in parts for version in range(part.lowest, part.highest + 1)})
    ends = [release.name for release in releases if release.name]
    rows = [version_row(version, definitions, ends) for version in versions]
    return MessageHistory(name, definitions[-1][1].type, tuple(rows))


def version_row(version: int, definitions: Sequence[tuple[str, Message]], releases: Sequence[str]) -> VersionRow:
    """A version, with the facts of the newest definition that has it, better one that has the version before it too."""
    holders = [release for release, message in definitions if release and version in released_versions(message)]
    candidates = [message for _, message in definitions if version in message.valid]
    message = next((message for message in reversed(candidates) if version - 1 in message.valid), candidates[-1])
    kips = (kip for note in message.notes if version in note.versions for kip in re.findall(r"KIP-\d+", note.text))
    nullable = [
        f"{field.path} nullable"
        for field in message.all_fields
        if version in field.nullable and version - 1 not in field.nullable and version - 1 in field.versions
    ]
    flexible = ["flexible"] if version and version in message.flexible and version - 1 not in message.flexible else []
    return VersionRow(
        version=version,
        release=holders[0] if holders else None,
        is_earlier=bool(holders) and holders[0] == releases[0],
        last_release=holders[-1] if holders and holders[-1] != releases[-1] else None,
        kips=tuple(dict.fromkeys(kips)),
        added=_beginning(message, version, version - 1) if version else (),
        removed=_beginning(message, version - 1, version) if version else (),
        changed=(*flexible, *nullable),
    )


def _beginning(message: Message, version: int, other: int) -> tuple[str, ...]:
    """The paths of the fields that a version has, and the other has not; of a struct that is new, not its fields."""
    new = {field.path for field in message.all_fields if version in field.versions and other not in field.versions}
    return tuple(
        field.path for field in message.all_fields if field.path in new and field.path.rpartition(".")[0] not in new
    )


def write_text(result: HistoryResult, out: TextIO, *, color: bool) -> None:
    """Write a table for each message."""
    for number, message in enumerate(result.messages):
        rows = [[(cell, "") for cell in row.cells] for row in message.versions]
        lines = [title(message.message_name, color), *table(COLUMNS, rows, color, width_of(out))]
        out.write("\n" * bool(number) + "\n".join(lines) + "\n")


def write_markdown(result: HistoryResult, out: TextIO, *, color: bool) -> None:
    """Write a table for each message as Markdown."""
    for number, message in enumerate(result.messages):
        out.write("\n" * bool(number) + f"### {inline(message.message_name)}\n\n")
        write_table(COLUMNS, (row.cells for row in message.versions), out)


def write_html(result: HistoryResult, out: TextIO, *, color: bool) -> None:
    """Write the page: a table for each message, the newest version first."""
    write_page("commands/show/history.html", out, result=result, columns=COLUMNS)
