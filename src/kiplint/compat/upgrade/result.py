"""What an upgrade path is, as values fit for any report: the JSON output of `kiplint upgrade-path` is this.

Version ranges are text in Kafka's notation. Fields are only ever added.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from kiplint.compat.roles import Mode


class Blocker(msgspec.Struct, frozen=True):
    """An RPC that keeps two sets from running in one cluster."""

    name: str
    api_key: int
    kind: Annotated[
        Literal["no-common-version", "gone"], Meta(description="gone: the newer set no longer serves the RPC.")
    ]
    old: Annotated[str, Meta(description="The versions that the older set serves.")]
    new: Annotated[str | None, Meta(description="The versions that the newer set serves, null when it serves none.")]


class Direct(msgspec.Struct, frozen=True):
    """What stands in the way of one roll between two sets; nothing does when `possible`."""

    possible: bool
    modes: Annotated[tuple[Mode, ...], Meta(description="The modes that both sets can run in.")]
    blockers: tuple[Blocker, ...]


class Step(msgspec.Struct, frozen=True):
    """One roll through the cluster: an upgrade to other software, or with the same one from ZooKeeper to KRaft."""

    kind: Literal["upgrade", "migrate"]
    source: Annotated[str, Meta(description="The set before the step.")]
    target: Annotated[str, Meta(description="The set after the step; the same for a migration.")]
    mode: Annotated[Mode, Meta(description="The mode the cluster runs in, after a migration the new one.")]


class UpgradePath(msgspec.Struct, frozen=True):
    """What `kiplint upgrade-path --output-format json` writes."""

    version: Literal[1]
    source: str
    target: str
    found: Annotated[bool, Meta(description="Whether there is a path.")]
    path: Annotated[tuple[str, ...], Meta(description="The sets on the way, both ends included; empty without one.")]
    steps: tuple[Step, ...]
    direct: Annotated[Direct, Meta(description="The jump from one end to the other.")]
    furthest: Annotated[str, Meta(description="Without a path: the last set that can be reached.")] = ""
    mode: Annotated[Mode | None, Meta(description="The mode at first; null without a path and when not asked.")] = None
    assumed: Annotated[bool, Meta(description="FROM can run in both modes; `mode` is that of the path.")] = False
