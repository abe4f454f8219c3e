"""An example message that proves a break, as a sentence."""

from __future__ import annotations

from typing import Any

import msgspec

from kiplint.compat.witness.find import Witness
from kiplint.text.show import printable

HEADER = "header"
"""What a reader with another header takes the body's first bytes for."""
MOST_HEX, MOST_TEXT = 40, 30
"""How many bytes of an example are shown, and how many characters of a value."""


def sentence(one: Witness) -> str:
    """`old writes 0 as 0001; new refuses at byte 2, 1 byte follows after the end of the message`."""
    data = one.hex if len(one.hex) <= 2 * MOST_HEX else one.hex[: 2 * MOST_HEX] + "..."
    wrote = f"{one.field} {_short(one.wrote)}" if one.field else "nothing there"
    if one.read_as == HEADER:
        what = f"begins the body elsewhere: {printable(str(one.read))}"
    elif one.outcome == "refused":
        what = f"refuses at byte {one.offset}, {printable(str(one.read))}"
    else:
        read = f"{one.read_as} {_short(one.read)}" if one.read_as else "nothing"
        what = f"takes {wrote} at byte {one.offset} for {read}"
    return f"{one.writer} writes {one.version} as {data or 'no bytes'}; {one.reader} {what}"


def _short(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return printable(text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 3] + "...")
