"""Shared by the tests of `kiplint.text`: slow and obvious reference implementations, and generators of texts."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from kiplint.text.tree import Node


def tree_value(text: str, node: Node) -> Any:
    """The value of a tree of strict JSON, each scalar read from its own span."""
    if node.kind == "object":
        return {json.loads(text[c.key_start : c.key_end]): tree_value(text, c) for c in node.children}
    if node.kind == "array":
        return [tree_value(text, child) for child in node.children]
    return json.loads(text[node.start : node.end])


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
    | st.sampled_from(["//", "/* */", "http://x", '"', "\\", "'", "{", ":", " :x"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "b", "c/d", "~", "é", '"', "\\", "\n", "name"]), inner, max_size=4)
    ),
    max_leaves=12,
)
_GAPS = st.sampled_from(
    ["", " ", "\n", "\r\n", "\t", "// a \"quote' and /* b\n", ' // "x": 1,\r\n', "\n  //\n// two\n", "// \\ é\r"]
)


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, Any]:
    """A JSON text with comments between its tokens, and its value."""
    value, gap, other = draw(values), draw(_GAPS), draw(_GAPS)
    ascii_only = draw(st.booleans())

    def render(part: Any) -> str:
        if isinstance(part, dict):
            inner = f"{other},{gap}".join(f"{json.dumps(k)}{gap}:{other}{render(v)}" for k, v in part.items())
            return f"{{{gap}{inner}{other}}}"
        if isinstance(part, list):
            return f"[{other}{f'{gap},{other}'.join(map(render, part))}{gap}]"
        return json.dumps(part, ensure_ascii=ascii_only)

    return f"{other}{render(value)}{gap}", value


# Pieces that make and break JSON; joined at random they reach most states of the scan.
_PIECES = st.sampled_from(
    ["{", "}", "[", "]", ":", ",", '"a"', '"b"', '"', "'", "'c'", "//", "/*", "*/", "\n", "\r", " ", "\\", "1", "01",
     "+1", ".5", "0x1F", "true", "True", "nul", "key", "#", "=", "\ufeff", "\u00a0", "\0", "é", "\\u0061", '"\\ud800"',
     '"\\q"', '"x\ty"', "kiplint:", "// kiplint: ignore[a] b\n", "1e999", "-", "NaN", '{"a": 1, ', '"name": "N"']
)  # fmt: skip
random_texts = st.lists(_PIECES, max_size=24).map("".join)


@st.composite
def mutations(draw: st.DrawFn) -> str:
    """A JSON text with a few characters taken out or put in."""
    text, _ = draw(documents())
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        cut = draw(st.integers(0, 2))
        text = text[:at] + draw(_PIECES | st.just("")) + text[at + cut :]
    return text
