"""What `kiplint kip` comes to."""

from __future__ import annotations

import msgspec

from kiplint.compat.changes.judge import Judged
from kiplint.engine.finding import Finding, Span
from kiplint.model.message import Message
from kiplint.runs.result import Report
from kiplint.versions import VersionRange


class DraftRow(msgspec.Struct, frozen=True):
    """A definition in a KIP, and what became of it.

    `state` is `new` (the base has no such message), `changed`, `same` (as in the base), `read` (there is no base),
    `older` (a later definition of the name counts), or `unread` (no message could be made of it).
    """

    name: str
    type: str
    versions: str
    state: str
    span: Span


class Layouts(msgspec.Struct, frozen=True):
    """What a message puts on the wire in the versions that a KIP brings."""

    message: Message
    ranges: tuple[VersionRange, ...]


class KipReport(msgspec.Struct, frozen=True):
    """One KIP: its definitions, what they change in the base, and where the code differs from them by now.

    Places are in the KIP. `findings` are what the check found; `loose` and `grammar` are as in
    `kiplint.runs.kip.reading.Kip`.
    """

    path: str
    drafts: tuple[DraftRow, ...]
    findings: tuple[Finding, ...] = ()
    changes: tuple[Judged, ...] = ()
    differences: tuple[Judged, ...] = ()
    layouts: tuple[Layouts, ...] = ()
    loose: tuple[int, ...] = ()
    grammar: tuple[int, ...] = ()

    @property
    def current(self) -> int:
        """How many definitions count."""
        return sum(one.state != "older" for one in self.drafts)


class KipResult(Report, frozen=True):
    """What `kip` found, KIP by KIP. The findings are those of all parts.

    `base` and `against` are the sets that were named, or empty.
    """

    kips: tuple[KipReport, ...] = ()
    base: str = ""
    against: str = ""

    command = "kip"
