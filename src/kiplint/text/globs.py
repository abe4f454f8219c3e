"""Globs as `fnmatch` has them, each made into a regular expression once, however many others are tried in between."""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import translate
from functools import lru_cache
from typing import Final

WILDCARDS: Final = "*?["


def fits(text: str, glob: str) -> bool:
    """Whether a glob, which takes case as it is, fits a whole text."""
    return _matcher(glob)(text) is not None if any(sign in glob for sign in WILDCARDS) else text == glob


@lru_cache(maxsize=20_000)
def _matcher(glob: str) -> Callable[[str], object]:
    return re.compile(translate(glob)).match
