"""The generated pages that only the site has: long, and nothing that is committed links to them.

A hook of mkdocs: each build makes them out of the code.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from generator import api, facts, schemas


def pages() -> dict[str, str]:
    """The text of each page and JSON Schema, by path below `docs/`."""
    return {
        "reference/api.md": api.make(),
        "reference/facts.md": facts.make(),
        "reference/schemas.md": schemas.make(),
        **schemas.files(),
    }


def on_files(files: Any, config: Any) -> Any:
    """Add them to the files that mkdocs has found."""
    from mkdocs.structure.files import File

    for path, text in pages().items():
        if path not in files.src_uris:
            files.append(File.generated(config, path, content=text))
    return files
