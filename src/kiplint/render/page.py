"""Pages of HTML: templates, the content security policy, and strips of versions."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shlex
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache, partial
from importlib.resources import files
from time import time as now
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import msgspec
from markupsafe import Markup

from kiplint import __version__
from kiplint.render.links import PagesBeside, add_links, own_address
from kiplint.sources.git import open_repository
from kiplint.sources.schema_files import SourceError
from kiplint.text.show import as_json_text, printable
from kiplint.text.words import plural
from kiplint.versions import VersionRange, boundaries

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_CELLS = 48
"""How many versions of a row have a cell each; Kafka's longest RPC has some twenty."""


MOST_IN_PLACE = 1_000
"""A page with more entries than these has their details packed; they are made when an entry is opened."""


class Cell(NamedTuple):
    """One version, or a range of versions that are alike: what stands in it, how it looks, and what it means."""

    text: str
    look: str
    title: str


class Strip(NamedTuple):
    """A row of cells, and the same in words."""

    cells: tuple[Cell, ...]
    label: str


def strip(ranges: Iterable[VersionRange], within: VersionRange, tell: Callable[[int], tuple[str, str]]) -> Strip:
    """The versions `within`, divided by the `ranges`; `tell` gives the look and the meaning of a version.

    Empty cells stand for the versions before the lowest, so that rows stand below one another.
    """
    pieces = list(boundaries(ranges, within))
    single = sum(piece.highest - piece.lowest + 1 for piece in pieces) <= MOST_CELLS
    cells: list[Cell] = []
    words: list[str] = []
    if within and within.lowest <= MOST_CELLS // 2:
        cells += [Cell(str(version), "gap", "") for version in range(within.lowest)]
    for piece in pieces:
        look, meaning = tell(piece.lowest)
        words.append(f"{piece} {meaning}".strip())
        texts = [str(version) for version in range(piece.lowest, piece.highest + 1)] if single else [str(piece)]
        cells += [Cell(text, look, f"version {text}: {meaning}" if meaning else "") for text in texts]
    return Strip(tuple(cells), "versions " + "; ".join(words) if words else "no versions")


_PAGES = "render/pages"
"""The folder of the base of all pages, their macros, style and script. Rooms have the templates of their pages."""

_IN_TEXT = str.maketrans({"<": "&lt;", ">": "&gt;", "&": "&amp;"})
_IN_SCRIPT = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


class Tally(NamedTuple):
    """A count: the value that a filter has, its title, and its mark."""

    value: str
    title: str
    number: int
    mark: str = ""


def write_page(
    template: str,
    out: TextIO,
    *,
    subject: Sequence[str] = (),
    scripts: Sequence[str] = (),
    data: Any = None,
    **values: Any,
) -> None:
    """Write the page that a template makes of the values.

    The template is a path below the package `kiplint`. `scripts`, paths too, are pieces of script beside that of every
    page, and `data` is what they read, as JSON. Pages beside it know it by its `subject`, a command and its sets.
    """
    beside = PagesBeside(out)
    style = _text("style.css")
    script = "".join(_text(name) for name in ("script.js", *scripts))
    page = _environment().get_template(template)
    text = page.render(
        policy=policy(style, script),
        style=Markup(style),
        script=Markup(script),
        data=None if data is None else as_data(data),
        kiplint_version=__version__,
        provenance=provenance(),
        subject=beside.subject(*subject) if subject else "",
        related=partial(beside.related, subject),
        **values,
    )
    out.write(text + "\n")


def beside(file: str) -> str:
    """A path from the working directory on, if it is below that."""
    inner = os.path.relpath(file) if file else ""
    return file if inner.startswith(os.pardir) else inner


class Provenance(NamedTuple):
    """How a page was made: time, command line, commit of the working directory and its address; empty if unknown."""

    time: str
    command: str
    commit: str
    address: str


def provenance() -> Provenance:
    """How the page of this run is made. SOURCE_DATE_EPOCH, as builds that can be repeated set it, is its time."""
    time = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH") or now()), UTC)
    program = sys.argv[0].replace(os.sep, "/")
    is_command = program.rpartition("/")[2] in ("kiplint", "kiplint.exe") or program.endswith("kiplint/__main__.py")
    words = shlex.join(["kiplint", *sys.argv[1:]]) if is_command else ""
    commit = sha = os.environ.get("GITHUB_SHA", "")
    with suppress(SourceError):
        commit = sha or open_repository(None).run("rev-parse", "--verify", "--quiet", "HEAD")
    return Provenance(
        f"{time:%Y-%m-%d %H:%M} UTC",
        re.sub(r"(?<=://)[^/@\s]*@", "", words),
        commit.strip()[:12],
        f"{own_address()}/commit/{sha}" if own_address() and sha else "",
    )


def policy(style: str, script: str) -> str:
    """The content security policy of a page: its own style and script, and nothing from anywhere."""
    directives = [f"style-src {_hash(style)}", f"script-src {_hash(script)}", "img-src data:"]
    return "; ".join(["default-src 'none'", *directives, "base-uri 'none'", "form-action 'none'"])


def as_data(value: Any) -> Markup:
    """A value as JSON that can stand inside a `script` of type application/json."""
    text = printable(msgspec.json.encode(value).decode(), as_json_text)
    return Markup(text.translate(_IN_SCRIPT))


def to_pack(entries: int) -> list[str] | None:
    """Where a template collects the details of that many entries; None for a page that has them in their places."""
    return [] if entries > MOST_IN_PLACE else None


def pack(details: Sequence[str], rows: Sequence[str]) -> Markup:
    """The details of entries and the rows of folds, for the script to unpack.

    Most of them are alike on a long page, so that they are much smaller together.
    """
    texts = msgspec.json.encode([[str(text) for text in part] for part in (details, rows)])
    return Markup(base64.b64encode(zlib.compress(texts)).decode())


def as_text(value: str) -> Markup:
    """Text between tags, where quotes may stay as they are: half the size of escaped JSON."""
    return Markup(printable(value).translate(_IN_TEXT))


def set_titles(*names: str) -> list[str]:
    """The sets as a page calls them: `4.0.0:` without its colon, paths without what they have in common.

    A lone absolute path is shown by its last two parts.
    """
    names = tuple(os.path.abspath(name) if name in (".", "./") else name for name in names)
    parts = [(name.removesuffix(":") or name).split("/") for name in names]
    least = min(map(len, parts), default=1) - 1
    first = last = 0
    if len(set(names)) > 1:
        first = _alike(parts, least)
        last = _alike([part[::-1] for part in parts], least - first)
    elif names and names[0].startswith("/"):
        first = max(0, least - 1)
    if first == last == 0 and len(names) > 1:  # an absolute path beside a revision
        parts = [part[-1:] if part[0] == "" else part for part in parts]
    return [printable("/".join(part[first : len(part) - last])) for part in parts]


def _alike(rows: Sequence[Sequence[str]], most: int) -> int:
    """How many items, `most` at the most, all rows have in common at their start."""
    return next((place for place in range(most) if len({row[place] for row in rows}) > 1), most)


def anchors(names: Sequence[str]) -> list[str]:
    """An anchor for each name, all different."""
    anchors: list[str] = []
    counts = Counter[str]()
    for name in names:
        plain = "".join(char if char.isascii() and (char.isalnum() or char in "._-") else "-" for char in name)
        counts[plain] += 1
        anchors.append(plain if counts[plain] == 1 else f"{plain}~{counts[plain]}")
    return anchors


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_text),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
        auto_reload=False,
    )
    environment.filters |= {"plural": plural, "text": as_text, "beside": beside, "linked": add_links, "pack": pack}
    environment.globals["m"] = environment.get_template("macros.html").module
    return environment


def _finalize(value: Any) -> Any:
    return printable(value) if type(value) is str else value


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def _text(name: str) -> str:
    """The text of a template, style or script: a path below the package, or a name in the folder of shared ones."""
    path = name if "/" in name else f"{_PAGES}/{name}"
    return files("kiplint").joinpath(*path.split("/")).read_text("utf-8")
