"""The JSON document of a rollout. Fields are stable, and only ever added to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from kiplint.compat.rollout import Adoption, RolloutRow, summary


class RolloutRpc(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One RPC, also one line of the jsonl output."""

    name: str
    api_key: int
    status: Annotated[
        Adoption,
        Meta(
            description="`done`: a new version uses the header, and the response was bumped too; `missing`: it does "
            "not; `wrong`: a released version was moved to another header, or the response lags; `new`: not in the "
            "base; `exempt`: frozen; `dead`: no valid version."
        ),
    ]
    base_versions: Annotated[str, Meta(description="Of the request in the base; empty where there is none.")]
    versions: Annotated[str, Meta(description="Of the request; `none` for no version.")]
    header_versions: Annotated[dict[str, int], Meta(description="The request's header by range of its versions.")]
    message: Annotated[str, Meta(description="The reason for the status.")]
    note: Annotated[str, Meta(description="What to look at although the RPC is done; left out for nothing.")] = ""


class RolloutSummary(msgspec.Struct, frozen=True):
    """How many RPCs there are of each status."""

    done: int
    missing: int
    wrong: int
    new: int
    exempt: int
    dead: int


class RolloutDocument(msgspec.Struct, frozen=True):
    """What `kiplint rollout --output-format json` writes."""

    version: Literal[1]
    header: Annotated[int, Meta(ge=1, description="The request header that every RPC should have.")]
    rpcs: Annotated[tuple[RolloutRpc, ...], Meta(description="By name.")]
    summary: RolloutSummary


DOCUMENTS = {"rollout": RolloutDocument}


def rollout_document(rows: Sequence[RolloutRow], header: int) -> RolloutDocument:
    """The document of a rollout to a request header."""
    counts = summary(rows)
    names = RolloutRpc.__struct_fields__
    rpcs = (RolloutRpc(**{name: getattr(row, name) for name in names}) for row in rows)
    return RolloutDocument(1, header, tuple(rpcs), RolloutSummary(**counts))
