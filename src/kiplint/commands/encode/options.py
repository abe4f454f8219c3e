"""`kiplint encode`."""

from typing import Annotated, Literal

from kiplint.cli import completion
from kiplint.cli.options import Argument, Command, Option, RepositoryOption, SetsOption


class EncodeCommand(Command, frozen=True):
    """The options of `kiplint encode`."""

    EPILOG = (
        "Examples:  kiplint encode MetadataRequest@12 --set clients/ --json '{\"topics\": null}' --header   |   "
        "kiplint encode HeartbeatRequest@4 --set . --value groupId=g --value generationId=3   |   "
        "kiplint encode --set . --input-format jsonl values.jsonl"
    )
    SECTION = "Bytes and brokers"

    message: Annotated[
        str | None,
        Argument(
            "The message and its version; or a file of JSON lines with values, - for standard input.",
            "[MESSAGE@VERSION|FILE]",
            complete=completion.messages,
        ),
    ] = None
    sets: SetsOption = ()
    json: Annotated[str | None, Option("The values as a JSON object, or a file with one.", "JSON|FILE")] = None
    value: Annotated[
        tuple[str, ...], Option("The value of a top-level field: JSON, else text. Repeatable.", "FIELD=VALUE")
    ] = ()
    header: Annotated[bool, Option("Put the header before the body.")] = False
    header_json: Annotated[str | None, Option("The values of the header; puts it before the body.", "JSON")] = None
    length: Annotated[bool, Option("Put the length of the frame before all.")] = False
    input_format: Annotated[
        Literal["auto", "jsonl"], Option("jsonl: the argument is a file of JSON lines, whatever its name.")
    ] = "auto"
    output_format: Annotated[
        Literal["hex", "base64", "binary", "json", "jsonl"] | None,
        Option("How to write the bytes.", usual="hex, or for JSON lines jsonl"),
    ] = None
    repository: RepositoryOption = None

    def run(self) -> int:
        """Write the bytes of a message from its values.

        The values have the form of Kafka's JSON converters.
        Fields without a value get their defaults. In a file, or in standard input for -, each line is an object with
        `message`, `version` and `value`, or with `direction`, `api_key`, `api_version`, `header` and `value`; for each
        line an object with `hex` is written. Exit codes: 0 all encoded, 1 a value cannot be encoded, 2 something could
        not be read or understood.
        """
        import os

        message = self.message
        if self.input_format == "jsonl" or message in (None, "-") or os.path.isfile(message or ""):
            return _encode_lines(self)
        return _encode_message(self)


def _encode_message(options: EncodeCommand) -> int:
    import base64
    import sys

    from kiplint.cli.output import finish
    from kiplint.cli.process import label, unguarded
    from kiplint.commands.encode.run import encode, parse_object, parse_values
    from kiplint.render.findings.json import as_json, pretty
    from kiplint.text.show import printable

    result = encode(
        options.message or "",
        parse_values(options.json, options.value),
        sets=options.sets or (".",),
        repository=options.repository,
        header=parse_object(options.header_json, "--header-json") if options.header_json else None,
        with_header=options.header,
        with_length=options.length,
    )
    if options.output_format in ("json", "jsonl"):
        print(pretty(result.document) if options.output_format == "json" else as_json(result.document))
        return finish(result)
    for problem in result.problems:
        print(f"{label('error')}[{problem.rule}]: {printable(problem.message)}", file=sys.stderr)
    if not result.problems and options.output_format == "binary":
        unguarded(sys.stdout).write(result.data)
    elif not result.problems:
        print(base64.b64encode(result.data).decode() if options.output_format == "base64" else result.data.hex())
    return finish(result)


def _encode_lines(options: EncodeCommand) -> int:
    from kiplint.cli.output import finish
    from kiplint.commands.encode.run import encode_lines, open_lines
    from kiplint.engine.errors import UsageError
    from kiplint.render.findings.json import as_json
    from kiplint.render.report import RunResult

    if options.output_format not in (None, "jsonl"):
        raise UsageError("JSON lines are written for JSON lines: leave --output-format out")
    if options.json or options.value or options.header or options.header_json or options.length:
        raise UsageError("--json, --value, --header, --header-json and --length are for one message, not for lines")
    broken: list[str] = []
    has_problems = False
    with open_lines(options.message or "-") as lines:
        for result in encode_lines(lines, sets=options.sets or (".",), repository=options.repository, broken=broken):
            has_problems = has_problems or bool(result.problems)
            print(as_json(result))
    return finish(RunResult(status="error" if broken else "findings" if has_problems else "ok", broken=tuple(broken)))
