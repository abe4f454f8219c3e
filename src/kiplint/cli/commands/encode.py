"""`kiplint encode`."""

from typing import Annotated, Literal

from kiplint.cli.groups import RepositoryOption, SetsOption
from kiplint.cli.options import Argument, Group, Option

EPILOG = (
    "Examples:  kiplint encode MetadataRequest@12 --set clients/ --json '{\"topics\": null}' --header   |   "
    "kiplint encode HeartbeatRequest@4 --set . --value groupId=g --value generationId=3   |   "
    "kiplint encode - --set . < values.jsonl"
)


class Options(Group, frozen=True):
    """What it takes."""

    message: Annotated[
        str, Argument("The message and its version; - for JSON lines with values on standard input.", "MESSAGE@VERSION")
    ]
    set: SetsOption = ()
    json: Annotated[str | None, Option("The values as a JSON object, or a file with one.", "JSON|FILE")] = None
    value: Annotated[tuple[str, ...], Option("A top-level field: JSON, or else text. Repeatable.", "FIELD=VALUE")] = ()
    header: Annotated[bool, Option("Put the header in front.")] = False
    header_json: Annotated[str | None, Option("The values of the header in front.", "JSON")] = None
    length: Annotated[bool, Option("Put the length of the frame in front of all.")] = False
    output_format: Annotated[Literal["hex", "base64", "binary", "json"], Option("How to write the bytes.")] = "hex"
    repo: RepositoryOption = None


def run(options: Options) -> int:
    """Write the bytes of a message from values in the terms of Kafka's JSON converters.

    Fields that are left out get their defaults. With - every line of standard input is an object with `message`,
    `version` and `value`, or with `direction`, `api_key`, `api_version`, `header` and `value`; a line with `hex`
    is written for each.
    """
    from kiplint.cli.bytes import encode_lines, encode_one

    return encode_lines(options) if options.message == "-" else encode_one(options)
