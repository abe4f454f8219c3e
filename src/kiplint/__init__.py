"""kiplint: linter and compatibility checker for Apache Kafka message schemas.

The functions do what the commands of the same name do, and return what the commands print.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kiplint.compat.tree import Tree as Tree
    from kiplint.engine.errors import UsageError as UsageError
    from kiplint.engine.finding import Finding as Finding
    from kiplint.runs.bytes.decode import DecodeResult as DecodeResult
    from kiplint.runs.bytes.decode import decode as decode
    from kiplint.runs.bytes.encode import EncodeResult as EncodeResult
    from kiplint.runs.bytes.encode import encode as encode
    from kiplint.runs.bytes.encode import vectors as vectors
    from kiplint.runs.check import check as check
    from kiplint.runs.diff import DiffResult as DiffResult
    from kiplint.runs.diff import diff as diff
    from kiplint.runs.migrating import MigrationResult as MigrationResult
    from kiplint.runs.migrating import migrate_bump as migrate_bump
    from kiplint.runs.migrating import migrate_kip_1313 as migrate_kip_1313
    from kiplint.runs.migrating import new_rpc as new_rpc
    from kiplint.runs.negotiate import NegotiationResult as NegotiationResult
    from kiplint.runs.negotiate import negotiate as negotiate
    from kiplint.runs.result import CheckResult as CheckResult
    from kiplint.runs.rollout import RolloutResult as RolloutResult
    from kiplint.runs.rollout import rollout as rollout
    from kiplint.runs.show import LayoutResult as LayoutResult
    from kiplint.runs.show import LayoutsResult as LayoutsResult
    from kiplint.runs.show import show as show
    from kiplint.runs.show import show_all as show_all
    from kiplint.runs.trees import SourceError as SourceError
    from kiplint.runs.trees import load as load
    from kiplint.runs.upgrade import UpgradeResult as UpgradeResult
    from kiplint.runs.upgrade import upgrade_path as upgrade_path

__version__ = "0.1.0"

_PLACES = {
    "check": "runs.check",
    "CheckResult": "runs.result",
    "diff": "runs.diff",
    "DiffResult": "runs.diff",
    "rollout": "runs.rollout",
    "RolloutResult": "runs.rollout",
    "migrate_kip_1313": "runs.migrating",
    "migrate_bump": "runs.migrating",
    "new_rpc": "runs.migrating",
    "MigrationResult": "runs.migrating",
    "negotiate": "runs.negotiate",
    "NegotiationResult": "runs.negotiate",
    "upgrade_path": "runs.upgrade",
    "UpgradeResult": "runs.upgrade",
    "show": "runs.show",
    "show_all": "runs.show",
    "LayoutResult": "runs.show",
    "LayoutsResult": "runs.show",
    "decode": "runs.bytes.decode",
    "DecodeResult": "runs.bytes.decode",
    "encode": "runs.bytes.encode",
    "EncodeResult": "runs.bytes.encode",
    "vectors": "runs.bytes.encode",
    "load": "runs.trees",
    "Tree": "compat.tree",
    "Finding": "engine.finding",
    "UsageError": "engine.errors",
    "SourceError": "runs.trees",
}
"""Where each name is from: it is imported when it is first asked for, as `import kiplint` alone takes no time."""

__all__ = [
    "CheckResult",
    "DecodeResult",
    "DiffResult",
    "EncodeResult",
    "Finding",
    "LayoutResult",
    "LayoutsResult",
    "MigrationResult",
    "NegotiationResult",
    "RolloutResult",
    "SourceError",
    "Tree",
    "UpgradeResult",
    "UsageError",
    "__version__",
    "check",
    "decode",
    "diff",
    "encode",
    "load",
    "migrate_bump",
    "migrate_kip_1313",
    "negotiate",
    "new_rpc",
    "rollout",
    "show",
    "show_all",
    "upgrade_path",
    "vectors",
]


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found: object = getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
