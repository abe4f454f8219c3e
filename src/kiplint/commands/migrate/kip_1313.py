"""`kiplint migrate kip-1313`."""

from __future__ import annotations

from typing import Annotated

import typer

from kiplint.cli.options import FormOption
from kiplint.cli.output import present, present_patch
from kiplint.commands.migrate.bump import DiffOption, DryRunOption
from kiplint.commands.migrate.run import migrate_kip_1313

EPILOG = """\b
Examples:
  kiplint migrate kip-1313 --dry-run clients/src/main/resources/common/message
  kiplint migrate kip-1313 --only Fetch,Produce ."""


def command(
    sets: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH",
            help="Directories (with all below), or files; the request and response of an RPC change together.",
        ),
    ],
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="RPC", help="Change only these RPCs, such as Fetch,Produce. Repeatable."),
    ] = None,
    except_telemetry: Annotated[
        bool,
        typer.Option(
            "--except-telemetry", help="Leave GetTelemetrySubscriptions and PushTelemetry for a later change."
        ),
    ] = False,
    only_declare: Annotated[
        bool,
        typer.Option("--only-declare", help="Add headerVersions as flexibleVersions implies them, and no new version."),
    ] = False,
    dry_run: DryRunOption = False,
    diff: DiffOption = False,
    output_format: FormOption = "text",
) -> int:
    """Migrate RPCs to header versions and request header 3 (KIP-1313).

    Requests and responses get headerVersions and a new version with request header 3; RequestHeader gets version 3 with
    ClientInstanceId. SaslHandshake keeps its versions, OffsetDelete becomes flexible, and the telemetry RPCs lose the
    id that the header now has. A later run continues what an earlier one or a person left. The exit code is 1 while a
    person has to change something.
    """
    result = migrate_kip_1313(
        *sets,
        only=only or (),
        except_telemetry=except_telemetry,
        only_declare=only_declare,
        dry_run=dry_run or diff,
    )
    if diff:
        return present_patch(result, result.change.patch(), result.reasons)
    return present(result, output_format)
