"""Clients of other people read what `kiplint vectors` writes, and write the same bytes again."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.clients import kafka_python, kio

from kiplint.commands.vectors.run import Vector, vectors

READ = {"minimal", "rich-field", "null", "tag", "rich", "long", "array-128", "utf-8"}
"""The kinds that both clients read. Of others, `lowest` and `highest` are no times or errors, and unknown tags are lost."""


@pytest.fixture(scope="module")
def written(corpus: Path) -> list[Vector]:
    return [vector for vector in vectors(corpus / "kafka-trunk-2026-08") if vector.kind in READ]


def test_kio_reads_every_vector_that_it_knows(written: list[Vector]) -> None:
    known, seen = kio(), set()
    for vector in written:
        if entity := known(vector.message, vector.version):
            data = bytes.fromhex(vector.hex)
            assert entity.write(entity.read(data)) == data, (vector.message, vector.version, vector.kind, vector.field)
            seen.add((vector.message, vector.version))
    assert len(seen) > 600


def is_read_as_version_0(vector: Vector) -> bool:
    """kafka-python reads version 0 of an answer to ApiVersions that has any error, not only UNSUPPORTED_VERSION."""
    return vector.message == "ApiVersionsResponse" and vector.version > 0 and (vector.value or {})["errorCode"] != 0


@pytest.mark.filterwarnings("ignore:(read|open)_text is deprecated:DeprecationWarning")
def test_kafka_python_reads_every_vector_that_it_knows(written: list[Vector]) -> None:
    known, seen = kafka_python(), set()
    for vector in written:
        # Fields one by one are left to kio: this reader is slow.
        entity = known(vector.message, vector.version) if vector.kind != "rich-field" else None
        if entity and not is_read_as_version_0(vector):
            data = bytes.fromhex(vector.hex)
            assert entity.write(entity.read(data)) == data, (vector.message, vector.version, vector.kind, vector.field)
            seen.add(vector.message)
    assert len(seen) > 90
