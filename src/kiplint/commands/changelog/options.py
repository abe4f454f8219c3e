"""`kiplint changelog`."""

from typing import Annotated, ClassVar

from kiplint.cli import completion
from kiplint.cli.options import Argument, Command, MessageOption, RepositoryOption, RoleOption


class ChangelogCommand(Command, frozen=True):
    """The options of `kiplint changelog`."""

    EPILOG = "Example:  kiplint changelog 4.0.0: 4.1.0: > CHANGES-4.1.md"
    HINTS: ClassVar = {"message": "--message {message}"}
    SECTION = "Compare and plan"

    old: Annotated[
        str, Argument("The base: a directory, an archive, REV: or REV:path.", "OLD", complete=completion.sets)
    ]
    new: Annotated[str, Argument("The later set, in any of the same forms.", "NEW", complete=completion.sets)]
    messages: MessageOption = ()
    role: RoleOption = None
    repository: RepositoryOption = None

    def run(self) -> int:
        """Describe what changed between two releases, in Markdown."""
        from kiplint.cli.output import present
        from kiplint.commands.changelog.run import changelog

        return present(changelog(self), "text", "never")
