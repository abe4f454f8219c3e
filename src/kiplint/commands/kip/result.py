"""The result of `kiplint kip`, and its JSON document."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from kiplint.compat.judge import ChangeFinding
from kiplint.engine.finding import Finding, Line
from kiplint.render.report import FindingsSummary, Report, written_by
from kiplint.text.words import plural, tally

State = Literal["new", "changed", "same", "read", "older", "unread"]


class DefinitionObject(msgspec.Struct, frozen=True):
    """A definition in a KIP."""

    name: str
    type: str
    valid_versions: str
    state: Annotated[
        State,
        Meta(
            description="`new`, `changed` or `same` as in the set of --against; `read` without one; `older` where a "
            "later definition of the name counts; `unread` where it cannot be read."
        ),
    ]
    line: Line
    column: Line
    end_line: Line
    end_column: Line


class KipObject(msgspec.Struct, frozen=True):
    """A KIP."""

    path: str
    definitions: tuple[DefinitionObject, ...]
    changes: Annotated[
        tuple[ChangeFinding, ...], Meta(description="What the definitions change in the set of --against.")
    ]
    loose: Annotated[tuple[int, ...], Meta(description="The lines of fields outside of definitions.")]


class KipReport(KipObject, frozen=True):
    """A KIP with the findings of its check; the `unexplained` changes are those that no error among them is about."""

    findings: tuple[Finding, ...]
    unexplained: tuple[ChangeFinding, ...]

    @property
    def current(self) -> int:
        """The number of definitions that count."""
        return sum(definition.state != "older" for definition in self.definitions)


class KipSummary(FindingsSummary, frozen=True):
    """The numbers of all KIPs."""

    changes: int


class KipDocument(msgspec.Struct, frozen=True):
    """What `kiplint kip --output-format json` writes. All places are in the KIPs."""

    version: Literal[1]
    kips: list[KipObject]
    findings: tuple[Finding, ...]
    summary: KipSummary


DOCUMENTS: Final = {"kip": KipDocument}


class KipResult(Report, frozen=True):
    """The result of `kip`. The findings come from the check, and from each change."""

    kips: tuple[KipReport, ...] = ()
    """The KIPs, in order."""
    against: str = ""
    """The name of the set that the KIPs are compared with, or empty."""

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
            kips=[KipObject(kip.path, kip.definitions, kip.changes, kip.loose) for kip in self.kips],
            findings=self.findings,
            summary=KipSummary(**self.numbers, changes=sum(len(kip.changes) for kip in self.kips)),
        )
