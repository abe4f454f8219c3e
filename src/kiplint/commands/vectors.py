"""`kiplint vectors`."""

from typing import Annotated

from kiplint.cli import completion
from kiplint.cli.groups import RepositoryOption
from kiplint.cli.options import Argument, Group, Option

EPILOG = "Examples:  kiplint vectors clients/ > vectors.jsonl   |   kiplint vectors 4.1.0: --message FetchRequest"


class Options(Group, frozen=True):
    """What it takes."""

    sets: Annotated[
        tuple[str, ...],
        Argument(
            "The schema sets: directories, files, archives, REV: or REV:path.",
            "SET",
            usual="the working directory",
            complete=completion.sets,
        ),
    ] = ()
    message: Annotated[
        tuple[str, ...], Option("Only this message. Repeatable.", "NAME", complete=completion.messages)
    ] = ()
    repo: RepositoryOption = None


def run(options: Options) -> int:
    """Write golden bytes of every message and version, a JSON object a line, for clients to test themselves with.

    For each: minimal, each field rich, each nullable field null, each tag present, and everything rich, with the
    values, the body's bytes, and a header. The same at every run.
    """
    from kiplint.commands.encode.run import write_vectors

    return write_vectors(options)
