"""`kiplint decode`."""

from typing import Annotated, Literal

from kiplint.cli import completion
from kiplint.cli.classes import Argument, Command, Option, RepositoryOption, SetsOption


class DecodeCommand(Command, frozen=True):
    """The options of `kiplint decode`."""

    EPILOG = (
        "Examples:  kiplint decode MetadataResponse@12 body.bin --set clients/   |   "
        "kiplint decode MetadataRequest@12 --set 4.1.0: < body.hex   |   "
        "kiplint decode --set . --input-format jsonl lines.jsonl --output-format jsonl"
    )

    message: Annotated[
        str | None,
        Argument(
            "The message of the body and its version; with --input-format jsonl the file with the lines.",
            "[MESSAGE@VERSION|FILE]",
            complete=completion.messages,
        ),
    ] = None
    file: Annotated[str, Argument("The file with the bytes, - for standard input.", "[FILE]")] = "-"
    sets: SetsOption = ()
    input_format: Annotated[
        Literal["auto", "hex", "binary", "jsonl"],
        Option(
            "The form of the input: a body in hexadecimal digits or in binary, or a JSON object a line, with a body or "
            "a frame. auto takes hexadecimal digits for such."
        ),
    ] = "auto"
    repository: RepositoryOption = None
    output_format: Annotated[Literal["text", "json", "jsonl"], Option("The format of the result.")] = "text"

    def run(self) -> int:
        """Decode the bytes of a message, and report what is wrong with them.

        A JSON line has a body, `message`, `version` and `hex`; or a frame without its length, `direction`, `api_key`,
        `api_version` and `hex`. Exit codes: 0 all decoded, 1 bytes have problems, 2 something could not be read or
        understood.
        """
        from kiplint.cli.output import present
        from kiplint.commands.decode.run import decode, decode_lines
        from kiplint.engine.errors import UsageError
        from kiplint.limits import INPUT_BYTES
        from kiplint.sources.disk import read_input

        sets = self.sets or (".",)
        if self.input_format == "jsonl":
            if self.file != "-":
                raise UsageError("--input-format jsonl takes a file alone: each line has its message")
            result = decode_lines(read_input(self.message or "-", INPUT_BYTES), sets=sets, repository=self.repository)
        elif self.message is None:
            raise UsageError("decode takes MESSAGE@VERSION, or JSON lines with --input-format jsonl")
        else:
            data = read_body(self.file, self.input_format)
            result = decode(self.message, data, sets=sets, repository=self.repository)
        return present(result, self.output_format, "auto")


def read_body(file: str, form: str) -> bytes:
    """The bytes of a body in a file, or in standard input for `-`. Raises UsageError and SourceError."""
    import re

    from kiplint.engine.errors import UsageError
    from kiplint.limits import INPUT_BYTES
    from kiplint.sources.disk import read_input

    data = read_input(file, INPUT_BYTES)
    if form == "binary" or (form == "auto" and not re.fullmatch(rb"\s*+(?:0x)?[0-9a-fA-F\s:]*+", data)):
        return data
    try:
        return bytes.fromhex(re.sub(rb"[\s:]", b"", data).removeprefix(b"0x").decode())
    except ValueError:
        raise UsageError(f"{file}: not pairs of hexadecimal digits") from None
