"""`kiplint decode`."""

from collections.abc import Callable
from typing import Annotated, Literal, Self

from kiplint.cli.options import Argument, Command, Option, Reporting, RepositoryOption, SetsOption


class DecodeCommand(Command, frozen=True):
    """The options of `kiplint decode`."""

    EPILOG = (
        "Examples:  kiplint decode --set clients/ 0012000300000001000461707031...   |   kiplint decode --set 4.1.0: "
        "traffic.pcapng   |   kiplint decode --set . --response Metadata@12 answer.bin   |   kiplint decode --set . "
        "--input-format jsonl frames.jsonl --output-format jsonl   |   kiplint decode --set . traffic.pcapng --list "
        '--where "latency > 100"'
    )
    SECTION = "Bytes and brokers"

    inputs: Annotated[
        tuple[str, ...],
        Argument("Hexadecimal or base64 text, files, or - for standard input.", "INPUT", usual="standard input"),
    ] = ()
    sets: SetsOption = ()
    response: Annotated[
        str | None, Option("The frames answer a request of this API key (or name) and version.", "KEY@VERSION")
    ] = None
    body: Annotated[str | None, Option("The bytes are this message, without a header.", "MESSAGE@VERSION")] = None
    input_format: Annotated[
        Literal["auto", "hex", "base64", "frame", "stream", "capture", "records", "jsonl"],
        Option(
            "The form of the input: text with a frame a line (hex, base64), a binary frame, a stream of frames with "
            "their lengths, a capture (pcap, pcapng), record batches of a log, or a JSON object a line."
        ),
    ] = "auto"
    rows: Annotated[
        bool, Option("List the frames, a line each, and the summary of a capture behind them.", flag="--list")
    ] = False
    where: Annotated[
        str | None,
        Option(
            "Only the frames for which an expression of the rule language holds, such as \"api == 'Fetch' and error != "
            "'NONE' and latency > 100\". The names: number, time (s), connection, direction, api, api_key, version, "
            "client_id, correlation_id, size (bytes), latency (ms), error, errors, problem, answered, client, server, "
            "message.",
            "EXPRESSION",
        ),
    ] = None
    frame: Annotated[int | None, Option("Only the frame with this number, in full.", "N", least=1)] = None
    offsets: Annotated[bool, Option("Add the place of each value to JSON.")] = False
    defaults: Annotated[bool, Option("Show absent tagged fields with their defaults.")] = False
    records: Annotated[
        bool, Option("Decode the record batches, and the messages in them for Kafka's internal topics.")
    ] = False
    secrets: Annotated[
        bool, Option("Show SASL tokens, keys and passwords, which are overwritten by asterisks otherwise.")
    ] = False
    topic: Annotated[
        str | None, Option("For --input-format records: the topic, such as __consumer_offsets.", "TOPIC")
    ] = None
    limit: Annotated[
        int,
        Option(
            "The most records to decode, of all inputs together; ten times as many elements of arrays; and as many "
            "frames, a tenth in text, from twice as many packets. Frames that are written as JSON lines are all "
            "decoded, except those of captures.",
            "N",
            least=1,
            most=1_000_000_000,
        ),
    ] = 200_000
    repository: RepositoryOption = None
    reporting: Reporting = Reporting()

    def run(self) -> int:
        """Decode bytes of Kafka's protocol, and report what is wrong.

        Requests state their API key and version. Responses do not: in a capture they are paired with their requests,
        else --response states the request that they answer. Of a capture the summary and the frames with problems are
        shown, all frames with --list, one in full with --frame.
        """
        import sys

        from msgspec.structs import replace

        from kiplint.cli.output import finish, open_outputs, report
        from kiplint.cli.process import warn
        from kiplint.commands.decode.result import DecodedFrame, DecodeResult, decoded_object
        from kiplint.commands.decode.run import decode
        from kiplint.render.findings.json import as_json

        outputs = open_outputs(self.reporting)
        formats = {output.format for output in outputs}

        def work(each: Callable[[DecodedFrame], object] | None = None) -> DecodeResult:
            values = not formats.isdisjoint(("json", "jsonl"))
            spans, is_html = not formats.isdisjoint(("text", "html")), "html" in formats
            result = decode(self, spans=spans, values=values, detailed=is_html, each=each)
            note = f"warning: not all was decoded: --limit {self.limit} was reached; a larger one decodes more"
            return replace(result, notes=(*result.notes, note)) if result.limited else result

        is_streamed = [output.format for output in outputs] == ["jsonl"] and outputs[0].is_out
        if not is_streamed:
            return report("decode", self.reporting, work)
        result = work(lambda entry: sys.stdout.write(as_json(decoded_object(entry, offsets=self.offsets)) + "\n"))
        for note in result.notes:
            warn(note)
        return finish(result)

    @classmethod
    def of(cls, *arguments: object, **values: object) -> Self:
        """The command with the arguments of a Python function, whose inputs may also be bytes."""
        from msgspec.structs import replace

        texts = super().of(*(argument for argument in arguments if not isinstance(argument, bytes)), **values)
        words = iter(texts.inputs)
        inputs = tuple(argument if isinstance(argument, bytes) else next(words) for argument in arguments)
        return replace(texts, inputs=inputs)
