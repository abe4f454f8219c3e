"""The result of `kiplint kip`, and its JSON document."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from kiplint.commands.kip.drafts import UnreadObject
from kiplint.compat.judge import ChangeFinding
from kiplint.engine.finding import Finding, Line
from kiplint.model.message import Message
from kiplint.render.layouts import LayoutObject, layout_object
from kiplint.render.report import FindingsSummary, Report, written_by
from kiplint.text.words import plural, tally
from kiplint.versions import VersionRange

State = Literal["new", "changed", "same", "read", "older", "unread"]


class DefinitionObject(msgspec.Struct, frozen=True):
    """A definition in a KIP."""

    name: str
    type: str
    valid_versions: str
    state: Annotated[
        State,
        Meta(
            description="`new`, `changed` or `same` as in the base; `read` without a base; `older` where a later "
            "definition of the name counts; `unread` where it cannot be read."
        ),
    ]
    line: Line
    column: Line
    end_line: Line
    end_column: Line


class NewLayouts(msgspec.Struct, frozen=True):
    """A message, and the ranges of the versions that a KIP adds to it."""

    message: Message
    ranges: tuple[VersionRange, ...]


class KipReport(msgspec.Struct, frozen=True):
    """A KIP: its definitions, what they change in the base, and how the code differs from them. Places are in the KIP.

    `findings` come from the check; the `unexplained` changes are those that no error among them is about. `unread` is
    what cannot be read; `loose` among it are the lines of fields outside of definitions.
    """

    path: str
    definitions: tuple[DefinitionObject, ...]
    findings: tuple[Finding, ...] = ()
    changes: tuple[ChangeFinding, ...] = ()
    unexplained: tuple[ChangeFinding, ...] = ()
    differences: tuple[ChangeFinding, ...] = ()
    layouts: tuple[NewLayouts, ...] = ()
    unread: tuple[UnreadObject, ...] = ()
    loose: tuple[int, ...] = ()

    @property
    def current(self) -> int:
        """The number of definitions that count."""
        return sum(definition.state != "older" for definition in self.definitions)


def describe(unread: UnreadObject) -> str:
    """What cannot be read, with its name."""
    return f"{unread.name} {unread.reason}" if unread.name else unread.reason.removeprefix("is ")


class KipLayoutsObject(msgspec.Struct, frozen=True):
    """The layouts of the versions that a KIP adds to a message."""

    message_name: str
    message_type: str
    layouts: list[LayoutObject]


class KipObject(msgspec.Struct, frozen=True):
    """A KIP."""

    path: str
    definitions: list[DefinitionObject]
    changes: Annotated[tuple[ChangeFinding, ...], Meta(description="What the definitions change in the base.")]
    differences: Annotated[tuple[ChangeFinding, ...], Meta(description="How the code differs from the definitions.")]
    layouts: list[KipLayoutsObject]
    unread: Annotated[list[UnreadObject], Meta(description="What cannot be read.")]
    loose: Annotated[tuple[int, ...], Meta(description="The lines of fields outside of definitions.")]


class KipSummary(FindingsSummary, frozen=True):
    """The numbers of all KIPs."""

    changes: int
    differences: int


class KipDocument(msgspec.Struct, frozen=True):
    """What `kiplint kip --output-format json` writes. All places are in the KIPs."""

    version: Literal[1]
    kips: list[KipObject]
    findings: tuple[Finding, ...]
    summary: KipSummary


DOCUMENTS: Final = {"kip": KipDocument}


class KipResult(Report, frozen=True):
    """The result of `kip`. The findings come from the check, and from each change and difference."""

    kips: tuple[KipReport, ...] = ()
    """The KIPs, in order."""
    base: str = ""
    """The name of the base, or empty."""
    against: str = ""
    """The name of the set with the code, or empty."""

    command = "kip"
    renderers = written_by("kip", "text", "markdown")

    headed = True

    @property
    def headline(self) -> str:
        """The numbers of findings, definitions and KIPs in words."""
        counts = tally(self.counts) or "nothing found"
        return f"{counts} in {plural(self.messages, 'definition')} of {plural(len(self.kips), 'KIP')}"

    @property
    def document(self) -> KipDocument:
        """The JSON document."""
        return KipDocument(
            version=1,
            kips=list(map(_kip_object, self.kips)),
            findings=self.findings,
            summary=KipSummary(
                **self.numbers,
                changes=sum(len(kip.changes) for kip in self.kips),
                differences=sum(len(kip.differences) for kip in self.kips),
            ),
        )


def _kip_object(kip: KipReport) -> KipObject:
    layouts = [
        KipLayoutsObject(
            new.message.name, new.message.type, [layout_object(new.message, versions) for versions in new.ranges]
        )
        for new in kip.layouts
    ]
    return KipObject(
        kip.path, list(kip.definitions), kip.changes, kip.differences, layouts, list(kip.unread), kip.loose
    )
