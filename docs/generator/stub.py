"""What `src/kiplint/__init__.pyi` derives: signatures from options of commands, and the types that results have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from typing import Final

import kiplint
from kiplint.cli.classes import Argument, Command, Parameter, parameters

COMMANDS: Final[dict[str, str]] = kiplint._COMMANDS  # type: ignore[attr-defined]
PATHS: Final = {"SET", "FILE", "PATH", "REPO", "OLD", "NEW", "OLDER", "HEAD"}
"""The words for values that are paths, or may be."""
IMPORT: Final = r"(?m)^from (\S+) import (\w+) as \w+\n"
MARK: Final = "# The functions of commands; `make docs` writes them.\n"


def make(stub: str, types: Mapping[str, type]) -> str:
    """The stub with public types by name, and the signatures of the functions as the options are now."""
    head, mark, _ = stub.partition(MARK)
    places = {name: module for module, name in re.findall(IMPORT, head)}
    places |= {name: kind.__module__ for name, kind in types.items()}
    before, _, after = re.sub(IMPORT, "", head).partition("from kiplint.engine.config import Path\n")
    places["Path"] = "kiplint.engine.config"  # an argument's type, and not a public name
    names = sorted(places, key=lambda name: (places[name], name[0].islower(), name.lower()))
    rows = [f"from {places[name]} import {name}{'' if name == 'Path' else f' as {name}'}\n" for name in names]
    return f"{before}{''.join(rows)}{after}{mark}{''.join(map(signature, COMMANDS))}"


def options_of(name: str) -> list[Parameter]:
    """The options that a function takes; those that are only about the terminal do not exist in Python."""
    room, _, kind = COMMANDS[name].partition(".")
    command: type[Command] = getattr(import_module(f"kiplint.commands.{room}.options"), kind)
    return [param for param in parameters(command) if not param.mark.terminal]


def signature(name: str) -> str:
    """A function with its arguments and its result."""
    room = COMMANDS[name].partition(".")[0]
    function = getattr(import_module(f"kiplint.commands.{room}.run"), name)
    params = options_of(name)
    places = [_argument(param) for param in params if isinstance(param.mark, Argument)]
    others = [_option(param) for param in params if not isinstance(param.mark, Argument)]
    star = [] if any(place.startswith("*") for place in places) or not others else ["*"]
    rows = "".join(f"    {row},\n" for row in (*places, *star, *others))
    return f"def {name}(\n{rows}) -> {function.__annotations__['return']}: ...\n"


def _argument(param: Parameter) -> str:
    kind = _kind(param)
    return f"*{param.name}: {kind}" if param.many else f"{param.name}: {kind}" + ("" if param.is_required else " = ...")


def _kind(param: Parameter) -> str:
    if param.kind is not str:
        return param.kind.__name__
    if param.mark.metavar == "INPUT":
        return "Path | bytes"
    return "Path" if PATHS & {*re.findall("[A-Z]+", param.mark.metavar or "")} else "str"


def _option(param: Parameter) -> str:
    kind = _kind(param)
    if param.words:
        kind = f"Literal[{', '.join(map(repr, param.words))}]".replace("'", '"')
    if param.many:
        pairs = " | Mapping[str, object]" if "=" in (param.mark.metavar or "") else ""
        kind = f"Sequence[{kind}]{pairs}"
    if param.mark.mapping:
        kind += " | Mapping[str, Any]"
    return f"{param.name}: {kind}{' | None' if param.default is None else ''} = ..."
