"""`kiplint decode`."""

from typing import Annotated, Literal

from kiplint.cli.options import Argument, Group, Option, Reporting, RepositoryOption, SetsOption

EPILOG = (
    "Examples:  kiplint decode --set clients/ 0012000300000001000461707031...   |   kiplint decode --set 4.1.0: "
    "traffic.pcapng   |   kiplint decode --set . --response Metadata@12 answer.bin   |   kiplint decode --set . "
    "--input-format jsonl frames.jsonl --output-format jsonl"
)
SECTION = "Bytes and brokers"


class Options(Group, frozen=True):
    """The options of `kiplint decode`."""

    inputs: Annotated[
        tuple[str, ...],
        Argument("Hexadecimal or base64 text, files, or - for standard input.", "INPUT", usual="standard input"),
    ] = ()
    set: SetsOption = ()
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
    defaults: Annotated[bool, Option("Show absent tagged fields with their defaults.")] = False
    records: Annotated[
        bool, Option("Decode the record batches, and the messages in them for Kafka's internal topics.")
    ] = False
    topic: Annotated[
        str | None, Option("For --input-format records: the topic, such as __consumer_offsets.", "TOPIC")
    ] = None
    repo: RepositoryOption = None
    reporting: Reporting = Reporting()


def run(options: Options) -> int:
    """Decode bytes of Kafka's protocol, and report what is wrong with them.

    Requests state their API key and version. Responses do not: in a capture they are paired with their requests, else
    --response states the request that they answer. Of a capture the summary and the frames with problems are shown.
    """
    from kiplint.cli.output import report
    from kiplint.commands.decode.result import DecodeResult
    from kiplint.commands.decode.run import decode

    def work() -> DecodeResult:
        formats = [output.partition("=")[0] for output in options.reporting.output_format] or ["text"]
        return decode(
            *options.inputs,
            sets=options.set or (".",),
            repository=options.repo,
            input_format=options.input_format,
            response=options.response,
            body=options.body,
            defaults=options.defaults,
            records=options.records,
            topic=options.topic or "",
            spans="text" in formats,
        )

    return report("decode", options.reporting, work)
