"""`kiplint encode`."""

from typing import Annotated, Literal

from kiplint.cli import completion
from kiplint.cli.groups import RepositoryOption, SetsOption
from kiplint.cli.options import Argument, Group, Option

EPILOG = (
    "Examples:  kiplint encode MetadataRequest@12 --set clients/ --json '{\"topics\": null}' --header   |   "
    "kiplint encode HeartbeatRequest@4 --set . --value groupId=g --value generationId=3   |   "
    "kiplint encode --set . --input-format jsonl values.jsonl"
)


class Options(Group, frozen=True):
    """What it takes."""

    message: Annotated[
        str | None,
        Argument(
            "The message and its version; or a file of JSON lines with values, - for standard input.",
            "[MESSAGE@VERSION|FILE]",
            complete=completion.messages,
        ),
    ] = None
    set: SetsOption = ()
    json: Annotated[str | None, Option("The values as a JSON object, or a file with one.", "JSON|FILE")] = None
    value: Annotated[tuple[str, ...], Option("A top-level field: JSON, or else text. Repeatable.", "FIELD=VALUE")] = ()
    header: Annotated[bool, Option("Put the header in front.")] = False
    header_json: Annotated[str | None, Option("The values of the header in front.", "JSON")] = None
    length: Annotated[bool, Option("Put the length of the frame in front of all.")] = False
    input_format: Annotated[
        Literal["auto", "jsonl"], Option("jsonl: the argument is a file of JSON lines, whatever its name.")
    ] = "auto"
    output_format: Annotated[
        Literal["hex", "base64", "binary", "json", "jsonl"] | None,
        Option("How to write the bytes.", usual="hex, or for JSON lines jsonl"),
    ] = None
    repo: RepositoryOption = None


def run(options: Options) -> int:
    """Write the bytes of a message from values in the terms of Kafka's JSON converters.

    Fields that are left out get their defaults. With a file, or -, every line of it is an object with `message`,
    `version` and `value`, or with `direction`, `api_key`, `api_version`, `header` and `value`; a line with `hex`
    is written for each. Exit codes: 0 all written, 1 a value has no bytes, 2 something could not be read or understood.
    """
    import os

    from kiplint.commands.encode.run import encode_lines, encode_one

    given = options.message
    in_lines = options.input_format == "jsonl" or given in (None, "-") or os.path.isfile(given or "")
    return encode_lines(options) if in_lines else encode_one(options)
