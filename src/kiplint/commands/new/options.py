"""The commands of `kiplint new`: they print the paths of the new files, or the definitions with `--dry-run`."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal

from kiplint.cli.options import Argument, Group, Option, call, split

if TYPE_CHECKING:
    from kiplint.commands.new.run import NewResult

SetOption = Annotated[str, Option("The directory for the definitions.", "SET")]
KeyOption = Annotated[int | None, Option("Its API key.", "KEY", usual="the next free key", least=0, most=32767)]
NewFormOption = Annotated[Literal["text", "json"], Option("The format of the output.")]
PairOption = Annotated[bool, Option("Write nothing; print the two definitions.")]


def _written(function: "Callable[..., NewResult]", options: Any, **others: Any) -> int:
    """Write the result of a function to standard output, and its notes to stderr; the exit code."""
    from kiplint.cli.output import finish, present, write_bytes
    from kiplint.cli.process import warn
    from kiplint.text.show import printable

    result = call(function, options, **others)
    if options.output_format == "json":
        return present(result, "json", "never")
    for path, data in result.files.items():
        write_bytes(data if options.dry_run else f"{printable(path)}\n".encode())
    for note in result.notes:
        warn(note)
    return finish(result)


class RpcRoom:
    """`kiplint new rpc`."""

    EPILOG = "Example:  kiplint new rpc DescribeRacks --schemas clients/src/main/resources/common/message"

    class Options(Group, frozen=True):
        """The options of `kiplint new rpc`."""

        name: Annotated[str, Argument("The name, without Request or Response.", "NAME")]
        schemas: SetOption = "."
        api_key: KeyOption = None
        listener: Annotated[
            tuple[str, ...], Option("A listener that serves it. Repeatable.", "NAME", usual="broker")
        ] = ()
        unstable: Annotated[bool, Option("Mark the version as unstable: it may still change.")] = False
        request: Annotated[
            str, Option("The fields of the request, such as 'Topics:[]{Name:string, Partitions:[]int32}'.", "FIELDS")
        ] = ""
        response: Annotated[str, Option("The fields of the response, after the usual ones.", "FIELDS")] = ""
        dry_run: PairOption = False
        output_format: NewFormOption = "text"

    @staticmethod
    def run(options: "RpcRoom.Options") -> int:
        """Write a request and a response for a new RPC that pass `kiplint check`.

        Licence, line ends and header versions are as in the other definitions of the directory.
        """
        from kiplint.commands.new.run import new_rpc

        return _written(new_rpc, options, listeners=split(options.listener))


class RecordRoom:
    """`kiplint new record`."""

    EPILOG = "Example:  kiplint new record Rack --schemas metadata --fields 'Name:string, Ids:[]int32'"

    class Options(Group, frozen=True):
        """The options of `kiplint new record`."""

        name: Annotated[str, Argument("The name, without Record.", "NAME")]
        schemas: Annotated[str, Option("The directory for the definition.", "SET")] = "."
        api_key: KeyOption = None
        fields: Annotated[str, Option("Its fields, such as 'Name:string, Ids:[]int32'.", "FIELDS")] = ""
        dry_run: Annotated[bool, Option("Write nothing; print the definition.")] = False
        output_format: NewFormOption = "text"

    @staticmethod
    def run(options: "RecordRoom.Options") -> int:
        """Write a metadata record that passes `kiplint check`.

        Licence, line ends and names of fields are as in the other definitions in the directory.
        """
        from kiplint.commands.new.run import new_record

        return _written(new_record, options)


class CoordinatorRoom:
    """`kiplint new coordinator`."""

    EPILOG = "Example:  kiplint new coordinator RackLease --key 'Group:string, Rack:string' --value 'Epoch:int32'"

    class Options(Group, frozen=True):
        """The options of `kiplint new coordinator`."""

        name: Annotated[str, Argument("The name, without Key or Value.", "NAME")]
        schemas: SetOption = "."
        api_key: KeyOption = None
        key: Annotated[str, Option("The fields of the key, such as 'Group:string'.", "FIELDS")] = ""
        value: Annotated[str, Option("The fields of the value.", "FIELDS")] = ""
        dry_run: PairOption = False
        output_format: NewFormOption = "text"

    @staticmethod
    def run(options: "CoordinatorRoom.Options") -> int:
        """Write the key and the value of a coordinator's record, which pass `kiplint check`.

        Licence, line ends and names of fields are as in the other definitions in the directory.
        """
        from kiplint.commands.new.run import new_coordinator

        return _written(new_coordinator, options)


class FromKipRoom:
    """`kiplint new from-kip`, or `kiplint new --from-kip`."""

    EPILOG = "Example:  kiplint new from-kip KIP-1242.md --schemas clients/src/main/resources/common/message"

    class Options(Group, frozen=True):
        """The options of `kiplint new from-kip`."""

        file: Annotated[
            str, Argument("The KIP as text, Markdown, or the HTML of a wiki; - for standard input.", "FILE")
        ]
        schemas: SetOption = "."
        dry_run: Annotated[bool, Option("Write nothing; print the definitions.")] = False
        output_format: NewFormOption = "text"

    @staticmethod
    def run(options: "FromKipRoom.Options") -> int:
        """Write the definitions in the text of a KIP to files of their own, with the licence of the set.

        A definition of a message that the directory has is not written: `kiplint kip --base` shows its changes. The
        result passes `kiplint check`; else nothing is written.
        """
        from kiplint.commands.new.run import new_from_kip

        return _written(new_from_kip, options)
