"""The inputs and outputs of the GitHub action, from `action.yml`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from generator.markdown import code, prose, table


def inputs(file: Path) -> str:
    """The inputs as the guide lists them."""
    rows = (
        [code(name), prose(item["description"]), code(item["default"]) if item["default"] else ""]
        for name, item in _read(file)["inputs"].items()
    )
    return table(["input", "meaning", "unless given"], rows)


def outputs(file: Path) -> str:
    """The outputs as the guide lists them."""
    rows = ([code(name), prose(item["description"])] for name, item in _read(file)["outputs"].items())
    return table(["output", "meaning"], rows)


def _read(file: Path) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(file.read_text("utf-8"))
    return document
