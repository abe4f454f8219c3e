"""The public names of kiplint: `__init__.py` reads their modules here, except those of the functions at the end."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from kiplint.codec.wire import ByteProblem as ByteProblem
from kiplint.codec.wire import ValueSpan as ValueSpan
from kiplint.commands.check.baseline import StaleObject as StaleObject
from kiplint.commands.check.run import CheckResult as CheckResult
from kiplint.commands.check.run import check as check
from kiplint.commands.decode import DecodedObject as DecodedObject
from kiplint.commands.decode import DecodeResult as DecodeResult
from kiplint.commands.decode import FieldError as FieldError
from kiplint.commands.decode import Frame as Frame
from kiplint.commands.decode import decode as decode
from kiplint.commands.diff.run import DiffResult as DiffResult
from kiplint.commands.diff.run import diff as diff
from kiplint.commands.kip import CheckedKip as CheckedKip
from kiplint.commands.kip import DefinitionObject as DefinitionObject
from kiplint.commands.kip import KipObject as KipObject
from kiplint.commands.kip import KipResult as KipResult
from kiplint.commands.kip import kip as kip
from kiplint.commands.migrate.result import MigrationResult as MigrationResult
from kiplint.commands.migrate.run import migrate_bump as migrate_bump
from kiplint.commands.migrate.run import migrate_kip_1313 as migrate_kip_1313
from kiplint.commands.negotiate import NegotiationResult as NegotiationResult
from kiplint.commands.negotiate import negotiate as negotiate
from kiplint.commands.review.result import Also as Also
from kiplint.commands.review.result import Entry as Entry
from kiplint.commands.review.result import ReviewResult as ReviewResult
from kiplint.commands.rollout import RolloutDocument as RolloutDocument
from kiplint.commands.rollout import RolloutResult as RolloutResult
from kiplint.commands.rollout import RolloutSummary as RolloutSummary
from kiplint.commands.rollout import rollout as rollout
from kiplint.commands.show import FieldObject as FieldObject
from kiplint.commands.show import LayoutObject as LayoutObject
from kiplint.commands.show import MessageObject as MessageObject
from kiplint.commands.show import ShowResult as ShowResult
from kiplint.commands.show import show as show
from kiplint.compat.change import Change as Change
from kiplint.compat.change import Spot as Spot
from kiplint.compat.change import Witness as Witness
from kiplint.compat.judge import ChangeFinding as ChangeFinding
from kiplint.compat.negotiation.result import Agreement as Agreement
from kiplint.compat.negotiation.result import BrokerMode as BrokerMode
from kiplint.compat.negotiation.result import Exchange as Exchange
from kiplint.compat.negotiation.result import Ids as Ids
from kiplint.compat.negotiation.result import Negotiation as Negotiation
from kiplint.compat.negotiation.result import NegotiationSummary as NegotiationSummary
from kiplint.compat.negotiation.result import RpcRow as RpcRow
from kiplint.compat.negotiation.result import Telemetry as Telemetry
from kiplint.compat.rollout import RolloutRow as RolloutRow
from kiplint.compat.tree import Tree as Tree
from kiplint.compat.tree import load as load
from kiplint.engine.config import Path
from kiplint.engine.errors import UsageError as UsageError
from kiplint.engine.finding import Finding as Finding
from kiplint.engine.finding import Fix as Fix
from kiplint.engine.finding import Span as Span
from kiplint.fixes.migration import FileEdits as FileEdits
from kiplint.fixes.migration import MigrationRow as MigrationRow
from kiplint.fixes.write import FileChanges as FileChanges
from kiplint.model.fields import Container as Container
from kiplint.model.fields import Field as Field
from kiplint.model.fields import Struct as Struct
from kiplint.model.headers import HeaderRange as HeaderRange
from kiplint.model.layout import Layout as Layout
from kiplint.model.layout import Slot as Slot
from kiplint.model.load import Definition as Definition
from kiplint.model.message import Message as Message
from kiplint.model.notes import Note as Note
from kiplint.model.notes import Paragraph as Paragraph
from kiplint.model.schemas import Rpc as Rpc
from kiplint.model.schemas import SchemaSet as SchemaSet
from kiplint.render.report import RuleInfo as RuleInfo
from kiplint.render.report import Verdict as Verdict
from kiplint.sources.schema_files import SourceError as SourceError
from kiplint.text.decode import Problem as Problem
from kiplint.text.edit import Edit as Edit
from kiplint.versions import VersionRange as VersionRange

__version__: str
__all__: list[str]

# The functions of commands; `make docs` writes them.
def review(
    *paths: Path,
    base: str | None = ...,
    released: Sequence[Path] = ...,
    rollout: Literal["auto", "always", "never"] = ...,
    trust_head: bool = ...,
    fix: bool = ...,
    select: Sequence[str] = ...,
    ignore: Sequence[str] = ...,
    severity: Sequence[str] | Mapping[str, object] = ...,
    fail_on: Literal["error", "warning", "info", "never"] | None = ...,
    fail_on_breaks: Sequence[str] = ...,
    config: Path | Mapping[str, Any] | None = ...,
) -> ReviewResult: ...
