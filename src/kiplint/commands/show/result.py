"""The layouts of a message, or of both halves of an RPC, as JSON and as drawings."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final, Literal, TextIO

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kiplint.model.layout import Layout, layout
from kiplint.model.message import Message
from kiplint.render.layouts import LayoutObject, draw, layout_object
from kiplint.render.report import RunResult
from kiplint.render.table import width_of
from kiplint.text.show import encodable, printable
from kiplint.text.words import plural
from kiplint.versions import VersionRange


class MessageObject(msgspec.Struct, frozen=True, kw_only=True):
    """A message with its layouts, lowest versions first. Ranges are as Kafka writes them, `none` for an empty range."""

    version: Annotated[Literal[1] | UnsetType, Meta(description="Left out in the list of an RPC's messages.")] = UNSET
    message_name: str
    message_type: str
    api_key: int | None
    valid_versions: str
    flexible_versions: str
    deprecated_versions: str
    latest_version_unstable: bool
    listeners: list[str]
    set: Annotated[str, Meta(description="The directory of its schema set below what was shown, or empty.")]
    layouts: list[LayoutObject]


class ShowDocument(msgspec.Struct, frozen=True):
    """What `kiplint show RPC --output-format json` writes."""

    version: Literal[1]
    messages: Annotated[list[MessageObject], Meta(description="The request, then the response.")]


class MessageDocument(MessageObject, frozen=True, kw_only=True):
    """What `kiplint show MESSAGE --output-format json` writes."""

    version: Literal[1]


DOCUMENTS: Final = {"show": (ShowDocument, MessageDocument)}


class LayoutResult(RunResult, frozen=True):
    """A message, and the ranges of versions on which its layout is the same. `str` gives the text."""

    message: Message
    """The message."""
    ranges: tuple[VersionRange, ...]
    """The ranges of versions, lowest first."""

    command = "show"
    renderers: ClassVar = {"text": "kiplint.commands.show.result:write"}

    @property
    def layouts(self) -> tuple[Layout, ...]:
        """The layout of each range."""
        return tuple(layout(self.message, versions.lowest) for versions in self.ranges)

    @property
    def document(self) -> MessageDocument:
        """The JSON document."""
        return MessageDocument(version=1, **_values(self))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.message.name} {', '.join(map(str, self.ranges))}>"

    def __str__(self) -> str:
        return _text(self, color=False, width=None)


class LayoutsResult(RunResult, frozen=True):
    """The request and the response of an RPC, each with its layouts. `str` gives the text."""

    messages: tuple[LayoutResult, ...]
    """The messages with their layouts."""

    command = "show"
    renderers = LayoutResult.renderers
    listing = "messages"

    @property
    def document(self) -> ShowDocument:
        """The JSON document."""
        return ShowDocument(1, [MessageObject(**_values(result)) for result in self.messages])

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {plural(len(self.messages), 'message')}>"

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.messages))


def _values(result: LayoutResult) -> dict[str, Any]:
    """The fields of a message in JSON, without the version of the document."""
    message = result.message
    return {
        "message_name": encodable(message.name),
        "message_type": message.type,
        "api_key": message.api_key,
        "valid_versions": str(message.valid),
        "flexible_versions": str(message.flexible & message.valid),
        "deprecated_versions": str(message.deprecated & message.valid),
        "latest_version_unstable": message.unstable,
        "listeners": [*message.listeners],
        "set": encodable(message.schemas.directory),
        "layouts": [layout_object(message, versions) for versions in result.ranges],
    }


def write(result: LayoutResult | LayoutsResult, out: TextIO, *, color: bool) -> None:
    """Write a drawing for each range of versions: names, encodings, and sizes in bytes."""
    results = result.messages if isinstance(result, LayoutsResult) else (result,)
    out.write("\n\n".join(_text(one, color, width_of(out)) for one in results) + "\n")


def _text(result: LayoutResult, color: bool, width: int | None) -> str:
    drawings = (draw(result.message, versions, color, width) for versions in result.ranges)
    return "\n\n".join(drawings) or f"{printable(result.message.name)} has no valid version"
