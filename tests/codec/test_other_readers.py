"""Clients of other people read what `kiplint vectors` writes, and write the same bytes again."""

from __future__ import annotations

import importlib
import io
import pkgutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kiplint.runs.bytes.encode import Vector, vectors


@pytest.fixture(scope="module")
def written(corpus: Path) -> list[Vector]:
    return [*vectors(corpus / "kafka-trunk-2026-08")]


def submodules(package: Any) -> Iterator[str]:
    return (one.name for one in pkgutil.walk_packages(package.__path__, f"{package.__name__}."))


def kio_entities() -> dict[tuple[str, int], str]:
    """The module of each entity of kio, by message in small letters and version."""
    import kio.schema

    found = {}
    for name in submodules(kio.schema):
        parts = name.split(".")
        if len(parts) == 5:
            suffix = parts[4] if parts[4] in ("request", "response") else ""
            found[parts[2].replace("_", "") + suffix, int(parts[3].removeprefix("v"))] = name
    return found


def test_kio_reads_every_vector_that_it_knows(written: list[Vector]) -> None:
    from kio.serial import entity_reader, entity_writer

    known, seen = kio_entities(), set()
    for one in written:
        module = known.get((one.message.lower(), one.version))
        entity = getattr(importlib.import_module(module), one.message, None) if module else None
        if entity is None:
            continue
        data, again = bytes.fromhex(one.hex), io.BytesIO()
        value, end = entity_reader(entity)(data, 0)
        entity_writer(entity)(again, value)
        assert (end, again.getvalue()) == (len(data), data), (one.message, one.version, one.kind, one.field)
        seen.add((one.message, one.version))
    assert len(seen) > 600


def kafka_python_messages() -> dict[str, Any]:
    """The classes of kafka-python that are messages, by name."""
    import kafka.protocol
    from kafka.protocol.api_message import ApiMessage

    for name in submodules(kafka.protocol):
        if not name.startswith(("kafka.protocol.old", "kafka.protocol.generate_stubs")):
            importlib.import_module(name)
    classes = [*ApiMessage.__subclasses__()]
    for one in classes:
        classes += one.__subclasses__()
    return {one.name: one for one in reversed(classes) if one._class_version is None and isinstance(one._json, dict)}


def is_read_as_version_0(one: Vector) -> bool:
    """kafka-python reads version 0 of an answer to ApiVersions that has any error, not only UNSUPPORTED_VERSION."""
    return one.message == "ApiVersionsResponse" and one.version > 0 and one.value["errorCode"] != 0


@pytest.mark.filterwarnings("ignore:(read|open)_text is deprecated:DeprecationWarning")
def test_kafka_python_reads_every_vector_that_it_knows(written: list[Vector]) -> None:
    known = kafka_python_messages()
    seen: Counter[str] = Counter()
    for one in written:
        cls = known.get(one.message)
        # Fields one by one are left to kio: this reader is slow.
        if cls is None or one.version > cls.max_version or one.kind == "rich-field" or is_read_as_version_0(one):
            continue
        data = bytes.fromhex(one.hex)
        value = cls.decode(data, version=one.version)
        value._header = None
        assert bytes(value.encode(version=one.version)) == data, (one.message, one.version, one.kind, one.field)
        seen[one.message] += 1
    assert len(seen) > 90
