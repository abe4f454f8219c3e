"""The JSON document of a rollout. Fields are stable, and only ever added to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from kiplint.compat.rollout import RolloutRow, summary


class RolloutSummary(msgspec.Struct, frozen=True):
    """How many RPCs there are of each status."""

    done: int
    unstable: int
    missing: int
    wrong: int
    new: int
    exempt: int
    dead: int


class RolloutDocument(msgspec.Struct, frozen=True):
    """What `kiplint rollout --output-format json` writes."""

    version: Literal[1]
    header: Annotated[int, Meta(ge=1, description="The request header that every RPC should have.")]
    rpcs: Annotated[tuple[RolloutRow, ...], Meta(description="By name.")]
    summary: RolloutSummary


DOCUMENTS = {"rollout": RolloutDocument}


def rollout_document(rows: Sequence[RolloutRow], header: int) -> RolloutDocument:
    """The document of a rollout to a request header."""
    return RolloutDocument(1, header, tuple(rows), RolloutSummary(**summary(rows)))
