"""The declaration of a command that is not a plain function yet.

It is one frozen Struct with the options, each with its type, its default, and a mark.

The mark is an `Argument` or an `Option`. A field without a mark is a group: a Struct of the same kind, which several
commands share. `app` makes typer read the Struct from the words of a command line, with help, completion and errors,
and `Command.of` makes it from the arguments of a Python function. What runs the command takes the Struct whole.

A field's type is str, int, bool (a flag), a Literal of words, tuple[str, ...] (repeatable), or one of the first or a
Literal with None.
"""

import inspect
import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypeVar, get_args, get_origin, get_type_hints

import msgspec
import typer

from kiplint.cli import completion
from kiplint.cli.process import run
from kiplint.engine.errors import UsageError
from kiplint.render.formats import PAGE, format_names
from kiplint.text.words import comma_parts, did_you_mean

if TYPE_CHECKING:
    from kiplint.engine.config import Configuration
    from kiplint.text.files import Disk

Completer = Callable[..., Iterable[str | tuple[str, str]]]
Options = TypeVar("Options", bound="Group")
NO_HINTS: Mapping[str, str] = {}
WHAT_TO_CHECK, WHAT_TO_REPORT = "What to check", "What to report"
"""The sections of the help for options that several commands share."""


class Group(msgspec.Struct, frozen=True):
    """Options that several commands share. `PANEL` is the section of the help that lists them."""

    PANEL: ClassVar[str] = ""


class Command(Group, frozen=True):
    """A command: its options, and what runs it. The docstring of `run` is its help.

    `EPILOG` has examples. `HINTS` are texts that add the names of options to errors of the library, by their kind.
    """

    EPILOG: ClassVar[str] = ""
    HINTS: ClassVar[Mapping[str, str]] = NO_HINTS

    def run(self) -> int:
        """Run the command; the exit code."""
        raise NotImplementedError(type(self).__name__)

    @classmethod
    def of(cls, *arguments: object, **values: object) -> Self:
        """The command with the arguments of a Python function: those of the command line, then options by their names.

        Paths may be any `os.PathLike`, repeatable options any sequence, or a mapping for pairs such as RULE=LEVEL. What
        only concerns the terminal has its default. Raises TypeError for arguments that do not fit, UsageError for
        values that are not allowed.
        """
        params = {param.name: param for param in parameters(cls) if not param.mark.terminal}
        words = list(arguments)
        places = [param for param in params.values() if isinstance(param.mark, Argument)]
        for param in places[: len(words)]:
            values[param.name] = tuple(words) if param.many else words[0]
            words = [] if param.many else words[1:]
        if words:
            raise TypeError(f"{len(places)} arguments expected, got {len(arguments)}")
        for name in values:
            if name not in params:
                raise TypeError(f"unexpected keyword argument {name!r}{did_you_mean(name, params)}")
        option_values = {name: _as_option(params[name], value) for name, value in values.items() if value is not None}
        for param in params.values():
            if param.is_required and param.name not in option_values:
                raise TypeError(f"missing argument {param.name!r}")
        return make(cls, option_values)


def _as_option(param: "Parameter", value: object) -> object:
    """The value of an option, from what a program passes for it."""
    name = param.name
    if param.many:
        if isinstance(value, Mapping):
            value = [f"{key}={item}" for key, item in value.items()]
        if isinstance(value, (str, os.PathLike)) or not isinstance(value, Iterable):
            raise TypeError(f"{name}: expected a list, got {type(value).__name__}")
        return tuple(_as_value(param, item) for item in value)
    return dict(value) if param.mark.mapping and isinstance(value, Mapping) else _as_value(param, value)


def _as_value(param: "Parameter", value: object) -> object:
    value = os.fspath(value) if isinstance(value, os.PathLike) else value
    if type(value) is not param.kind:
        raise TypeError(f"{param.name}: expected {param.kind.__name__}, got {type(value).__name__}")
    if isinstance(value, str) and not param.allows(value):
        raise UsageError(f"{param.name}: {value} is not one of {', '.join(param.words)}")
    if isinstance(value, int) and param.mark.least is not None and value < param.mark.least:
        raise UsageError(f"{param.name}: {value} is less than {param.mark.least}")
    return value


class Argument(msgspec.Struct, frozen=True):
    """Marks a field whose value is a word at its position. `usual` describes the default."""

    help: str
    metavar: str | None = None
    usual: str | None = None
    complete: Completer | None = None

    least: ClassVar[int | None] = None
    most: ClassVar[int | None] = None
    panel: ClassVar[str] = ""
    terminal: ClassVar[bool] = False
    mapping: ClassVar[bool] = False


class Option(msgspec.Struct, frozen=True):
    """Marks a field whose value is the word after the option, which is called as the field unless it has a `flag`.

    `usual` describes the default, where its value does not. Numbers are from `least` to `most`. An option that is only
    about what the `terminal` shows does not exist in Python, where the value may be a `mapping` if that is set. `panel`
    is the section of the help that lists it.
    """

    help: str
    metavar: str | None = None
    alias: str | None = None
    usual: str | None = None
    complete: Completer | None = None
    least: int | None = None
    most: int | None = None
    flag: str = ""
    panel: str = ""
    terminal: bool = False
    mapping: bool = False


class Parameter(msgspec.Struct, frozen=True):
    """A field as the app sees it.

    `kind` is str, int or bool (a flag); `words` are the allowed values, if there are only a few; `many` is whether it
    may be repeated.
    """

    name: str
    mark: Argument | Option
    kind: type
    words: tuple[str, ...]
    many: bool
    is_required: bool
    default: Any
    panel: str = ""

    @property
    def flags(self) -> tuple[str, ...]:
        """The names of the option on the command line, the long name first; empty for an argument."""
        if isinstance(self.mark, Argument):
            return ()
        long = self.mark.flag or f"--{self.name.replace('_', '-')}"
        return (long, self.mark.alias) if self.mark.alias else (long,)

    def allows(self, word: str) -> bool:
        """Whether a word may be the value."""
        return not self.words or word in self.words


def parameters(options: type[Group]) -> list[Parameter]:
    """The parameters of a command and of its groups, in their order."""
    params = []
    for name, hint, default in _fields(options):
        if isinstance(hint, type) and issubclass(hint, Group):
            params += parameters(hint)
        else:
            params.append(_parameter(name, hint, default, options.PANEL))
    return params


def make(options: type[Options], values: Mapping[str, Any]) -> Options:
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
    hints: dict[str, Any] = {}
    for kind in reversed(options.__mro__):
        hints |= getattr(kind, "__annotations__", {})
    if any(isinstance(hint, str) for hint in hints.values()):
        hints = get_type_hints(options, include_extras=True)
    values = (*(msgspec.NODEFAULT,) * (len(names) - len(defaults)), *defaults)
    return [(name, hints[name], value) for name, value in zip(names, values, strict=True)]


def _parameter(name: str, hint: Any, default: Any, panel: str) -> Parameter:
    mark, kind = hint.__metadata__[0], hint.__origin__
    if NoneType in get_args(kind):
        kind = next(part for part in get_args(kind) if part is not NoneType)
    inner = get_args(kind)
    words = inner if get_origin(kind) is Literal else ()
    many = get_origin(kind) is tuple
    plain = kind if kind in (int, bool) else str
    panel = mark.panel or panel
    return Parameter(name, mark, plain, words, many, default is msgspec.NODEFAULT, default, panel)


# Options that several commands have


ColorOption = Annotated[Literal["auto", "always", "never"], Option("Colours in the output.", terminal=True)]
FailOnOption = Annotated[
    Literal["error", "warning", "info", "never"] | None,
    Option("The lowest severity that makes the exit code 1.", usual="error", panel=WHAT_TO_REPORT),
]
FormOption = Annotated[Literal["text", "json"], Option("The format of the result.", terminal=True)]
AnswerFormOption = Annotated[Literal["text", "json", "markdown"], Option("The format of the result.", terminal=True)]
RepositoryOption = Annotated[
    str | None,
    Option("The repository of REV:path, a directory or a bundle.", "REPO", flag="--repo", panel=WHAT_TO_CHECK),
]
BreaksOption = Annotated[
    tuple[str, ...],
    Option(
        "What a change must break to make the exit code 1. Repeatable.",
        "WHAT",
        usual="wire,storage",
        complete=completion.breaks,
        panel=WHAT_TO_REPORT,
    ),
]
SetsOption = Annotated[
    tuple[str, ...],
    Option(
        "The set with the layouts: a directory, an archive, REV: or REV:path. Repeatable: the first that has a "
        "version counts.",
        "SET",
        usual="the working directory",
        complete=completion.sets,
        flag="--set",
    ),
]
RoleOption = Annotated[
    Literal["client", "broker", "storage"] | None,
    Option(
        "Only what matters to authors of clients (RPCs that brokers serve to them), of brokers and proxies (all RPCs), "
        "or to who keeps data (records); the same change of many messages is one entry.",
        flag="--for",
        panel=WHAT_TO_REPORT,
    ),
]
MessageOption = Annotated[
    tuple[str, ...],
    Option(
        "Only changes of messages or RPCs of this name, such as `Fetch` or `*Offset*`. Repeatable.",
        "GLOB",
        complete=completion.rpcs,
        flag="--message",
        panel=WHAT_TO_REPORT,
    ),
]
ReleasedOption = Annotated[
    tuple[str, ...],
    Option(
        "A release: a glob of tags, a revision, or a set. A version counts as released when one has it. Repeatable.",
        "GLOB|REV|SET",
        usual="the configuration's, else the base",
        panel=WHAT_TO_CHECK,
    ),
]


class Choosing(Group, frozen=True):
    """The rules that run, and their severities."""

    PANEL = WHAT_TO_CHECK

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


ConfigOption = Annotated[
    str | Mapping[str, Any] | None,
    Option("The configuration file; no other is searched for.", "FILE", panel="Configuration", mapping=True),
]


class Configuring(Group, frozen=True):
    """The configuration."""

    PANEL = "Configuration"

    config: ConfigOption = None
    isolated: Annotated[bool, Option("Read no configuration.")] = False

    def configuration(self, start: str, choosing: Choosing, files: "Disk | None" = None) -> "Configuration":
        """The configuration of a run that looks at a path, as the `files` have it, with the rules that are selected.

        Raises UsageError.
        """
        from kiplint.engine.config import configure
        from kiplint.text.files import DISK

        return configure(
            start,
            files or DISK,
            select=choosing.select,
            ignore=choosing.ignore,
            severity=dict(map(_severity, comma_parts(choosing.severity))),
            config=self.config,
            isolated=self.isolated,
        )


def _format_option(names: Iterable[str], complete: Completer) -> Option:
    return Option(
        f"The format of the report ({', '.join(names)}), and the file that it goes to. Repeatable.",
        "FORMAT[=FILE]",
        usual="text",
        complete=complete,
        terminal=True,
    )


class Reporting(Group, frozen=True):
    """The formats of a report, and where it goes."""

    PANEL = WHAT_TO_REPORT
    FORMATS: ClassVar[tuple[str, ...]] = (*format_names(),)

    output_format: Annotated[tuple[str, ...], _format_option(FORMATS, completion.formats)] = ()


class PageReporting(Reporting, frozen=True):
    """The same for a report that has a page."""

    FORMATS = (*Reporting.FORMATS, PAGE)

    output_format: Annotated[tuple[str, ...], _format_option(FORMATS, completion.page_formats)] = ()


def _severity(text: str) -> tuple[str, str]:
    rule, equals, level = text.partition("=")
    if not equals:
        raise UsageError(f"--severity takes RULE=LEVEL, such as style/about-missing=error, not {text}")
    return rule, level


# From a class to a function


def with_lines(epilog: str) -> str:
    """`Examples:  first   |   second.  The rest.` with each example on its own line; other text unchanged."""
    label, _, rest = epilog.partition("  ")
    if label not in ("Example:", "Examples:"):
        return epilog
    examples, *more = re.split(r"\.\s{2,}(?=[A-Z])", rest, maxsplit=1)
    lines = [label, *(f"  {' '.join(example.split())}" for example in examples.split(" | "))]
    return "\n\n".join(["\b\n" + "\n".join(lines), *more])


def function_of(command: type[Command]) -> Callable[..., None]:
    """A function with the signature from which typer makes the command."""
    params = parameters(command)

    def function(**values: Any) -> None:
        options = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
        for param in params:
            if param.many and not options[param.name]:
                if param.is_required:
                    options[param.name] = ()
                else:
                    del options[param.name]
        made = make(command, options)
        run(made.run, made.HINTS)

    signature = [
        inspect.Parameter(
            param.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if param.is_required else None if param.many else param.default,
            annotation=Annotated[_hint(param), _mark(param)],
        )
        for param in params
    ]
    function.__signature__ = inspect.Signature(signature)  # type: ignore[attr-defined]
    function.__annotations__ = {param.name: param.annotation for param in signature}
    function.__doc__ = command.run.__doc__
    return function


def _hint(param: Parameter) -> Any:
    hint: Any = Literal[param.words] if param.words else param.kind
    if param.many:
        hint = list[hint]
    return hint if param.is_required or (param.default is not None and not param.many) else hint | None


def _mark(param: Parameter) -> Any:
    mark = param.mark
    settings: dict[str, Any] = {
        "help": mark.help,
        "metavar": mark.metavar,
        "autocompletion": mark.complete,
        "show_default": True if mark.usual is None else mark.usual,
        "rich_help_panel": param.panel or None,
    }
    if isinstance(mark, Argument):
        return typer.Argument(**settings)
    return typer.Option(*param.flags, min=mark.least, max=mark.most, **settings)
