"""What each kind of change means for a version, by whether the version is released.

This is the only place that says so. `compare` asks it what to fold, `judge` what to report.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

Standing = Literal["released", "base", "unstable", "new"]
"""Of a version: a release has it (without any release: the base has it, and it is not unstable); only the base has it;
the base has it, and may still change it (`latestVersionUnstable`); only the head has it.
"""

STANDINGS: Final[tuple[Standing, ...]] = ("released", "base", "unstable", "new")
"""In order of precedence: a change of several versions has the first standing that one of them has."""

Effect = Literal["rule", "info", "folded", "none"]
"""A change is reported as its rule says; as an info that breaks nothing; with all others that are folded, as one
`unstable-changed`; or not at all.
"""

_BYTES: Final[tuple[Effect, ...]] = ("rule", "folded", "folded", "none")
_PROPERTY: Final[tuple[Effect, ...]] = ("rule", "info", "info", "none")
_ADDITION: Final[tuple[Effect, ...]] = ("none", "rule", "rule", "rule")
_NEW: Final[tuple[Effect, ...]] = ("none", "none", "none", "rule")

TABLE: Final[Mapping[str, tuple[Effect, ...]]] = {
    "message-removed": _PROPERTY,
    "message-renamed": _PROPERTY,
    "type-changed": _PROPERTY,
    "api-key-changed": _PROPERTY,
    "api-key-reused": ("rule", "rule", "rule", "none"),
    "record-type-moved": _PROPERTY,
    "version-dropped": _PROPERTY,
    "gap-in-versions": _PROPERTY,
    "released-unstable": ("rule", "none", "none", "none"),
    "listener-removed": _PROPERTY,
    "listener-added": _PROPERTY,
    "deprecated": _PROPERTY,
    "undeprecated": _PROPERTY,
    "layout-changed": _BYTES,
    "fields-reordered": _BYTES,
    "nullability-narrowed": _BYTES,
    "nullability-widened": _BYTES,
    "flexible-changed": _BYTES,
    "header-changed": _BYTES,
    "tag-changed": _BYTES,
    "tagged-moved": _BYTES,
    "tag-removed": _BYTES,
    "new-tag": _BYTES,
    "tag-reused": ("rule", "none", "none", "none"),
    "unstable-changed": ("rule", "rule", "rule", "none"),
    "type-retyped": _PROPERTY,
    "default-changed": _PROPERTY,
    "ignorable-changed": _PROPERTY,
    "field-renamed": _PROPERTY,
    "struct-renamed": _PROPERTY,
    "entity-type-changed": _PROPERTY,
    "map-key-changed": _PROPERTY,
    "new-field": _ADDITION,
    "new-field-not-ignorable": _ADDITION,
    "new-version": _NEW,
    "new-message": _NEW,
    "frozen-bumped": _NEW,
    "response-not-bumped": _NEW,
}
"""By kind of change: its effect in a version of each of `STANDINGS`."""


def effect(kind: str, standing: Standing) -> Effect:
    """The effect of a change of this kind in a version of this standing."""
    return TABLE[kind][STANDINGS.index(standing)]
