"""The words of a definition: of its descriptions, comments and names.

Names are taken apart at their capitals, so that `TopicId` counts for topic and for id.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import compress, count, islice
from operator import eq
from typing import TYPE_CHECKING, Final

from kiplint.model.element import given
from kiplint.model.remarks import places_of
from kiplint.model.usage import specs

if TYPE_CHECKING:
    from kiplint.model.message import Message

WORD: Final = "[A-Z]?[a-z]{2,}"
SHORTEST: Final = 5
"""Shorter words are too often one letter away from another."""
_TOKENS: Final = bytes(code if (chr(code).isalnum() and code < 128) or chr(code) == "|" else 32 for code in range(256))


def texts_of(message: Message) -> list[str]:
    """The descriptions, names and comments of a message."""
    spec = message.spec
    fields = list(specs(spec))
    texts = [about for one in fields if (about := one.about).__class__ is str]
    texts += [one.name for one in fields]
    texts += [one.text for one in message.paragraphs]
    texts += [spec.name, *(one.name for one in given(spec.common_structs, []))]
    return texts


def joined(texts: Iterable[str]) -> str:
    """The texts with bars between them."""
    return " | ".join(texts)


def tokens_of(text: str) -> list[bytes]:
    """The words, names, numbers and bars of a text."""
    return text.encode(errors="replace").translate(_TOKENS).split()


def doubled(texts: list[str], tokens: list[bytes]) -> set[str]:
    """The texts in which a word stands twice in a row, without a capital the second time: sentences may begin so.

    The tokens are those of the texts as they are `joined`.
    """
    places = list(compress(count(), map(eq, map(bytes.lower, tokens), islice(tokens, 1, None))))
    if places and len(texts) == 1:
        return set(texts)
    if places and tokens.count(b"|") >= len(texts):  # a bar of their own: one by one
        return {one for one in texts if doubled([one], tokens_of(one))}
    return {texts[tokens[:at].count(b"|")] for at in places}


def words_of(tokens: Iterable[bytes]) -> set[str]:
    """The words that the tokens are made of, in lower case."""
    return set(map(str.lower, re.findall(WORD, b" ".join(set(tokens)).decode())))


def times(word: str, text: str) -> int:
    """How often a word, given in lower case, is among the words of a text."""
    small = (text[max(at - 1, 0) : at] for at in _places(word, text))
    return sum(not before.isalpha() for before in small) + sum(1 for _ in _places(word.capitalize(), text))


def _places(word: str, text: str) -> Iterator[int]:
    """Where the letters stand, with no small one behind them."""
    ends = ((at, at + len(word)) for at in places_of(word, text))
    return (at for at, end in ends if not ("a" <= text[end : end + 1] <= "z"))
