"""The public names of kiplint, each with its module: `__init__.py` reads them here."""

from kiplint.commands.changelog.run import ChangelogResult as ChangelogResult
from kiplint.commands.changelog.run import changelog as changelog
from kiplint.commands.check.run import CheckResult as CheckResult
from kiplint.commands.check.run import check as check
from kiplint.commands.decode.result import DecodeResult as DecodeResult
from kiplint.commands.decode.run import decode as decode
from kiplint.commands.diff.run import DiffResult as DiffResult
from kiplint.commands.diff.run import diff as diff
from kiplint.commands.encode.run import EncodeResult as EncodeResult
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
from kiplint.commands.review.result import ReviewResult as ReviewResult
from kiplint.commands.review.run import review as review
from kiplint.commands.rollout.run import RolloutResult as RolloutResult
from kiplint.commands.rollout.run import rollout as rollout
from kiplint.commands.show.result import LayoutResult as LayoutResult
from kiplint.commands.show.result import LayoutsResult as LayoutsResult
from kiplint.commands.show.run import show as show
from kiplint.commands.show.run import show_all as show_all
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

__version__: str
__all__: list[str]
