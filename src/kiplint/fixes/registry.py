"""The fixers by the names that rules call them by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kiplint.fixes.fixers import headers, rpc, syntax, values, written
from kiplint.fixes.mend import Fixer

FIXERS: Final[Mapping[str, Fixer]] = {
    "instead": written.instead,
    "suggestion": written.suggestion,
    "json5": syntax.json5,
    "trailing-comma": syntax.trailing_comma,
    "coerced-value": values.coerced_value,
    "default-null": values.default_null,
    "written-type": values.written_type,
    "misspelt-property": values.misspelt_property,
    "header-map": headers.header_map,
    "header-start": headers.header_start,
    "header-overlap": headers.header_overlap,
    "header-order": headers.header_order,
    "lagging-half": rpc.lagging_half,
    "next-api-key": rpc.next_api_key,
}
