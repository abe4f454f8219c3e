"""`kiplint pipeline changes`."""

from typing import Annotated

from kiplint.cli.options import AnswerFormOption, AsOfOption, ColorOption, Group, LakeArgument, Option

EPILOG = "Example:  kiplint pipeline changes lake --since 2026-01-31"


class Options(Group, frozen=True):
    """What it takes."""

    lake: LakeArgument
    since: Annotated[
        str | None, Option("Tell what revisions from this time on brought.", "DATE", usual="the last seven days")
    ] = None
    as_of: AsOfOption = None
    output_format: AnswerFormOption = "text"
    color: ColorOption = "auto"


def run(options: Options) -> int:
    """Show what came in, what went and what broke since a date, on every line of history.

    The date is that of revisions: when they were committed. Findings have all severities, changes are
    those that break something.
    """
    from kiplint.commands.pipeline.lake import open_lake, write_answer

    reader = open_lake(options.lake, options.as_of or "")
    from kiplint.pipeline.answers.history import changes

    return write_answer(changes(reader, options.since), options.output_format, options.color)
