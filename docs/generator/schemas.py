"""The JSON Schemas that have an address of their own, and the keys of the configuration as a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from generator.markdown import code, prose, table
from kiplint.commands.schema import schema
from kiplint.engine.config import config_schema

RAW = "https://raw.githubusercontent.com/kiplint/kiplint/main/docs/reference/schemas"
CATALOG = [
    {
        "name": "Apache Kafka message definition",
        "description": "A request, response, header or record of the Kafka protocol",
        "fileMatch": [
            "**/src/main/resources/common/message/*.json",
            "**/src/main/resources/common/metadata/*.json",
            "**/src/test/resources/common/message/*.json",
        ],
        "url": f"{RAW}/message.json",
    },
    {
        "name": "kiplint",
        "description": "Configuration of kiplint, a linter of Apache Kafka message schemas",
        "fileMatch": ["kiplint.toml", ".kiplint.toml"],
        "url": f"{RAW}/config.json",
    },
]
"""What SchemaStore's catalog has of them: editors find a file's schema there by its name."""
PUBLISHED = ("message", "config")
"""The schemas that the catalog links to, and so editors; `kiplint schema NAME` prints the others."""


def published() -> dict[str, str]:
    """The files with their own address, by path below `docs/`: the catalog, and what it links to."""
    return {_file("catalog"): _json(CATALOG), **{_file(name): _json(schema(name)) for name in PUBLISHED}}


def _file(name: str) -> str:
    return f"reference/schemas/{name}.json"


def _json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n"


def config_keys() -> str:
    """The keys of the configuration, as the guide lists them."""
    schema = config_schema()
    return table(["key", "meaning", "unless given"], _keys(schema["$defs"][_top(schema)]))


def _keys(shape: dict[str, Any]) -> Iterator[list[str]]:
    for key, value in shape["properties"].items():
        usual = msgspec.json.encode(value["default"]).decode() if "default" in value else ""
        yield [code(key), prose(value.get("description", "")), code(usual) if usual else ""]


def _top(schema: dict[str, Any]) -> str:
    first = schema if "$ref" in schema else schema["anyOf"][0]
    return str(first["$ref"]).rpartition("/")[2]
