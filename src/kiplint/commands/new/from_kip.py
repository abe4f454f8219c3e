"""`kiplint new from-kip`, or `kiplint new --from-kip`."""

from __future__ import annotations

from typing import Annotated, Literal

from kiplint.cli.options import Argument, Group, Option

EPILOG = "Example:  kiplint new from-kip KIP-1242.md --schemas clients/src/main/resources/common/message"


class Options(Group, frozen=True):
    """The options of `kiplint new from-kip`."""

    file: Annotated[str, Argument("The KIP as text, Markdown, or the HTML of a wiki; - for standard input.", "FILE")]
    schemas: Annotated[str, Option("The directory for the definitions.", "SET")] = "."
    dry_run: Annotated[bool, Option("Write nothing; print the definitions.")] = False
    output_format: Annotated[Literal["text", "json"], Option("The format of the output.")] = "text"


def run(options: Options) -> int:
    """Write the definitions in the text of a KIP to files of their own, with the licence of the set.

    A definition of a message that the directory has is not written: `kiplint kip --base` shows its changes. The result
    passes `kiplint check`; else nothing is written.
    """
    from kiplint.commands.new.output import show
    from kiplint.commands.new.run import new_from_kip

    result = new_from_kip(options.file, options.schemas, dry_run=options.dry_run)
    return show(result, options.output_format, dry_run=options.dry_run)
