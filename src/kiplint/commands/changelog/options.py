"""`kiplint changelog`."""

from typing import Annotated

from kiplint.cli import completion
from kiplint.cli.options import Argument, Group, MessageOption, RepositoryOption

EPILOG = "Example:  kiplint changelog 4.0.0: 4.1.0: > CHANGES-4.1.md"
SECTION = "Compare and plan"
HINTS = {"message": "--message {message}"}


class Options(Group, frozen=True):
    """What it takes."""

    old: Annotated[
        str, Argument("The base: a directory, an archive, REV: or REV:path.", "OLD", complete=completion.sets)
    ]
    new: Annotated[str, Argument("What came after it, in any of the same forms.", "NEW", complete=completion.sets)]
    message: MessageOption = ()
    repo: RepositoryOption = None


def run(options: Options) -> int:
    """Tell in prose, as Markdown, what changed between two releases."""
    import sys

    from kiplint.cli.output import finish
    from kiplint.cli.process import CLEAN, USAGE
    from kiplint.commands.changelog.text import write_changelog
    from kiplint.commands.diff.run import diff_all

    found = diff_all(options.old, options.new, messages=options.message, repository=options.repo)
    write_changelog(found.changes, options.old.removesuffix(":"), options.new.removesuffix(":"), sys.stdout)
    finish(found)
    return USAGE if found.broken else CLEAN
