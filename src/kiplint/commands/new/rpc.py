"""`kiplint new rpc`."""

from __future__ import annotations

from typing import Annotated, Literal

from kiplint.cli.options import Argument, Group, Option, split

EPILOG = "Example:  kiplint new rpc DescribeRacks --schemas clients/src/main/resources/common/message"


class Options(Group, frozen=True):
    """The options of `kiplint new rpc`."""

    name: Annotated[str, Argument("The name, without Request or Response.", "NAME")]
    schemas: Annotated[str, Option("The directory for the definitions.", "SET")] = "."
    api_key: Annotated[int | None, Option("Its API key.", "KEY", usual="the next free key", least=0, most=32767)] = None
    listener: Annotated[tuple[str, ...], Option("A listener that serves it. Repeatable.", "NAME", usual="broker")] = ()
    unstable: Annotated[bool, Option("Mark the version as unstable: it may still change.")] = False
    request: Annotated[
        str, Option("The fields of the request, such as 'Topics:[]{Name:string, Partitions:[]int32}'.", "FIELDS")
    ] = ""
    response: Annotated[str, Option("The fields of the response, after the usual ones.", "FIELDS")] = ""
    dry_run: Annotated[bool, Option("Write nothing; print the two definitions.")] = False
    output_format: Annotated[Literal["text", "json"], Option("The format of the output.")] = "text"


def run(options: Options) -> int:
    """Write a request and a response for a new RPC that pass `kiplint check`.

    Licence, line ends and header versions are as in the other definitions of the directory.
    """
    from kiplint.commands.new.output import show
    from kiplint.commands.new.run import new_rpc

    result = new_rpc(
        options.name,
        options.schemas,
        api_key=options.api_key,
        listeners=split(options.listener),
        unstable=options.unstable,
        request=options.request,
        response=options.response,
        dry_run=options.dry_run,
    )
    return show(result, options.output_format, dry_run=options.dry_run)
