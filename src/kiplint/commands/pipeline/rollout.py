"""`kiplint pipeline rollout`."""

from typing import Annotated

from kiplint.cli.options import AnswerFormOption, ColorOption, Group, LakeArgument, Option

EPILOG = "Example:  kiplint pipeline rollout lake"


class Options(Group, frozen=True):
    """What it takes."""

    lake: LakeArgument
    header: Annotated[int, Option("The request header version that is rolled out.", "VERSION", least=0, most=32767)] = 3
    output_format: AnswerFormOption = "text"
    color: ColorOption = "auto"


def run(options: Options) -> int:
    """Show how far a request header version has come, over time and releases (KIP-1313)."""
    from kiplint.commands.pipeline.lake import open_lake, write_answer

    reader = open_lake(options.lake)
    from kiplint.pipeline.answers.history import rollout

    return write_answer(rollout(reader, options.header), options.output_format, options.color)
