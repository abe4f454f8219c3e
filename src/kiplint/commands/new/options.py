"""The commands of `kiplint new`: they print the paths of the new files, or the definitions with `--dry-run`."""

from typing import TYPE_CHECKING, Annotated, Literal

from kiplint.cli.options import Argument, Command, Option

if TYPE_CHECKING:
    from kiplint.commands.new.run import NewResult

SetOption = Annotated[str, Option("The directory for the definitions.", "SET")]
KeyOption = Annotated[int | None, Option("Its API key.", "KEY", usual="the next free key", least=0, most=32767)]
NewFormOption = Annotated[Literal["text", "json"], Option("The format of the output.", terminal=True)]
PairOption = Annotated[bool, Option("Write nothing; print the two definitions.")]


def _present(result: "NewResult", form: str, *, dry_run: bool) -> int:
    """Write the paths of the new files to standard output, or with `dry_run` the files; the exit code."""
    from kiplint.cli.output import finish, present, write_bytes
    from kiplint.cli.process import warn
    from kiplint.text.show import printable

    if form == "json":
        return present(result, "json", "never")
    for path, data in result.files.items():
        write_bytes(data if dry_run else f"{printable(path)}\n".encode())
    for note in result.notes:
        warn(note)
    return finish(result)


class RpcCommand(Command, frozen=True):
    """The options of `kiplint new rpc`."""

    EPILOG = "Example:  kiplint new rpc DescribeRacks --schemas clients/src/main/resources/common/message"

    name: Annotated[str, Argument("The name, without Request or Response.", "NAME")]
    schemas: SetOption = "."
    api_key: KeyOption = None
    listeners: Annotated[
        tuple[str, ...], Option("A listener that serves it. Repeatable.", "NAME", usual="broker", flag="--listener")
    ] = ()
    unstable: Annotated[bool, Option("Mark the version as unstable: it may still change.")] = False
    request: Annotated[
        str, Option("The fields of the request, such as 'Topics:[]{Name:string, Partitions:[]int32}'.", "FIELDS")
    ] = ""
    response: Annotated[str, Option("The fields of the response, after the usual ones.", "FIELDS")] = ""
    dry_run: PairOption = False
    output_format: NewFormOption = "text"

    def run(self) -> int:
        """Write the request and the response of a new RPC.

        They pass `kiplint check`. Licence, line ends and header versions are as in the other definitions of the
        directory.
        """
        from kiplint.commands.new.run import new_rpc

        return _present(new_rpc(self), self.output_format, dry_run=self.dry_run)


class RecordCommand(Command, frozen=True):
    """The options of `kiplint new record`."""

    EPILOG = "Example:  kiplint new record Rack --schemas metadata --fields 'Name:string, Ids:[]int32'"

    name: Annotated[str, Argument("The name, without Record.", "NAME")]
    schemas: Annotated[str, Option("The directory for the definition.", "SET")] = "."
    api_key: KeyOption = None
    fields: Annotated[str, Option("Its fields, such as 'Name:string, Ids:[]int32'.", "FIELDS")] = ""
    dry_run: Annotated[bool, Option("Write nothing; print the definition.")] = False
    output_format: NewFormOption = "text"

    def run(self) -> int:
        """Write a metadata record.

        It passes `kiplint check`. Licence, line ends and names of fields are as in the other definitions in the
        directory.
        """
        from kiplint.commands.new.run import new_record

        return _present(new_record(self), self.output_format, dry_run=self.dry_run)


class CoordinatorCommand(Command, frozen=True):
    """The options of `kiplint new coordinator`."""

    EPILOG = "Example:  kiplint new coordinator RackLease --key 'Group:string, Rack:string' --value 'Epoch:int32'"

    name: Annotated[str, Argument("The name, without Key or Value.", "NAME")]
    schemas: SetOption = "."
    api_key: KeyOption = None
    key: Annotated[str, Option("The fields of the key, such as 'Group:string'.", "FIELDS")] = ""
    value: Annotated[str, Option("The fields of the value.", "FIELDS")] = ""
    dry_run: PairOption = False
    output_format: NewFormOption = "text"

    def run(self) -> int:
        """Write the key and the value of a coordinator's record.

        They pass `kiplint check`. Licence, line ends and names of fields are as in the other definitions in the
        directory.
        """
        from kiplint.commands.new.run import new_coordinator

        return _present(new_coordinator(self), self.output_format, dry_run=self.dry_run)


class FromKipCommand(Command, frozen=True):
    """The options of `kiplint new from-kip`."""

    EPILOG = "Example:  kiplint new from-kip KIP-1242.md --schemas clients/src/main/resources/common/message"

    file: Annotated[str, Argument("The KIP as text, Markdown, or the HTML of a wiki; - for standard input.", "FILE")]
    schemas: SetOption = "."
    dry_run: Annotated[bool, Option("Write nothing; print the definitions.")] = False
    output_format: NewFormOption = "text"

    def run(self) -> int:
        """Write the definitions in the text of a KIP to files.

        They get the licence of the set. A definition of a message that the directory has is not written: `kiplint kip
        --base` shows its changes. The result passes `kiplint check`; else nothing is written.
        """
        from kiplint.commands.new.run import new_from_kip

        return _present(new_from_kip(self), self.output_format, dry_run=self.dry_run)
