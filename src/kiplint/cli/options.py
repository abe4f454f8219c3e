"""The declaration of a command's options: one frozen Struct, each field with its type, its default, and a mark.

The mark is an `Argument` or an `Option`. A field without a mark is a group: a Struct of the same kind, which several
commands share. `reader` makes the Struct from the words of a command line as far as it understands them, `app` makes
typer do the same for all command lines, with help, completion and errors.

A field's type is str, int, bool (a flag), a Literal of words, tuple[str, ...] (repeatable), one of the first or a
Literal with None, or tuple[str, str] | None (two words after one option). No `from __future__ import annotations` in
a module of options: to evaluate annotations at start takes long.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from types import CodeType, NoneType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from kiplint.cli import completion
from kiplint.engine.errors import UsageError
from kiplint.render.formats import format_names

if TYPE_CHECKING:
    from kiplint.engine.config import Chosen

Completer = Callable[..., Iterable[str | tuple[str, str]]]
Made = TypeVar("Made", bound="Group")
Result = TypeVar("Result")
PAGE = "html"
"""The format that is a page; as `html=FILE` it goes to a file."""
CO_VARARGS, CO_VARKEYWORDS = 4, 8
"""Flags of code objects: the function has `*args`, or `**kwargs`; `inspect` takes milliseconds to import."""
ALIASES = {"repo": "repository", "message": "messages", "set": "source", "paths": "sets"}
"""Options whose names in the library differ: on the command line a repeatable option is called as one value."""


class Group(msgspec.Struct, frozen=True):
    """The options of a command, or some that several commands share."""


class Argument(msgspec.Struct, frozen=True):
    """Marks a field whose value is a word at its position. `usual` describes the default."""

    help: str
    metavar: str | None = None
    usual: str | None = None
    complete: Completer | None = None


class Option(msgspec.Struct, frozen=True):
    """Marks a field whose value is the word after the option, which is called as the field.

    `usual` describes the default, where its value does not. Numbers are from `least` to `most`.
    """

    help: str
    metavar: str | None = None
    alias: str | None = None
    usual: str | None = None
    complete: Completer | None = None
    least: int | None = None
    most: int | None = None


class Parameter(msgspec.Struct, frozen=True):
    """A field as the readers of command lines see it.

    `kind` is str, int or bool; `words` are the allowed values, if there are only a few; `times` is how many words
    follow the option, 0 for a flag; `many` is whether it may be repeated.
    """

    name: str
    mark: Argument | Option
    kind: type
    words: tuple[str, ...]
    times: int
    many: bool
    is_required: bool
    default: Any

    @property
    def flags(self) -> tuple[str, ...]:
        """The names of the option on the command line, the long name first; empty for an argument."""
        if isinstance(self.mark, Argument):
            return ()
        long = f"--{self.name.replace('_', '-')}"
        return (long, self.mark.alias) if self.mark.alias else (long,)

    @property
    def takes_file(self) -> bool:
        """Whether the value may be `html=FILE`, the file of a page."""
        return PAGE in self.words

    def allows(self, word: str) -> bool:
        """Whether a word may be the value."""
        is_file = self.takes_file and word.startswith(f"{PAGE}=") and word != f"{PAGE}="
        return not self.words or word in self.words or is_file


def parameters(options: type[Group]) -> list[Parameter]:
    """The parameters of a command and of its groups, in their order."""
    params = []
    for name, hint, default in _fields(options):
        if isinstance(hint, type) and issubclass(hint, Group):
            params += parameters(hint)
        else:
            params.append(_parameter(name, hint, default))
    return params


def make(options: type[Made], values: Mapping[str, Any]) -> Made:
    """The options with these values by name; parameters without a value have their defaults."""
    fields: dict[str, Any] = {}
    for name, hint, _ in _fields(options):
        if isinstance(hint, type) and issubclass(hint, Group):
            fields[name] = make(hint, values)
        elif name in values:
            fields[name] = values[name]
    return options(**fields)


@cache
def _fields(options: type[Group]) -> Iterable[tuple[str, Any, Any]]:
    """Name, type and default of each field; msgspec keeps the defaults of the last ones."""
    names, defaults = options.__struct_fields__, options.__struct_defaults__
    hints = options.__annotations__
    if any(isinstance(hint, str) for hint in hints.values()):
        hints = get_type_hints(options, include_extras=True)
    values = (*(msgspec.NODEFAULT,) * (len(names) - len(defaults)), *defaults)
    return [(name, hints[name], value) for name, value in zip(names, values, strict=True)]


def _parameter(name: str, hint: Any, default: Any) -> Parameter:
    mark, kind = hint.__metadata__[0], hint.__origin__
    if NoneType in get_args(kind):
        kind = next(part for part in get_args(kind) if part is not NoneType)
    inner = get_args(kind)
    words = inner if get_origin(kind) is Literal else ()
    many = get_origin(kind) is tuple and inner[1] is ...
    times = len(inner) if get_origin(kind) is tuple and not many else int(kind is not bool)
    plain = kind if kind in (int, bool) else str
    return Parameter(name, mark, plain, words, times, many, default is msgspec.NODEFAULT, default)


# Options that several commands have

ColorOption = Annotated[Literal["auto", "always", "never"], Option("Colours in the output.")]
FailOnOption = Annotated[
    Literal["error", "warning", "info", "never"] | None,
    Option("The lowest severity that makes the exit code 1.", usual="error"),
]
FormOption = Annotated[Literal["text", "json"], Option("The format of the result.")]
PageFormOption = Annotated[Literal["text", "json", "html"], Option("The format of the result.")]
OpenOption = Annotated[bool, Option("Open the report in the browser, as a page of HTML in a temporary file.")]
AnswerFormOption = Annotated[Literal["text", "json", "markdown"], Option("The format of the result.")]
RepositoryOption = Annotated[str | None, Option("The repository of REV:path, a directory or a bundle.", "REPO")]
SetsOption = Annotated[
    tuple[str, ...],
    Option(
        "The set with the layouts: a directory, an archive, REV: or REV:path. Repeatable: the first that has a "
        "version counts.",
        "SET",
        usual="the working directory",
        complete=completion.sets,
    ),
]
MessageOption = Annotated[
    tuple[str, ...],
    Option(
        "Only changes of messages or RPCs of this name, such as `Fetch` or `*Offset*`. Repeatable.",
        "GLOB",
        complete=completion.rpcs,
    ),
]
ReleasedOption = Annotated[
    tuple[str, ...],
    Option(
        "A release: a glob of tags, a revision, or a set. A version counts as released when one has it. Repeatable.",
        "GLOB|REV|SET",
        usual="the configuration's, else the base",
    ),
]
StatisticsOption = Annotated[bool, Option("Count the findings by rule instead of listing them.")]
LakeArgument = Annotated[str, Argument("The directory or URI that `pipeline run` wrote to.", "LAKE")]
AsOfOption = Annotated[
    str | None, Option("The state of the lake as of a time, or after a run.", "DATE|RUN", usual="the newest")
]


class Choosing(Group, frozen=True):
    """The rules that run, and their severities."""

    select: Annotated[
        tuple[str, ...],
        Option(
            "Run only these: a rule, a pack, a glob, default or all. Repeatable.", "RULES", complete=completion.rules
        ),
    ] = ()
    ignore: Annotated[
        tuple[str, ...],
        Option("Do not run these, even if they are selected. Repeatable.", "RULES", complete=completion.rules),
    ] = ()
    severity: Annotated[
        tuple[str, ...],
        Option(
            "Change a severity: error, warning, info or off. Repeatable.", "RULE=LEVEL", complete=completion.rule_ids
        ),
    ] = ()


class Configuring(Group, frozen=True):
    """The configuration."""

    config: Annotated[str | None, Option("The configuration file; no other is searched for.", "FILE")] = None
    generator: Annotated[
        Literal["4.3", "4.4"] | None,
        Option("The edition of Kafka's generator that the definitions are for.", usual="the configuration's, else 4.4"),
    ] = None
    isolated: Annotated[bool, Option("Read no configuration.")] = False


class Reporting(Group, frozen=True):
    """The formats of a report, and where it goes."""

    output_format: Annotated[
        tuple[str, ...],
        Option(
            f"The format of the report ({', '.join(format_names())}), and the file that it goes to. Repeatable.",
            "FORMAT[=FILE]",
            usual="text",
            complete=completion.formats,
        ),
    ] = ()
    open: Annotated[
        bool, Option("Open the report in the browser: the page that html=FILE names, else one in a temporary file.")
    ] = False
    color: ColorOption = "auto"
    quiet: Annotated[bool, Option("Write nothing to the terminal.", alias="-q")] = False


class Judging(Group, frozen=True):
    """The rules, the findings that fail, and the report on them."""

    choosing: Choosing = Choosing()
    fail_on: FailOnOption = None
    reporting: Reporting = Reporting()
    configuring: Configuring = Configuring()
    statistics: StatisticsOption = False


class Cluster(Group, frozen=True):
    """The Spark that runs the jobs."""

    master: Annotated[
        str | None,
        Option("Where Spark runs: local[4], spark://host:7077, yarn, k8s://...", "URL", usual="this machine"),
    ] = None
    remote: Annotated[str | None, Option("A Spark Connect server, such as sc://host:15002.", "URL")] = None
    conf: Annotated[
        tuple[str, ...],
        Option("A setting of Spark, such as spark.driver.memory=8g. Repeatable.", "NAME=VALUE"),
    ] = ()


def call(function: Callable[..., Result], options: Group, **others: Any) -> Result:
    """Call a function of the library with the options that its parameters are called as; `others` take precedence.

    Its `**chosen` are the rules and the configuration. Raises UsageError for an unknown severity.
    """
    values = {**_flat(options), **others}
    code: CodeType = function.__code__
    positional, keywords = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    args = [values[name] for name in code.co_varnames[:positional]]
    if code.co_flags & CO_VARARGS:
        args += values[code.co_varnames[keywords]]
    named = {name: values[name] for name in code.co_varnames[positional:keywords] if name in values}
    if code.co_flags & CO_VARKEYWORDS:
        named |= _chosen(values)
    return function(*args, **named)


def _flat(options: Group) -> dict[str, Any]:
    """The values of options and of their groups, also by the names that parameters have for them."""
    values: dict[str, Any] = {}
    for name in options.__struct_fields__:
        value = getattr(options, name)
        values |= _flat(value) if isinstance(value, Group) else {name: value}
    return {ALIASES[name]: value for name, value in values.items() if name in ALIASES} | values


def _chosen(values: Mapping[str, Any]) -> "Chosen":
    """Rules and configuration as the library takes them."""
    return {
        "select": split(values["select"]),
        "ignore": split(values["ignore"]),
        "severity": dict(map(_severity, split(values["severity"]))),
        "config": values["config"] or ({} if values["isolated"] else None),
        "generator": values["generator"],
    }


def split(values: Sequence[str]) -> list[str]:
    """The words of a repeatable option whose values may be lists with commas."""
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


def _severity(text: str) -> tuple[str, str]:
    rule, equals, level = text.partition("=")
    if not equals:
        raise UsageError(f"--severity takes RULE=LEVEL, such as style/about-missing=error, not {text}")
    return rule, level
