"""The JSON Schemas that kiplint publishes, by name; each is made out of the types that read or write the JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from kiplint.commands.check.result import document_schema, output_schema

Schema = dict[str, Any]


def _show() -> Schema:
    from kiplint.commands.show.result import show_schema

    return show_schema()


def _migrate() -> Schema:
    from kiplint.commands.migrate.result import MigrationDocument

    return document_schema(MigrationDocument, "kiplint migrate")


def _new() -> Schema:
    from kiplint.commands.migrate.result import NewDocument

    return document_schema(NewDocument, "kiplint new")


def _negotiate() -> Schema:
    from kiplint.compat.negotiation.result import Negotiation

    return document_schema(Negotiation, "kiplint negotiate")


def _upgrade_path() -> Schema:
    from kiplint.compat.upgrade import UpgradePath

    return document_schema(UpgradePath, "kiplint upgrade-path")


OUTPUTS: Final[Mapping[str, Callable[[], Schema]]] = {
    "output": output_schema,
    "show": _show,
    "migrate": _migrate,
    "new": _new,
    "negotiate": _negotiate,
    "upgrade-path": _upgrade_path,
}
"""Of the JSON outputs: that of a check, and those of other commands by their names."""
