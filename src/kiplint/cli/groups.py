"""Options that several commands have, each said once."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from kiplint.cli import completion
from kiplint.cli.options import Argument, Group, Option
from kiplint.engine.errors import UsageError
from kiplint.render.formats import format_names

if TYPE_CHECKING:
    from kiplint.engine.configure import Chosen

ColorOption = Annotated[Literal["auto", "always", "never"], Option("Colours in the output.")]
FailOnOption = Annotated[
    Literal["error", "warning", "info", "never"] | None,
    Option("The lowest severity that makes the exit code 1.", usual="error"),
]
FormOption = Annotated[Literal["text", "json"], Option("How to write the result.")]
PageFormOption = Annotated[Literal["text", "json", "html"], Option("How to write the result.")]
OpenOption = Annotated[bool, Option("Open the report in the browser: a page of HTML, in a file of its own.")]
AnswerFormOption = Annotated[Literal["text", "json", "markdown"], Option("How to write the result.")]
RepositoryOption = Annotated[str | None, Option("The repository of REV:path, a directory or a bundle.", "REPO")]
SetsOption = Annotated[
    tuple[str, ...],
    Option(
        "Where the layouts are: a directory, an archive, REV: or REV:path. Repeatable: the first that has a version "
        "counts.",
        "SET",
        usual="the working directory",
        complete=completion.sets,
    ),
]
MessageOption = Annotated[
    tuple[str, ...],
    Option(
        "Only what changed in messages or RPCs of this name, as in `Fetch` or `*Offset*`. Repeatable.",
        "GLOB",
        complete=completion.rpcs,
    ),
]
StatisticsOption = Annotated[bool, Option("Count what is found by rule instead of listing it.")]
LakeArgument = Annotated[str, Argument("The directory or URI that `pipeline run` wrote to.", "LAKE")]
AsOfOption = Annotated[
    str | None, Option("The state of the lake as of a time, or after a run.", "DATE|RUN", usual="the newest")
]


class Choosing(Group, frozen=True):
    """Which rules run, and how bad it is to break them."""

    select: Annotated[
        tuple[str, ...],
        Option(
            "Run only these: a rule, a pack, a glob, default or all. Repeatable.", "RULES", complete=completion.rules
        ),
    ] = ()
    ignore: Annotated[
        tuple[str, ...],
        Option("Do not run these, whatever is selected. Repeatable.", "RULES", complete=completion.rules),
    ] = ()
    severity: Annotated[
        tuple[str, ...],
        Option(
            "Change a severity: error, warning, info or off. Repeatable.", "RULE=LEVEL", complete=completion.rule_ids
        ),
    ] = ()


class Configuring(Group, frozen=True):
    """Which configuration counts."""

    config: Annotated[str | None, Option("The configuration to use, instead of the one found upwards.", "FILE")] = None
    isolated: Annotated[bool, Option("Read no configuration.")] = False


def chosen(choosing: Choosing, configuring: Configuring) -> "Chosen":
    """What both say, as runs take it. Raises UsageError for a severity that is none."""
    return {
        "select": split(choosing.select),
        "ignore": split(choosing.ignore),
        "severity": dict(map(_severity, split(choosing.severity))),
        "config": configuring.config or ({} if configuring.isolated else None),
    }


class Reporting(Group, frozen=True):
    """How and where to the findings are written."""

    output_format: Annotated[
        tuple[str, ...],
        Option(
            f"How to write the report ({', '.join(format_names())}), and to which file. Repeatable.",
            "FORMAT[=FILE]",
            usual="text",
            complete=completion.formats,
        ),
    ] = ()
    open: Annotated[
        bool, Option("Open the report in the browser: the page that html=FILE names, else one in a file of its own.")
    ] = False
    color: ColorOption = "auto"
    quiet: Annotated[bool, Option("Write nothing to the terminal.", short="-q")] = False


class Cluster(Group, frozen=True):
    """Where Spark runs."""

    master: Annotated[
        str | None,
        Option("Where Spark runs: local[4], spark://host:7077, yarn, k8s://...", "URL", usual="this machine"),
    ] = None
    remote: Annotated[str | None, Option("A Spark Connect server, such as sc://host:15002.", "URL")] = None
    conf: Annotated[
        tuple[str, ...],
        Option("A setting of Spark's, such as spark.driver.memory=8g. Repeatable.", "NAME=VALUE"),
    ] = ()


def split(values: Sequence[str]) -> list[str]:
    """The words of a repeatable option whose values may have commas."""
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


def _severity(text: str) -> tuple[str, str]:
    rule, equals, level = text.partition("=")
    if not equals:
        raise UsageError(f"--severity takes RULE=LEVEL, such as style/about-missing=error, not {text}")
    return rule, level
