"""`kiplint vectors`."""

from typing import Annotated

from kiplint.cli import completion
from kiplint.cli.options import Argument, Command, Option, RepositoryOption


class VectorsCommand(Command, frozen=True):
    """The options of `kiplint vectors`."""

    EPILOG = "Examples:  kiplint vectors clients/ > vectors.jsonl   |   kiplint vectors 4.1.0: --message FetchRequest"
    SECTION = "Bytes and brokers"

    sets: Annotated[
        tuple[str, ...],
        Argument(
            "The schema sets: directories, files, archives, REV: or REV:path.",
            "SET",
            usual="the working directory",
            complete=completion.sets,
        ),
    ] = ()
    messages: Annotated[
        tuple[str, ...],
        Option("Only this message. Repeatable.", "NAME", complete=completion.messages, flag="--message"),
    ] = ()
    repository: RepositoryOption = None

    def run(self) -> int:
        """Write golden bytes of every message, to test clients with.

        A JSON object a line. For each version: minimal values, each field rich, each nullable field null, each tag
        present, and all fields rich; with the values, the bytes of the body, and a header. The same at every run.

        Then bodies on which readers fail: lengths and counts above 127, UTF-8, extreme numbers, nulls everywhere,
        unknown tags in bodies, structs and headers. Last, bytes that a reader must refuse, with the offset of the
        fault: lengths beyond the end or negative, null where it may not be, trailing bytes, endless varints. A reader
        may refuse tags that are there twice or not in order: Kafka's own reads them.
        """
        import sys

        from kiplint.cli.output import finish
        from kiplint.cli.process import warn
        from kiplint.commands.vectors.run import vectors
        from kiplint.render.findings.json import as_json
        from kiplint.render.report import RunResult

        broken: list[str] = []
        left_out: list[str] = []
        for vector in vectors(
            *self.sets, repository=self.repository, messages=self.messages, broken=broken, left_out=left_out
        ):
            sys.stdout.write(as_json(vector) + "\n")
        for line in left_out:
            warn(f"warning: {line}")
        return finish(RunResult(status="error" if broken else "ok", broken=tuple(broken)))
