"""The order in which Kafka's definitions have their properties."""

from __future__ import annotations

from typing import Final

MESSAGE: Final = (
    "apiKey", "type", "listeners", "name", "validVersions", "deprecatedVersions", "flexibleVersions",
    "headerVersions", "latestVersionUnstable", "fields", "commonStructs",
)  # fmt: skip
FIELD: Final = (
    "name", "type", "versions", "nullableVersions", "flexibleVersions", "taggedVersions", "tag", "default", "mapKey",
    "ignorable", "entityType", "zeroCopy", "about", "fields",
)  # fmt: skip
STRUCT: Final = ("name", "versions", "fields")
