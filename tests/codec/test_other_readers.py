"""Clients of other people read what `kiplint vectors` writes, and write the same bytes again."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.clients import kafka_python, kio

from kiplint.commands.vectors.run import Vector, vectors

READ = {"minimal", "rich-field", "null", "tag", "rich", "long", "array-128", "utf-8"}
"""The kinds that both clients read. Of others, `lowest` and `highest` are no times or errors, and unknown tags are lost."""


@pytest.fixture(scope="module")
def readable_vectors(corpus: Path) -> list[Vector]:
    return [vector for vector in vectors(corpus / "kafka-trunk-2026-08") if vector.kind in READ]


def test_kio_reads_every_vector_that_it_knows(readable_vectors: list[Vector]) -> None:
    find_entity, versions = kio(), set()
    for vector in readable_vectors:
        if entity := find_entity(vector.message, vector.version):
            data = bytes.fromhex(vector.hex)
            assert entity.write(entity.read(data)) == data, (vector.message, vector.version, vector.kind, vector.field)
            versions.add((vector.message, vector.version))
    assert len(versions) > 600


def is_read_as_version_0(vector: Vector) -> bool:
    """kafka-python reads version 0 of an answer to ApiVersions that has any error, not only UNSUPPORTED_VERSION."""
    return vector.message == "ApiVersionsResponse" and vector.version > 0 and (vector.value or {})["errorCode"] != 0


@pytest.mark.filterwarnings("ignore:(read|open)_text is deprecated:DeprecationWarning")
def test_kafka_python_reads_every_vector_that_it_knows(readable_vectors: list[Vector]) -> None:
    find_entity, messages = kafka_python(), set()
    for vector in readable_vectors:
        # Fields one by one are left to kio: this reader is slow.
        entity = find_entity(vector.message, vector.version) if vector.kind != "rich-field" else None
        if entity and not is_read_as_version_0(vector):
            data = bytes.fromhex(vector.hex)
            assert entity.write(entity.read(data)) == data, (vector.message, vector.version, vector.kind, vector.field)
            messages.add(vector.message)
    assert len(messages) > 90
