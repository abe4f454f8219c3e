"""Names that try to be more than text: annotations, ends of CDATA, cells of tables."""

from __future__ import annotations

from pathlib import Path

from tools import definition, field

FORGED = (
    "A\n::error file=x::forged",
    "A\r\n##[error]forged",
    "A%0A::error::forged%25",
    "A]]><script>alert(1)</script><!-- --",
    "A|\n| error | x | y | z |",
)

NAMES = [
    *FORGED,
    "A\x1b[31m\x00\x07\x7f\x9b\u202e\u2028\ufffe\U000e0041",
    "A\"'`*_~$&amp;[x](javascript:x)@all",
    "A::stop-commands::x",
    "世界 🎉 é",
]


def hostile_sets(folder: Path) -> tuple[Path, Path]:
    """Two releases of RPCs with such names, and with fields that have them."""
    for release, valid in (("old", "0-1"), ("new", "0-2")):
        (folder / release).mkdir()
        for key, name in enumerate(NAMES):
            for kind in ("Request", "Response"):
                fields = [field(f"{name}{at}", about=f"Number {at}.") for at in range(2 if release == "new" else 1)]
                text = definition(*fields, name=f"{name}{kind}", type=kind.lower(), apiKey=key, validVersions=valid)
                (folder / release / f"X{key}{kind}.json").write_bytes(text)
    return folder / "old", folder / "new"
