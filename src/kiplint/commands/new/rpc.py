"""`kiplint new rpc`."""

from __future__ import annotations

from typing import Annotated, Literal

from kiplint.cli.groups import split
from kiplint.cli.options import Argument, Group, Option

EPILOG = "Example:  kiplint new rpc DescribeRacks --schemas clients/src/main/resources/common/message"


class Options(Group, frozen=True):
    """What it takes."""

    name: Annotated[str, Argument("The name, without Request or Response.", "NAME")]
    schemas: Annotated[str, Option("The directory that it is for.", "SET")] = "."
    api_key: Annotated[
        int | None, Option("Its API key.", "KEY", usual="the next that is free", least=0, most=32767)
    ] = None
    listener: Annotated[tuple[str, ...], Option("A listener that serves it. Repeatable.", "NAME", usual="broker")] = ()
    unstable: Annotated[bool, Option("Say that the version may still change.")] = False
    dry_run: Annotated[bool, Option("Write nothing; print the two definitions.")] = False
    output_format: Annotated[Literal["text", "json"], Option("How to say what was written.")] = "text"


def run(options: Options) -> int:
    """Write a request and a response for a new RPC, which pass `kiplint check` as they are.

    Licence, line ends and header versions are as in the definitions beside them.
    """
    import sys

    from kiplint.cli.output import write_bytes
    from kiplint.cli.process import CLEAN
    from kiplint.commands.migrate.run import new_rpc
    from kiplint.text.show import printable

    files = new_rpc(
        options.name,
        options.schemas,
        api_key=options.api_key,
        listeners=split(options.listener),
        unstable=options.unstable,
        dry_run=options.dry_run,
    )
    if options.output_format == "json":
        from kiplint.commands.migrate.result import new_document
        from kiplint.render.findings.json import write_document

        write_document(new_document(files), sys.stdout)
        return CLEAN
    for path, data in files.items():
        write_bytes(data if options.dry_run else f"{printable(path)}\n".encode())
    return CLEAN
