"""The options that several commands have, for the signatures of their functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from glob import escape, glob
from typing import Annotated, Any, Final, Literal, TypeVar, get_type_hints

import msgspec
import typer

from kiplint.engine.errors import UsageError
from kiplint.render.formats import FORMATS, PAGE
from kiplint.text.words import comma_parts

PAGE_FORMATS: Final = (*FORMATS, PAGE)
"""The formats of a report that has a page."""


Options = TypeVar("Options", bound=msgspec.Struct)
Function = TypeVar("Function", bound=Callable[..., Any])


def make_options(kind: type[Options], values: Mapping[str, Any]) -> Options:
    """The options of a run, from the parameters of a typer function with the names of its fields; None for not given.

    A test shows that each field has its parameter.
    """
    options = {name: values[name] for name in kind.__struct_fields__ if values.get(name) is not None}
    if "severity" in options:
        options["severity"] = _severities(options["severity"])
    return kind(**options)


def keywords_of(kind: type[msgspec.Struct]) -> Callable[[Function], Function]:
    """Give a public function that passes its `**options` to a struct the signature with the fields as keywords.

    `help`, editors and `inspect` show their names, types and defaults, and the struct rejects an unknown keyword. A
    type checker accepts any keyword: a ParamSpec cannot be combined with `*sets` (PEP 612), and `**options` could only
    be typed by a TypedDict (PEP 692), a second list of the same names without their defaults.
    """

    def set_signature(function: Function) -> Function:
        signature, types = inspect.signature(function), get_type_hints(kind)
        parameters = [item for item in signature.parameters.values() if item.kind is not item.VAR_KEYWORD]
        keywords = [
            item.replace(kind=item.KEYWORD_ONLY, annotation=types[item.name])
            for item in inspect.signature(kind).parameters.values()
            if item.name not in signature.parameters
        ]
        function.__signature__ = signature.replace(parameters=[*parameters, *keywords])  # type: ignore[attr-defined]
        return function

    return set_signature


def complete_rules(incomplete: str) -> list[str]:
    """The selectors that a shell offers for the beginning of a rule: `default`, `all`, packs and ids of rules."""
    from kiplint.engine.packs import shipped_rules  # a run that completes nothing does without it here

    rules = shipped_rules()
    names = ["default", "all", *dict.fromkeys(rule.pack for rule in rules), *(rule.id for rule in rules)]
    return [name for name in names if name.startswith(incomplete)]


def complete_sets(incomplete: str) -> list[str]:
    """The built-in releases that a shell offers for the beginning of a SET, after the files that begin like it.

    None for an empty word, for which a shell then offers all files.
    """
    from kiplint.sources.built_in import release_names

    if not incomplete:
        return []
    paths = sorted(glob(f"{escape(incomplete)}*"))
    return [*paths, *(name for name in release_names() if name.startswith(incomplete))]


def _severities(values: Iterable[str]) -> dict[str, str]:
    """The severities by rule that values of --severity set, such as `tags/gap=warning`. Raises UsageError."""
    severity_by_rule = {}
    for value in comma_parts(values):
        rule, equals, severity = value.partition("=")
        if not equals:
            raise UsageError(f"--severity {value}: expected RULE=LEVEL, such as style/about-missing=error")
        severity_by_rule[rule] = severity
    return severity_by_rule


# What is checked, and by which rules

ConfigOption = Annotated[
    str | None, typer.Option(metavar="FILE", help="The configuration file to read, instead of the nearest one.")
]
IsolatedOption = Annotated[bool, typer.Option("--isolated", help="Ignore all configuration files.")]
SelectOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RULES",
        autocompletion=complete_rules,
        help="The rules to run: a rule, a pack, a glob, default or all. Repeatable.",
    ),
]
IgnoreOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RULES",
        autocompletion=complete_rules,
        help="The rules not to run, even if they are selected. Repeatable.",
    ),
]
SeverityOption = Annotated[
    list[str] | None,
    typer.Option(metavar="RULE=LEVEL", help="Set the severity of a rule: error, warning, info or off. Repeatable."),
]
RepositoryOption = Annotated[
    str | None, typer.Option("--repo", metavar="REPO", help="The git repository of REV:path: a directory or a bundle.")
]
ReleasedOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="GLOB|REV|SET",
        help="A release: a glob of git tags, a revision or a set. A version is released if a release contains it. "
        "Repeatable.",
        show_default="the configuration's; in review, release tags; otherwise the base",
    ),
]

# What is reported


def _format_option(formats: Collection[str]) -> Any:
    """The option --output-format of a command that has these formats."""
    return typer.Option(
        metavar="FORMAT[=FILE]",
        autocompletion=lambda incomplete: [name for name in formats if name.startswith(incomplete)],
        help=f"The format of the report ({', '.join(formats)}), optionally with a file. Repeatable.",
        show_default="text",
    )


ReportFormatOption = Annotated[list[str] | None, _format_option(FORMATS)]
PageFormatOption = Annotated[list[str] | None, _format_option(PAGE_FORMATS)]
FormOption = Annotated[Literal["text", "json"], typer.Option(help="The output format.")]
FailOnOption = Annotated[
    Literal["error", "warning", "info", "never"] | None,
    typer.Option(help="The lowest severity that causes exit code 1.", show_default="error"),
]
BreaksOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="WHAT",
        help="What a change must break to cause exit code 1. Repeatable.",
        show_default="wire,storage",
    ),
]

LakeArgument = Annotated[str, typer.Argument(metavar="LAKE", help="The directory that `pipeline run` writes to.")]
