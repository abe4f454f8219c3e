"""A tolerant reading of a definition's text: the tree of its values with their places, and what is wrong with it.

The scan never fails and never gives up: after a mistake it guesses what was meant and reads on, so that one run
reports several mistakes. It is iterative and linear in time and memory whatever the text.
"""

from __future__ import annotations

import msgspec

from kiplint.text.nodes import Node
from kiplint.text.parser import Parser
from kiplint.text.problem import Problem
from kiplint.text.tokens import tokens


class Scan(msgspec.Struct, frozen=True):
    """What a scan found: the first complete value (None when there is none) and the problems in text order."""

    root: Node | None
    problems: tuple[Problem, ...]


def scan(text: str) -> Scan:
    """Scan a text; at most `MAX_PROBLEMS` problems, each with a pointer and character offsets.

    Kinds: trailing-comma, json5-only, invalid-json, trailing-content, duplicate-key, too-deep, block-comment.
    A text of nothing but white space and comments has no root and no problem for that.
    """
    parser = Parser(text)
    for token in tokens(text):
        if not parser.take(token):
            break
    parser.finish()
    return Scan(parser.root, tuple(sorted(parser.collector.problems, key=lambda problem: problem.start)))
