"""`kiplint changelog`."""

from typing import Annotated

from kiplint.cli import completion
from kiplint.cli.options import Argument, Group, MessageOption, RepositoryOption, call

EPILOG = "Example:  kiplint changelog 4.0.0: 4.1.0: > CHANGES-4.1.md"
SECTION = "Compare and plan"
HINTS = {"message": "--message {message}"}


class Options(Group, frozen=True):
    """The options of `kiplint changelog`."""

    old: Annotated[
        str, Argument("The base: a directory, an archive, REV: or REV:path.", "OLD", complete=completion.sets)
    ]
    new: Annotated[str, Argument("The later set, in any of the same forms.", "NEW", complete=completion.sets)]
    message: MessageOption = ()
    repo: RepositoryOption = None


def run(options: Options) -> int:
    """Describe in prose, as Markdown, what changed between two releases."""
    from kiplint.cli.output import present
    from kiplint.commands.changelog.run import changelog

    return present(call(changelog, options), "text", "never")
