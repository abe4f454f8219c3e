"""`kiplint pipeline blame`."""

from typing import Annotated

from kiplint.cli.options import AnswerFormOption, Argument, ColorOption, Group, LakeArgument

EPILOG = "Examples:  kiplint pipeline blame lake SaslHandshake   |   kiplint pipeline blame lake compat/layout-changed"


class Options(Group, frozen=True):
    """What it takes."""

    lake: LakeArgument
    wanted: Annotated[str, Argument("A message, an RPC, a rule, or a pack.", "MESSAGE|RULE")]
    output_format: AnswerFormOption = "text"
    color: ColorOption = "auto"


def run(options: Options) -> int:
    """Show everything that happened to a message or because of a rule, in order.

    Findings as they came in and were fixed, and changes, each with its commit and the first release that has it.
    """
    from kiplint.commands.pipeline.lake import open_lake, write_answer
    from kiplint.engine.config import configure

    reader = open_lake(options.lake)
    from kiplint.pipeline.answers.history import blame

    rules = [rule.id for rule in configure(config={}).known()]
    return write_answer(blame(reader, options.wanted, rules), options.output_format, options.color)
