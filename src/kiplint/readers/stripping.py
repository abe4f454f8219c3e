"""Text as a reader leaves it before it parses: what it strips becomes blanks, so that every place keeps its offset.

What a reader strips inside of a string is gone there too; that is how it comes to fail.
"""

from __future__ import annotations

import re
from functools import cache

from kiplint.readers.profile import Profile, Strip

_STRING = r'"(?:[^"\\\r\n]++|\\.)*+"?+'
_COMMENTS = {"//": r"//[^\n]*+", "#": r"\#[^\n]*+", "/*": r"/\*.*?(?:\*/|\Z)"}


def strip(text: str, profile: Profile) -> str:
    """The text after all steps, as long as before; in linear time."""
    for step in profile.strips:
        text = _stripped(text, step)
    return text


def _stripped(text: str, step: Strip) -> str:
    for old, new in step.replace.items():
        text = text.replace(old, new.ljust(len(old))[: len(old)])
    if step.join:
        return text.replace("\r", " ").replace("\n", " ")
    if step.comments:
        tokens = _comments(tuple(step.comments))
        return tokens.sub(lambda match: match[0] if match["comment"] is None else _blank(match[0]), text)
    pattern = _lines(step)
    if pattern is None:
        return text
    last = len(text) if step.ended else -1
    return pattern.sub(lambda match: match[0] if match.end() == last else _blank(match[0]), text)


@cache
def _comments(marks: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(f"{_STRING}|(?P<comment>{'|'.join(_COMMENTS[mark] for mark in marks)})", re.DOTALL)


def _lines(step: Strip) -> re.Pattern[str] | None:
    """What a step that goes by lines takes out of them."""
    if step.cut:
        return re.compile(re.escape(step.cut) + r"[^\n]*+")
    if step.drop_beginning:
        return re.compile(rf"^[^\S\n]*+{re.escape(step.drop_beginning)}[^\n]*+", re.MULTILINE)
    if step.drop_with:
        marks = "|".join(map(re.escape, step.drop_with))
        return re.compile(rf"^(?=[^\n]*?(?:{marks}))[^\n]*+", re.MULTILINE)
    return None


def _blank(text: str) -> str:
    return re.sub(r"[^\r\n]", " ", text)
