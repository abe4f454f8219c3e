"""Names that try to be more than text: annotations, ends of CDATA, cells of tables."""

from __future__ import annotations

FORGED = (
    "A\n::error file=x::forged",
    "A\r\n##[error]forged",
    "A%0A::error::forged%25",
    "A]]><script>alert(1)</script><!-- --",
    "A|\n| error | x | y | z |",
)
