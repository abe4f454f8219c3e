"""Small pieces of Markdown that read the same on GitHub and in the built site."""

from __future__ import annotations

import re
from collections.abc import Iterable

NOTICE = "<!-- Written by `make docs` out of the code and the rule packs: change those, not this page. -->"


def page(title: str, *parts: str) -> str:
    """A whole generated page."""
    return "\n\n".join([f"# {title}", NOTICE, *(part.strip("\n") for part in parts if part)]) + "\n"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table; empty when it has no rows. Cells are Markdown already."""
    head = list(head)
    lines = [list(map(_cell, row)) for row in rows]
    if not lines:
        return ""
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *lines))


def fence(text: str, language: str = "text", title: str = "") -> str:
    """A block of code, fenced with more backticks than it holds."""
    marks = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text)), 3)
    heading = f'{language} title="{title}"' if title else language
    return f"{marks}{heading}\n{text.rstrip()}\n{marks}"


def code(text: str) -> str:
    """Text as code inside a line."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def prose(text: str) -> str:
    """Plain text as Markdown: what stands in backticks is code already, and nothing else has a meaning."""
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(part if part[:1] == "`" else _escape(part) for part in parts)


def anchor(heading: str) -> str:
    """The anchor that GitHub and Python-Markdown both give to a heading."""
    return re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip())


def place(rule: str) -> str:
    """The address of a rule, PACK/RULE, relative to `docs/reference`."""
    return f"rules/{rule.partition('/')[0]}.md#{anchor(rule)}"


def splice(text: str, name: str, inner: str) -> str:
    """The text with what stands between the comments `<!-- name -->` and `<!-- /name -->` replaced."""
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, mark, rest = text.partition(start)
    _, closed, after = rest.partition(end)
    if not mark or not closed:
        raise ValueError(f"there is no {start} ... {end}")
    return f"{before}{start}\n{inner}\n{end}{after}"


def _escape(text: str) -> str:
    return re.sub(r"([\\*_<>\[\]])", r"\\\1", text)


def _cell(text: str) -> str:
    return text.replace("\n", " ").replace("|", "&#124;")
