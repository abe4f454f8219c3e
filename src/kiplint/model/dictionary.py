"""The dictionary: common misspellings, and what they mean. That of codespell adds to our own where it is installed.

That dictionary is under the Creative Commons licence BY-SA 3.0 and the package under the GPL, so neither is a part of
kiplint: `pip install 'kiplint[spelling]'` installs it beside, and only the file is read, no code of it is run.
"""

from __future__ import annotations

import os
import sys
from functools import cache

from kiplint.model.misspellings import COMMON

_FILE = os.path.join("codespell_lib", "data", "dictionary.txt")


@cache
def misspellings() -> dict[str, str]:
    """By misspelt word: the right ones, with commas between them."""
    for folder in sys.path:
        file = os.path.join(folder, _FILE)
        if folder and os.path.isfile(file):
            with open(file, encoding="utf-8") as lines:
                pairs = (line.rstrip("\n").partition("->") for line in lines)
                return COMMON | {wrong: right.rstrip(",") for wrong, _, right in pairs if "disabled" not in right}
    return COMMON
