"""The pictures of the guide: each is there, in light and dark, small, and shown."""

from __future__ import annotations

import json
import re
from pathlib import Path

LARGEST = 150_000


def test_pictures_are_small_and_shown(repo: Path) -> None:
    folder = repo / "docs/guide/pictures"
    files = {file.name: file.stat().st_size for file in folder.glob("*.png")}
    names = set(json.loads((folder / "made.json").read_text("utf-8")))
    assert set(files) == {f"{name}-{scheme}.png" for name in names for scheme in ("light", "dark")}
    assert {name: size for name, size in files.items() if size > LARGEST} == {}
    pages = "".join(page.read_text("utf-8") for page in (repo / "docs/guide").glob("*.md"))
    assert set(re.findall(r"pictures/([a-z-]+\.png)", pages)) == set(files)
