"""The fixers by the names that rules call them by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from kiplint.engine.finding import Fix
from kiplint.engine.ruleset import Breach
from kiplint.fixes.fixers import comments, headers, rpc, syntax, values, written
from kiplint.fixes.mend import Case, Fixer
from kiplint.text.edit_document import Document, NotEditable

FIXERS: Final[Mapping[str, Fixer]] = {
    "instead": written.instead,
    "suggestion": written.suggestion,
    "json5": syntax.json5,
    "trailing-comma": syntax.trailing_comma,
    "byte-order-mark": comments.byte_order_mark,
    "block-comment": comments.block_comment,
    "unused-ignore": comments.unused_ignore,
    "coerced-value": values.coerced_value,
    "default-null": values.default_null,
    "default-octal": values.default_octal,
    "written-type": values.written_type,
    "misspelt-property": values.misspelt_property,
    "header-map": headers.header_map,
    "header-start": headers.header_start,
    "header-overlap": headers.header_overlap,
    "header-order": headers.header_order,
    "lagging-half": rpc.lagging_half,
    "frozen": rpc.frozen,
    "next-api-key": rpc.next_api_key,
}


def mend(breach: Breach, pointer: str, files: Mapping[str, bytes]) -> Fix | None:
    """The fix of a broken rule that names a fixer; None when this case is none that it can put right."""
    fixer = FIXERS.get(breach.rule.spec.fix)
    if fixer is None or breach.anchor.file not in files:
        return None
    try:
        return fixer(Case(breach, pointer, _Documents(files)))
    except NotEditable:
        return None


@lru_cache(maxsize=8)
def _document(data: bytes) -> Document:
    return Document(data)


class _Documents(Mapping[str, Document]):
    """The files that may be changed, each read when it is first looked at."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files

    def __getitem__(self, path: str) -> Document:
        return _document(self._files[path])

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)
