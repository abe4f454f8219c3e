"""The generated pages that only the site has: long, and nothing that is committed links to them.

A hook of mkdocs: each build makes them out of the code.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from generator import api, facts, schemas

PACKS = "reference/rules/*.md"


def pages() -> dict[str, str]:
    """The text of each page and JSON Schema, by path below `docs/`."""
    return {
        "reference/api.md": api.make(),
        "reference/facts.md": facts.make(),
        "reference/schemas.md": schemas.make(),
        **schemas.files(),
    }


def on_config(config: Any) -> Any:
    """Put the page of each pack below that of all rules."""
    reference = next(part["Reference"] for part in config.nav if "Reference" in part)
    rules = next(part["Rules"] for part in reference if "Rules" in part)
    rules += sorted(page.relative_to(config.docs_dir).as_posix() for page in Path(config.docs_dir).glob(PACKS))
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add them to the files that mkdocs has found."""
    from mkdocs.structure.files import File

    for path, text in pages().items():
        if path not in files.src_uris:
            files.append(File.generated(config, path, content=text))
    return files
