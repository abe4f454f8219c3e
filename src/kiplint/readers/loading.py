"""The profiles that come with kiplint, and what is wrong with one."""

from __future__ import annotations

import os
from collections.abc import Collection
from functools import cache

import msgspec

from kiplint.readers.profile import Profile
from kiplint.text.files import read_text

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "profiles")
"""The directory of the profiles."""


@cache
def _all() -> tuple[Profile, ...]:
    names = sorted(name for name in os.listdir(FOLDER) if name.endswith(".json5"))
    return tuple(read_profile(os.path.join(FOLDER, name)) for name in names)


def profiles(names: Collection[str] | None = None) -> list[Profile]:
    """The profiles, in the order of their names; only those of these `names`, if given."""
    return [one for one in _all() if names is None or one.name in names]


def read_profile(file: str) -> Profile:
    """A profile out of its file; raises ValueError where it is none."""
    import json5

    try:
        return msgspec.convert(json5.loads(read_text(file)), Profile)
    except (ValueError, OSError) as error:
        raise ValueError(f"{file}: {error}") from None
