"""The report of a rollout: its JSON, and the findings about RPCs that violate a rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import asdict

from kiplint.compat.rollout import Adoption, RolloutRow, summary
from kiplint.engine.finding import Finding, Span, fingerprint
from kiplint.text.lines import decode_text
from kiplint.text.tree import Locator


class RolloutDocument(msgspec.Struct, frozen=True):
    """What `kiplint rollout --output-format json` writes."""

    version: Literal[1]
    header: Annotated[int, Meta(ge=1, description="The request header that every RPC should have.")]
    rpcs: Annotated[tuple[RolloutRow, ...], Meta(description="By name.")]
    summary: Annotated[dict[Adoption, int], Meta(description="The number of RPCs of each status.")]


def rollout_document(rows: Sequence[RolloutRow], header: int) -> RolloutDocument:
    """The document of a rollout to a request header."""
    return RolloutDocument(1, header, tuple(rows), summary(rows))


def findings_of(rows: Iterable[RolloutRow], sources: Mapping[str, bytes]) -> tuple[Finding, ...]:
    """A finding for each RPC that violates a rule."""
    findings = []
    for row in rows:
        if not row.rule:
            continue
        locator = Locator(decode_text(sources.get(row.path, b"")))
        is_in_file = locator.node(row.pointer) is not locator.root  # the node of a missing property is the root
        pointer = row.pointer if is_in_file else ""
        finding = Finding(
            rule=row.rule,
            severity="error",
            message=row.message if row.name in row.message else f"{row.name}: {row.message}",
            path=row.path,
            **asdict(Span(*locator.span(pointer))),
            pointer=pointer,
            message_name=row.message_name,
            source="KIP-1313",
            fingerprint=fingerprint(row.rule, row.message_name, row.name),
            fixable=False,
        )
        findings.append(finding)
    return tuple(findings)
