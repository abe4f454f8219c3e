"""`kiplint review`."""

from typing import Annotated, ClassVar, Literal

from kiplint.cli import completion
from kiplint.cli.classes import (
    Argument,
    BreaksOption,
    Choosing,
    Command,
    ConfigOption,
    Configuring,
    FailOnOption,
    Option,
    Reporting,
)


class ReviewCommand(Command, frozen=True):
    """The options of `kiplint review`."""

    EPILOG = (
        "Examples:  kiplint review   |   kiplint review --base origin/trunk clients/   |   "
        "kiplint review --base 4.1.0 --output-format markdown=comment.md   |   kiplint review --fix"
    )
    HINTS: ClassVar = {
        "breaks": "--fail-on-breaks: {message}",
        "released": "--released {message}",
        "revision": "{message}; to compare with a revision, write --base REV",
        "no-base": "{message}; name one: --base REV, or --base none to check without comparing",
    }

    paths: Annotated[
        tuple[str, ...],
        Argument("Directories and files of the checkout.", "PATH", usual="the checkout", complete=completion.sets),
    ] = ()
    base: Annotated[
        str | None,
        Option(
            "The revision to compare with, or none.",
            "REV",
            usual="where the branch left the default branch; the commit before on the default branch itself",
            complete=completion.revisions,
        ),
    ] = None
    released: Annotated[
        tuple[str, ...],
        Option(
            "A release: a glob of tags, a revision, or a set; a version that one has is released. Repeatable.",
            "GLOB|REV|SET",
            usual="the configuration's, else the tags of releases, else the base",
        ),
    ] = ()
    rollout: Annotated[
        Literal["auto", "always", "never"],
        Option("Report how far KIP-1313's header is: auto once a definition has headerVersions, always as findings."),
    ] = "auto"
    trust_head: Annotated[
        bool, Option("Take the configuration, rule packs and baseline of the work tree, not those of the base.")
    ] = False
    fix: Annotated[bool, Option("Apply the safe fixes of what the change brought, then report what is left.")] = False
    all: Annotated[bool, Option("List infos too, and in Markdown everything.", terminal=True)] = False
    choosing: Choosing = Choosing()
    fail_on: FailOnOption = None
    fail_on_breaks: BreaksOption = ("wire", "storage")
    reporting: Reporting = Reporting()
    config: ConfigOption = None

    @property
    def configuring(self) -> Configuring:
        """The configuration, which is never left out: that of the base decides."""
        return Configuring(config=self.config)

    def run(self) -> int:
        """Review a change: what it brings, what it breaks, and for whom.

        One report of the work tree against a base: the findings that the base does not have, what breaks in versions
        that a release or the base has, and the state of KIP-1313's header. Each cause is reported once, at the place to
        correct, with the fix if there is one. What the change only adds is listed below, and fails nothing. Comments,
        moved files and untouched lines are not reported.
        """
        from kiplint.cli.output import report
        from kiplint.commands.review.run import review

        return report("review", self.reporting.output_format, lambda: review(self))
