"""Clients of other people read what `kiplint vectors` writes, and write the same bytes again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from benchmarks.clients import Entities, Entity, kafka_python, kio

from kiplint.commands.vectors.run import Vector, vectors

EASY = {"minimal", "rich-field", "null", "tag", "rich"}


@pytest.fixture(scope="module")
def every(corpus: Path) -> list[Vector]:
    return [*vectors(corpus / "kafka-trunk-2026-08")]


@pytest.fixture(scope="module")
def written(every: list[Vector]) -> list[Vector]:
    return [vector for vector in every if vector.kind in EASY]


@pytest.fixture(scope="module")
def hard(every: list[Vector]) -> list[Vector]:
    return [vector for vector in every if vector.kind not in EASY]


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


def outcomes(entities: Entities, hard: list[Vector]) -> Counter[tuple[str, str, str]]:
    """How a reader fares: by what it must do, the kind, and `same` bytes, `other` bytes, `read` or `refused`."""
    return Counter(
        (vector.must, vector.kind, outcome(entity, vector))
        for vector in hard
        if (entity := entities(vector.message, vector.version))
    )


def unlike_kiplint(result: Mapping[tuple[str, str, str], int]) -> dict[tuple[str, str, str], int]:
    return {key: number for key, number in result.items() if key[2] != ("same" if key[0] == "read" else "refused")}


def outcome(entity: Entity, vector: Vector) -> str:
    data = bytes.fromhex(vector.hex)
    try:
        value = entity.read(data)
    except Exception:
        return "refused"
    if vector.must != "read":
        return "read"
    return "same" if entity.write(value) == data else "other"


def test_how_kio_fares_with_hard_vectors(hard: list[Vector]) -> None:
    result = outcomes(kio(), hard)
    assert unlike_kiplint(result) == {
        # It makes an enumeration of error codes (302 messages and versions) and timedelta of times (10).
        ("read", "lowest", "refused"): 312,
        ("read", "highest", "refused"): 312,
        # It looks unknown tags up among those that it knows; KIP-482 has them skipped.
        ("read", "unknown-tags", "refused"): 363,
        # It reads null for every array, and for no string or bytes.
        ("refuse", "null-not-allowed", "read"): 469,
        # It reads streams, in which other bytes may follow.
        ("refuse", "trailing-bytes", "read"): 625,
    }
    assert result["refuse", "null-not-allowed", "refused"] == 535
    assert (result["read", "long", "same"], result["read", "array-128", "same"], result["read", "utf-8", "same"]) == (
        548, 493, 530,
    )  # fmt: skip
    assert (result["may", "tag-order", "refused"], result["may", "tag-duplicate", "refused"]) == (363, 363)


@pytest.mark.filterwarnings("ignore:(read|open)_text is deprecated:DeprecationWarning")
def test_how_kafka_python_fares_with_hard_vectors(hard: list[Vector]) -> None:
    # Of answers to ApiVersions it reads those with an error as version 0: see above.
    result = outcomes(kafka_python(), [vector for vector in hard if vector.message != "ApiVersionsResponse"])
    assert unlike_kiplint(result) == {
        # It skips unknown tags, does not keep them, and checks neither their order nor that their size is there.
        ("read", "unknown-tags", "other"): 238,
        ("may", "tag-order", "read"): 238,
        ("may", "tag-duplicate", "read"): 238,
        # 238 of these are such tags; 10 are a string or bytes at the end, which it takes as far as they go.
        ("refuse", "length-beyond-end", "read"): 248,
        # It takes any negative length of a string for null, and an array of -2 elements for an empty one.
        ("refuse", "length-negative", "read"): 203,
        # It has no fields that cannot be null.
        ("refuse", "null-not-allowed", "read"): 805,
        # It does not look at what follows the end.
        ("refuse", "trailing-bytes", "read"): 473,
    }
    assert (result["read", "long", "same"], result["read", "array-128", "same"], result["read", "utf-8", "same"]) == (
        434, 385, 423,
    )  # fmt: skip
    assert result["refuse", "varint-without-end", "refused"] == 679
