"""kiplint: linter and compatibility checker for Apache Kafka message schemas.

The functions do what the commands do, print nothing, and return what the commands print.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kiplint.commands.changelog.run import ChangelogResult as ChangelogResult
    from kiplint.commands.changelog.run import changelog as changelog
    from kiplint.commands.check.run import CheckResult as CheckResult
    from kiplint.commands.check.run import check as check
    from kiplint.commands.decode.result import DecodeResult as DecodeResult
    from kiplint.commands.decode.run import decode as decode
    from kiplint.commands.diff.run import DiffResult as DiffResult
    from kiplint.commands.diff.run import diff as diff
    from kiplint.commands.encode.result import EncodeResult as EncodeResult
    from kiplint.commands.encode.run import encode as encode
    from kiplint.commands.kip.result import KipResult as KipResult
    from kiplint.commands.kip.run import kip as kip
    from kiplint.commands.migrate.result import MigrationResult as MigrationResult
    from kiplint.commands.migrate.run import migrate_bump as migrate_bump
    from kiplint.commands.migrate.run import migrate_kip_1313 as migrate_kip_1313
    from kiplint.commands.migrate.run import migrate_release as migrate_release
    from kiplint.commands.negotiate.result import ClientListResult as ClientListResult
    from kiplint.commands.negotiate.result import ClientsResult as ClientsResult
    from kiplint.commands.negotiate.result import MatrixResult as MatrixResult
    from kiplint.commands.negotiate.result import NegotiationResult as NegotiationResult
    from kiplint.commands.negotiate.run import known_clients as known_clients
    from kiplint.commands.negotiate.run import negotiate as negotiate
    from kiplint.commands.negotiate.run import negotiate_all as negotiate_all
    from kiplint.commands.negotiate.run import negotiate_clients as negotiate_clients
    from kiplint.commands.new.run import NewResult as NewResult
    from kiplint.commands.new.run import new_coordinator as new_coordinator
    from kiplint.commands.new.run import new_from_kip as new_from_kip
    from kiplint.commands.new.run import new_record as new_record
    from kiplint.commands.new.run import new_rpc as new_rpc
    from kiplint.commands.probe.connection import Sasl as Sasl
    from kiplint.commands.probe.connection import Tls as Tls
    from kiplint.commands.probe.result import ProbeResult as ProbeResult
    from kiplint.commands.probe.run import probe as probe
    from kiplint.commands.readers.result import ReadersResult as ReadersResult
    from kiplint.commands.readers.run import check_readers as check_readers
    from kiplint.commands.review.result import ReviewResult as ReviewResult
    from kiplint.commands.review.run import review as review
    from kiplint.commands.rollout.run import RolloutResult as RolloutResult
    from kiplint.commands.rollout.run import rollout as rollout
    from kiplint.commands.show.result import LayoutResult as LayoutResult
    from kiplint.commands.show.result import LayoutsResult as LayoutsResult
    from kiplint.commands.show.run import show as show
    from kiplint.commands.show.run import show_all as show_all
    from kiplint.commands.upgrade_path.run import UpgradeResult as UpgradeResult
    from kiplint.commands.upgrade_path.run import upgrade_path as upgrade_path
    from kiplint.commands.vectors.run import vectors as vectors
    from kiplint.compat.change import Change as Change
    from kiplint.compat.tree import Tree as Tree
    from kiplint.compat.tree import load as load
    from kiplint.engine.errors import UsageError as UsageError
    from kiplint.engine.finding import Finding as Finding
    from kiplint.model.fields import Field as Field
    from kiplint.model.layout import Layout as Layout
    from kiplint.model.message import Message as Message
    from kiplint.model.schemas import SchemaSet as SchemaSet
    from kiplint.sources.schema_files import SourceError as SourceError
    from kiplint.versions import VersionRange as VersionRange

__version__ = "0.1.0"

_MODULES = {
    "commands.changelog.run": ("ChangelogResult", "changelog"),
    "commands.check.run": ("CheckResult", "check"),
    "commands.decode.result": ("DecodeResult",),
    "commands.decode.run": ("decode",),
    "commands.diff.run": ("DiffResult", "diff"),
    "commands.encode.result": ("EncodeResult",),
    "commands.encode.run": ("encode",),
    "commands.kip.result": ("KipResult",),
    "commands.kip.run": ("kip",),
    "commands.migrate.result": ("MigrationResult",),
    "commands.migrate.run": ("migrate_bump", "migrate_kip_1313", "migrate_release"),
    "commands.negotiate.result": ("ClientListResult", "ClientsResult", "MatrixResult", "NegotiationResult"),
    "commands.negotiate.run": ("known_clients", "negotiate", "negotiate_all", "negotiate_clients"),
    "commands.new.run": ("NewResult", "new_coordinator", "new_from_kip", "new_record", "new_rpc"),
    "commands.probe.connection": ("Sasl", "Tls"),
    "commands.probe.result": ("ProbeResult",),
    "commands.probe.run": ("probe",),
    "commands.readers.result": ("ReadersResult",),
    "commands.readers.run": ("check_readers",),
    "commands.review.result": ("ReviewResult",),
    "commands.review.run": ("review",),
    "commands.rollout.run": ("RolloutResult", "rollout"),
    "commands.show.result": ("LayoutResult", "LayoutsResult"),
    "commands.show.run": ("show", "show_all"),
    "commands.upgrade_path.run": ("UpgradeResult", "upgrade_path"),
    "commands.vectors.run": ("vectors",),
    "compat.change": ("Change",),
    "compat.tree": ("Tree", "load"),
    "engine.errors": ("UsageError",),
    "engine.finding": ("Finding",),
    "model.fields": ("Field",),
    "model.layout": ("Layout",),
    "model.message": ("Message",),
    "model.schemas": ("SchemaSet",),
    "sources.schema_files": ("SourceError",),
    "versions": ("VersionRange",),
}
"""The public names by module. A module is imported on first use, so that `import kiplint` takes no time."""

_PLACES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = sorted(["__version__", *_PLACES])  # noqa: PLE0605 (the names are those of the table)


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
