"""The JSON Schemas: each as a file of its own, and as tables to read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from generator.markdown import anchor, code, page, prose, table
from kiplint.commands.schema import schema, schema_names
from kiplint.engine.config import config_schema

INTRODUCTION = """\
The files that kiplint reads and writes, as JSON Schema (draft 2020-12). `kiplint schema NAME` prints one; the same text
stands in the file named below. A definition or a pack has to lose its comments before another tool can read it.
"""


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


def make() -> str:
    """The page `reference/schemas.md`."""
    return page("Schemas", INTRODUCTION, *(_schema(name, schema(name)) for name in schema_names()))


def files() -> dict[str, str]:
    """The schemas as the files that hold them, by path below `docs/`."""
    return {_file(name): _json(schema(name)) for name in schema_names()}


def published() -> dict[str, str]:
    """The files that have an address of their own, by path below `docs/`: the catalog, and what it links to."""
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


def _schema(name: str, schema: dict[str, Any]) -> str:
    shapes = {shape: value for shape, value in schema["$defs"].items() if "properties" in value}
    top = _top(schema)
    shapes = {top: shapes.pop(top), **shapes}
    parts = [_shape(name, shape, value, shape == top) for shape, value in shapes.items()]
    intro = f"{prose(schema['title'])}: [{name}.json](schemas/{name}.json)."
    return "\n\n".join([f"## {name}", intro, *parts])


def _shape(name: str, shape: str, value: dict[str, Any], top: bool) -> str:
    required = value.get("required", [])
    rows = [
        [code(key), _type(name, item), "yes" if key in required else "", prose(item.get("description", ""))]
        for key, item in value["properties"].items()
    ]
    about = [] if top else [f"### {_heading(name, shape)}"]
    description = [prose(value["description"])] if "description" in value else []
    return "\n\n".join([*about, *description, table(["property", "type", "required", "meaning"], rows)])


def _heading(name: str, shape: str) -> str:
    return f"{name}: {shape}"


def _type(name: str, value: dict[str, Any]) -> str:
    """A property's type in words."""
    if "$ref" in value:
        shape = str(value["$ref"]).rpartition("/")[2]
        return f"[{shape}](#{anchor(_heading(name, shape))})"
    if "enum" in value:
        return ", ".join(code(str(word)) for word in value["enum"])
    if "anyOf" in value:
        return " or ".join(_type(name, option) for option in value["anyOf"])
    if value.get("type") == "array":
        return f"array of {_type(name, value['items'])}" if value.get("items") else "array"
    if isinstance(value.get("additionalProperties"), dict) and value["additionalProperties"]:
        return f"object of {_type(name, value['additionalProperties'])}"
    return str(value.get("type", "anything"))
