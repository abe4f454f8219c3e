"""`kiplint rollout`."""

from typing import Annotated

from kiplint.cli import completion
from kiplint.cli.classes import Argument, Command, Option, ReleasedOption, Reporting, RepositoryOption


class RolloutCommand(Command, frozen=True):
    """The options of `kiplint rollout`."""

    EPILOG = "Examples:  kiplint rollout 4.1.0: HEAD:   |   kiplint rollout clients/ --output-format markdown"

    sets: Annotated[
        tuple[str, ...],
        Argument(
            "The release before, if any, and the set to look at.",
            "[BASE] HEAD",
            usual="the working directory",
            complete=completion.sets,
        ),
    ] = ()
    header: Annotated[int, Option("The request header version that every RPC should have.", "VERSION", least=1)] = 3
    released: ReleasedOption = ()
    repository: RepositoryOption = None
    reporting: Reporting = Reporting()

    def run(self) -> int:
        """Report which RPCs use the new request header (KIP-1313).

        done: a new version uses it, and the response was bumped too. unstable: only an unstable version uses it.
        missing: none does. wrong: a released version was moved to another header, or the response lags. new: not in
        BASE, with the header from its first version.
        exempt: frozen. dead: no version left. The exit code is 1 while any is unstable, missing or wrong.
        """
        from kiplint.cli.output import report
        from kiplint.commands.rollout.run import rollout

        return report("rollout", self.reporting.output_format, lambda: rollout(self))
