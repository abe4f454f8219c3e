"""A page of HTML: sections of tables, pictures and entries that open, in one file that loads nothing.

A page is made of values without markup, apart from pictures; the template escapes them, and the style has the looks
that they name.
"""

from __future__ import annotations

import base64
import hashlib
import os
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
    """A text; its `look` is a class of the style sheet, its `title` is shown while the mouse is on it."""

    text: str
    look: str = ""
    title: str = ""


class Row(NamedTuple):
    """A row of a table. If it has `values`, the search and the filters of its section apply to it."""

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


class Picture(msgspec.Struct, frozen=True):
    """A picture with its title; the page has its `svg` as it is."""

    title: str
    svg: str
    kind: ClassVar = "picture"


class PageEntry(msgspec.Struct, frozen=True):
    """An expandable entry: its name and a note, tags, and the blocks inside.

    `values` are what filters compare, by name of the filter; a blank separates several values.
    """

    anchor: str
    name: str
    note: str
    tags: Sequence[Cell]
    values: Mapping[str, str]
    blocks: Sequence[Block]
    kind: ClassVar = "entry"


Block = Text | Table | Picture | PageEntry


class Filter(NamedTuple):
    """A choice that filters the items of a section: a name in their `values`, and the values to choose from."""

    name: str
    values: Sequence[str]


class Section(NamedTuple):
    """A part of a page. With `filters`, which may be none, its entries and rows can be searched."""

    anchor: str
    title: str
    blocks: Sequence[Block]
    filters: Sequence[Filter] | None = None


def write_page(out: TextIO, *, command: str, title: str, verdict: Verdict, sections: Sequence[Section]) -> None:
    """Write a page. Its time is SOURCE_DATE_EPOCH, which reproducible builds set, or else now."""
    style, script = _packaged_text("page.css"), _packaged_text("page.js")
    policy = f"default-src 'none'; style-src {_policy_hash(style)}; script-src {_policy_hash(script)}; img-src data:"
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH") or now())
    text = _template().render(
        command=command,
        title=title,
        verdict=verdict,
        sections=sections,
        policy=f"{policy}; base-uri 'none'; form-action 'none'",
        style=Markup(style),
        script=Markup(script),
        version=__version__,
        time=f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC",
    )
    out.write(text + "\n")


@cache
def _template() -> Any:
    """The template of pages, which escapes every value."""
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=_finalize
    )
    return environment.from_string(_packaged_text("page.html"))


def _finalize(value: Any) -> Any:
    return printable(value) if type(value) is str else value  # not `Markup`, which is a subclass of str


def _policy_hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def _packaged_text(name: str) -> str:
    return files("kiplint.render").joinpath(name).read_text("utf-8")
