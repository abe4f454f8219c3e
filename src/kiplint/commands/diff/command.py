"""`kiplint diff`."""

from typing import Annotated

import typer

from kiplint.cli.options import (
    PAGE_FORMATS,
    BreaksOption,
    ConfigOption,
    IgnoreOption,
    IsolatedOption,
    PageFormatOption,
    ReleasedOption,
    RepositoryOption,
    SelectOption,
    SeverityOption,
    severities,
)
from kiplint.cli.output import report
from kiplint.commands.diff.run import DiffResult, Role, diff
from kiplint.compat.classify import GRAVE

EPILOG = """\b
Examples:
  kiplint diff 4.0.0: 4.1.0:
  kiplint diff HEAD~1: .
  kiplint diff kafka-clients-3.9.0.jar kafka-clients-4.0.0.jar --output-format json"""


def command(
    old: Annotated[
        str,
        typer.Argument(metavar="OLD", help="The base: a directory, an archive, REV: or REV:path. It is released."),
    ],
    new: Annotated[
        str,
        typer.Argument(metavar="NEW", help="What is compared with it, in any of the same forms."),
    ],
    also: Annotated[
        list[str] | None,
        typer.Option(metavar="OLDER", help="An older set whose tag numbers must not come back. Repeatable."),
    ] = None,
    messages: Annotated[
        list[str] | None,
        typer.Option(
            "--message",
            metavar="GLOB",
            help="Only changes of messages or RPCs of this name, such as `Fetch` or `*Offset*`. Repeatable.",
        ),
    ] = None,
    role: Annotated[
        Role | None,
        typer.Option(
            "--for",
            help="Only what matters to authors of clients (RPCs that brokers serve to them), of brokers and proxies "
            "(all RPCs), or to who keeps data (records); the same change of many messages is one entry.",
        ),
    ] = None,
    released: ReleasedOption = None,
    repository: RepositoryOption = None,
    fail_on_breaks: BreaksOption = None,
    select: SelectOption = None,
    ignore: IgnoreOption = None,
    severity: SeverityOption = None,
    output_format: PageFormatOption = None,
    config: ConfigOption = None,
    isolated: IsolatedOption = False,
) -> int:
    """Report the changes between two releases, and what they break.

    A change breaks `wire` when a released version has other bytes, `storage` when records on disk do, `support` when
    something is no longer served, `semantics` when the same bytes have another meaning, `source` when only generated
    code changes, and `none` when it only adds. Layouts before and after are shown as proof.
    """

    def work() -> DiffResult:
        return diff(
            old,
            new,
            also=also or (),
            messages=messages or (),
            role=role,
            released=released or (),
            repository=repository,
            fail_on_breaks=fail_on_breaks or GRAVE,
            select=select or (),
            ignore=ignore or (),
            severity=severities(severity),
            config=config,
            isolated=isolated,
        )

    return report("diff", output_format, work, PAGE_FORMATS)
