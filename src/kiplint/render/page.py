"""A page of HTML: sections of tables, plots and entries that open, in one file that loads nothing.

A page is made of values without markup; the template escapes them, and the style has the looks that they name.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from time import time as now
from typing import Any, ClassVar, NamedTuple, TextIO

import msgspec
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from kiplint import __version__
from kiplint.render.report import Verdict
from kiplint.text.show import printable


class Cell(NamedTuple):
    """A text with a look, and what it means."""

    text: str
    look: str = ""
    title: str = ""


class Row(NamedTuple):
    """A row of a table. The search of a section finds it where it has `values`, and filters choose it by them."""

    cells: Sequence[str | Cell]
    look: str = ""
    values: Mapping[str, str] | None = None


class Text(msgspec.Struct, frozen=True):
    """A paragraph; an address makes it a link."""

    text: str
    look: str = ""
    address: str = ""
    kind: ClassVar = "text"


class Table(msgspec.Struct, frozen=True):
    """A table. The first cell of a row is its heading where it `has_heads`."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Row]
    look: str = ""
    has_heads: bool = False
    kind: ClassVar = "table"


class PlotLine(NamedTuple):
    """A line of a plot: its name with the newest value, its look, and its points as SVG has them."""

    name: str
    look: str
    points: str


class Plot(msgspec.Struct, frozen=True):
    """Numbers over time, from 0 to `most`; the marks on the time axis have titles."""

    title: str
    lines: Sequence[PlotLine]
    most: int
    first: str
    last: str
    marks: Sequence[tuple[float, str]]
    kind: ClassVar = "plot"


class PageEntry(msgspec.Struct, frozen=True):
    """Something that opens: its name and a note, tags, and what is inside.

    By its `values`, lists with a blank between the values, filters choose it.
    """

    anchor: str
    name: str
    note: str
    tags: Sequence[Cell]
    values: Mapping[str, str]
    blocks: Sequence[Block]
    kind: ClassVar = "entry"


Block = Text | Table | Plot | PageEntry


class Filter(NamedTuple):
    """What the items of a section are filtered by: a name in their `values`, and the values that there are."""

    name: str
    values: Sequence[str]


class Section(NamedTuple):
    """A part of a page. With `filters`, which may be none, its entries and rows can be searched."""

    anchor: str
    title: str
    blocks: Sequence[Block]
    filters: Sequence[Filter] | None = None


def write_page(out: TextIO, *, command: str, title: str, verdict: Verdict, sections: Sequence[Section]) -> None:
    """Write a page. SOURCE_DATE_EPOCH, as builds that can be repeated set it, is its time."""
    style, script = _file("page.css"), _file("page.js")
    policy = f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; img-src data:"
    program = sys.argv[0].replace(os.sep, "/")
    is_command = program.rpartition("/")[2] in ("kiplint", "kiplint.exe") or program.endswith("kiplint/__main__.py")
    command_line = shlex.join(["kiplint", *sys.argv[1:]]) if is_command else ""
    text = _template().render(
        command=command,
        title=title,
        verdict=verdict,
        sections=sections,
        policy=f"{policy}; base-uri 'none'; form-action 'none'",
        style=Markup(style),
        script=Markup(script),
        version=__version__,
        time=f"{datetime.fromtimestamp(int(os.environ.get('SOURCE_DATE_EPOCH') or now()), UTC):%Y-%m-%d %H:%M} UTC",
        command_line=re.sub(r"(?<=://)[^/@\s]*@", "", command_line),
    )
    out.write(text + "\n")


@cache
def _template() -> Any:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=_finalize
    )
    return environment.from_string(_file("page.html"))


def _finalize(value: Any) -> Any:
    return printable(value) if type(value) is str else value


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def _file(name: str) -> str:
    return files("kiplint.render").joinpath(name).read_text("utf-8")
