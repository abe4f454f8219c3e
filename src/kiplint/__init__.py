"""kiplint: linter and compatibility checker for Apache Kafka message schemas.

The functions do what the commands do, print nothing, and return what the commands print.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0"

_NAMES = {
    "codec.wire": ("ByteProblem", "ValueSpan"),
    "commands.check.run": ("CheckResult", "check"),
    "commands.decode": ("DecodedObject", "DecodeResult", "FieldError", "Frame", "decode"),
    "commands.diff.run": ("DiffResult", "diff"),
    "commands.kip": ("CheckedKip", "DefinitionObject", "KipObject", "KipResult", "kip"),
    "commands.migrate.run": ("MigrationResult", "migrate_bump", "migrate_kip_1313"),
    "commands.negotiate": ("NegotiationResult", "negotiate"),
    "commands.review.result": ("Also", "Entry", "ReviewResult"),
    "commands.review.run": ("review",),
    "commands.rollout": ("RolloutDocument", "RolloutResult", "RolloutSummary", "rollout"),
    "commands.show": ("FieldObject", "LayoutObject", "MessageObject", "ShowResult", "show"),
    "compat.change": ("Change",),
    "compat.classify": ("ChangeFinding",),
    "compat.negotiation.result": (
        "Agreement",
        "BrokerMode",
        "Exchange",
        "Ids",
        "Negotiation",
        "NegotiationSummary",
        "RpcRow",
        "Telemetry",
    ),
    "compat.rollout": ("RolloutRow",),
    "compat.tree": ("Tree", "load"),
    "compat.proof": ("Proof",),
    "engine.baseline": ("StaleEntry",),
    "engine.errors": ("UsageError",),
    "engine.finding": ("Finding", "Fix", "Location", "Span"),
    "fixes.migration": ("FileEdits", "MigrationRow"),
    "fixes.write": ("FileChanges",),
    "model.fields": ("Container", "Field", "Struct"),
    "model.headers": ("HeaderRange",),
    "model.layout": ("Layout", "Slot"),
    "model.load": ("Definition",),
    "model.message": ("Message",),
    "model.notes": ("Note", "Paragraph"),
    "model.schemas": ("Rpc", "SchemaSet"),
    "render.report": ("RuleInfo", "Verdict"),
    "sources.schema_files": ("SourceError",),
    "text.decode": ("Problem",),
    "text.edit": ("Edit",),
    "versions": ("VersionRange",),
}
"""The public names by module; `__init__.pyi` has them for type checkers."""

__all__ = ["__version__", *(name for names in _NAMES.values() for name in names)]  # noqa: PLE0604


def __getattr__(name: str) -> object:
    """A public name, whose module is imported on first use, so that `import kiplint` takes no time."""
    for module, names in _NAMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
