"""The JSON document of a diff. Fields are stable, and only ever added to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from kiplint.compat.judge import BREAKS, ChangeFinding


class DiffSummary(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How many messages were compared, how many changes there are, and how many break what."""

    messages: int
    changes: int
    wire: int
    storage: int
    support: int
    semantics: int
    source: int
    none: int
    unproven: Annotated[int, Meta(description="Breaks without a proof that may have one; left out for 0.")] = 0


class DiffDocument(msgspec.Struct, frozen=True):
    """What `kiplint diff --output-format json` writes."""

    version: Literal[1]
    changes: tuple[ChangeFinding, ...]
    summary: DiffSummary


DOCUMENTS = {"diff": DiffDocument}


def diff_document(changes: Sequence[ChangeFinding], message_count: int) -> DiffDocument:
    """The document of changes; `message_count` messages were compared."""
    counts = Counter(change.breaks for change in changes)
    summary = DiffSummary(
        messages=message_count,
        changes=len(changes),
        unproven=sum(change.unproven for change in changes),
        **{breaks: counts[breaks] for breaks in BREAKS},
    )
    return DiffDocument(1, tuple(changes), summary)
