"""The bounds within which a definition is read at all; beyond them it is a problem, never a slow run."""

from __future__ import annotations

from typing import Final

MAX_BYTES: Final = 1_048_576
"""Largest definition read, in bytes."""

MAX_DEPTH: Final = 64
"""Deepest nesting of objects and arrays read; the top-level value is level 1."""

MAX_PROBLEMS: Final = 100
"""Most problems kept of one file."""

MAX_POINTER_KEY: Final = 256
"""Longest key, in characters, that a problem's pointer spells out; the pointer stops above a longer one."""
