"""`kiplint pipeline report`."""

from typing import Annotated, Literal

from kiplint.cli.groups import AnswerFormOption, ColorOption, LakeArgument
from kiplint.cli.options import Group, Option

EPILOG = "Example:  kiplint pipeline report lake --output-format markdown > report.md"


class Options(Group, frozen=True):
    """What it takes."""

    lake: LakeArgument
    severity: Annotated[Literal["error", "warning", "info"], Option("Tell findings in time down to this severity.")] = (
        "error"
    )
    output_format: AnswerFormOption = "text"
    color: ColorOption = "auto"


def run(options: Options) -> int:
    """Show what a lake holds: sources, findings in time, what broke, who interoperates, where forks collide.

    For each finding the revision that introduced it and the one that fixed it, the first release that shipped it, and
    the first one after without it. The JSON has them all, whatever --severity says.
    """
    from kiplint.cli.lake import open_lake, write_answer

    reader = open_lake(options.lake)
    from kiplint.pipeline.answers.report import report

    return write_answer(report(reader, options.severity), options.output_format, options.color)
