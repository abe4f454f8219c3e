"""`kiplint show`."""

from typing import Annotated, Literal

from kiplint.cli.groups import ColorOption, RepositoryOption
from kiplint.cli.options import Argument, Group, Option

EPILOG = (
    "Examples:  kiplint show FetchRequest@17 clients/   |   kiplint show MetadataResponse 4.1.0: --output-format json"
)


class Options(Group, frozen=True):
    """What it takes."""

    message: Annotated[str, Argument("The message, and one of its versions.", "MESSAGE[@VERSION]")]
    source: Annotated[str, Argument("Where to look for it.", "[SET]")] = "."
    repo: RepositoryOption = None
    output_format: Annotated[Literal["text", "json"], Option("How to write the layouts.")] = "text"
    color: ColorOption = "auto"


def run(options: Options) -> int:
    """Draw what a message puts on the wire, for each range of versions on which that is the same.

    The last column counts bytes: a number is the width; 2+n, 4+n and varint+n are a length and that many bytes.
    """
    from kiplint.cli.output import present
    from kiplint.runs.show import show

    found = show(options.message, options.source, repository=options.repo)
    return present(found, options.output_format, options.color)
