"""What generated functions are made of: lines of Python, constants by name, and runs of fixed-width values."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

DEEPEST = 12
"""How deep blocks are nested before the rest goes into a function of its own; Python has a limit of 20 loops."""


class Source:
    """One module in the making. Names of schemas enter it as string literals only."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = dict(names)
        self._finished: list[str] = []
        self._lines: list[str] = []
        self._depth = 1
        self._count = 0
        self._constants: dict[Any, str] = {}
        self.run: list[tuple[str, str]] = []

    def name(self, stem: str) -> str:
        """A name that nothing else has."""
        self._count += 1
        return f"{stem}{self._count}"

    def constant(self, stem: str, key: Any, make: Callable[[], Any]) -> str:
        """The name of a constant, made once for equal keys."""
        if (stem, key) not in self._constants:
            self._constants[stem, key] = name = self.name(stem)
            self.names[name] = make()
        return self._constants[stem, key]

    def line(self, text: str) -> None:
        """Add one line at the present depth."""
        self._lines.append("    " * self._depth + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Add the head of a block; what follows inside stands under it."""
        self.line(head)
        self._depth += 1
        yield
        self._depth -= 1

    @property
    def is_deep(self) -> bool:
        """Whether the next nested part should be a function of its own."""
        return self._depth > DEEPEST

    @contextmanager
    def function(self, stem: str, parameters: str) -> Iterator[str]:
        """Write a function beside the present one; gives its name."""
        outside = (self._lines, self._depth, self.run)
        name = self.name(stem)
        self._lines, self._depth, self.run = [f"def {name}({parameters}):"], 1, []
        yield name
        self._finished += self._lines
        self._lines, self._depth, self.run = outside

    def packed(self, codes: str, method: str) -> tuple[str, int]:
        """The name of a method of the `Struct` for a run of format codes (big-endian, no gaps), and the run's size."""
        made = struct.Struct(">" + codes)
        return self.constant(method, codes, lambda: getattr(made, method)), made.size

    def compile(self, title: str) -> dict[str, Any]:
        """Run the module, and give its names."""
        code = compile("\n".join(self._finished) + "\n", f"<{title!a}>", "exec")
        exec(code, self.names)  # built from a layout: names and defaults stand in it as literals
        return self.names

    @property
    def text(self) -> str:
        """The module as text, for people."""
        return "\n".join(self._finished)
