"""The JSON document of a check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kiplint.engine.finding import Finding
from kiplint.render.report import FindingsSummary

if TYPE_CHECKING:
    from kiplint.commands.check.run import CheckResult


class CheckSummary(FindingsSummary, frozen=True, omit_defaults=True):
    """The numbers of a check."""

    left_out: Annotated[
        int, Meta(description="JSON files beside definitions that are not definitions; left out for 0.")
    ] = 0
    older: Annotated[int, Meta(description="With --changed-since: what was there before; left out for 0.")] = 0


class StaleObject(msgspec.Struct, frozen=True):
    """An entry of the baseline that records more findings than there still are."""

    rule: str
    message_name: str
    place: Annotated[str, Meta(description="The JSON pointer of the place, with names for indexes.")]
    fingerprint: str
    count: Annotated[int, Meta(ge=1, description="How many findings are recorded.")]
    left: Annotated[int, Meta(ge=0, description="How many of them are still there.")]


class CheckDocument(msgspec.Struct, frozen=True):
    """What `kiplint check --output-format json` writes."""

    version: Literal[1]
    findings: tuple[Finding, ...]
    summary: CheckSummary
    stale: Annotated[
        tuple[StaleObject, ...] | UnsetType, Meta(description="Where a baseline is used: its entries to drop.")
    ] = UNSET


DOCUMENTS = {"check": CheckDocument, "output": CheckDocument}


def check_document(result: CheckResult) -> CheckDocument:
    """The document of a result."""
    return CheckDocument(
        1,
        result.findings,
        CheckSummary(**result.summary),
        UNSET if result.stale is None else result.stale,
    )
