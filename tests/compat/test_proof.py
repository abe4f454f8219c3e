"""A break of bytes has a proof, and a proof is always of a break."""

from __future__ import annotations

import os

import pytest
from hypothesis import given, settings

from compat.test_diff_properties import JSON, breaks, changes, evolutions
from kiplint.codec.codec import Codec
from kiplint.compat.proof import Proof, proofs_of, sentence
from kiplint.model.message import Message
from tools import document, field, message

HIGHEST = 5
EXAMPLES = int(os.environ.get("KIPLINT_PROOF_EXAMPLES", "120"))
"""How many evolutions are tried: few by default, more where the variable says so."""


def proven(proof: Proof, old: Message, new: Message) -> bool:
    """Whether the bytes are really written by one side, and not read in the same way by the other."""
    sides = {"old": Codec(old, proof.version), "new": Codec(new, proof.version)}
    data = bytes.fromhex(proof.hex)
    assert sides[proof.writer].decode(data).problems == ()
    read = sides[proof.reader].decode(data)
    problems = [problem.rule for problem in read.problems if problem.severity == "error"]
    if proof.outcome == "refused":
        return problems[0] == proof.rule
    assert problems in ([], ["codec/trailing-bytes"])  # which a reader of requests ignores
    return proof.outcome == "dropped" or (proof.field, proof.wrote) != (proof.read_as, proof.read)


@settings(max_examples=EXAMPLES)
@given(evolutions())
def test_breaks_and_proofs_are_the_same(pair: tuple[JSON, JSON]) -> None:
    findings, old, new = changes(*pair)
    breaking = breaks(findings, new)
    for version in range(HIGHEST + 1):
        result = proofs_of(old, new, version)
        assert bool(result) == (version in breaking)
        assert all(proven(proof, old, new) for proof in result)


def the_one(old: Message, new: Message, version: int = 0) -> list[tuple[str, str, str]]:
    return [(proof.writer, proof.outcome, proof.hex) for proof in proofs_of(old, new, version)]


def test_null_is_refused_in_one_direction() -> None:
    old, new = message(field("A", "string")), message(field("A", "string", nullableVersions="0+"))
    assert the_one(old, new) == [("new", "refused", "ffff")]


@pytest.mark.parametrize("kind", ["request", "response", "coordinator-value", "data", "metadata"])
def test_who_ignores_bytes_after_the_end(kind: str) -> None:
    """Readers of RPCs and of coordinators' records do, as brokers 4.4.0, 4.0.2, 3.9.1 and 2.8.0; the metadata log not."""
    old, new = message(field("A"), type=kind), message(field("A"), field("B"), type=kind)
    outcomes = {proof.writer: proof.outcome for proof in proofs_of(old, new, 0)}
    assert outcomes == {"new": "refused" if kind == "metadata" else "dropped", "old": "refused"}
    [refusal] = [proof for proof in proofs_of(old, new, 0) if proof.writer == "old"]
    assert str(refusal.read).endswith(", and closes the connection") is (kind in ("request", "response"))


def test_the_sentence_of_a_field_that_is_dropped() -> None:
    _, dropped = proofs_of(message(field("A")), message(field("A"), field("B")), 0)
    assert sentence(dropped) == "new writes version 0 as 0000000000000000; old ignores b 0 at byte 4"


def test_a_struct_without_bytes_may_stand_anywhere() -> None:
    box = field("Box", "Box", fields=[field("Inner", versions="1-2")])
    findings, old, new = changes(document(field("A"), box), document(box, field("A")))
    assert breaks(findings, new) == {version for version in range(6) if proofs_of(old, new, version)} == {1, 2, 3, 4, 5}


def test_no_proof_has_elements_without_bytes() -> None:
    """Kafka's reader refuses more elements than bytes are left."""
    old, new = (
        message(field("Boxes", "[]Box", fields=[field("Inner", "int8", versions=versions)]))
        for versions in ("1+", "0+")
    )
    assert the_one(old, new) == [("new", "dropped", "0000000109")]


def test_renames_and_new_tags_are_not_breaks() -> None:
    old = message(field("A", "string"), field("T", versions="3+", tag=0, taggedVersions="3+"))
    new = message(
        field("Z", "string"),
        field("T", versions="3+", tag=0, taggedVersions="3+"),
        field("U", versions="3+", tag=1, taggedVersions="3+"),
    )
    assert proofs_of(old, new, 0) == proofs_of(old, new, 3) == ()


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (("int16", "uint16"), [("ffff", -1, 65535), ("ffff", 65535, -1)]),
        (("int32", "uint32"), [("ffffffff", -1, 4294967295), ("ffffffff", 4294967295, -1)]),
        (("int64", "float64"), [("0000000000000001", 1, 5e-324), ("3ff4000000000000", 1.25, 4608308318706860032)]),
        (("bool", "int8"), [("01", True, 1), ("09", 9, True)]),
    ],
)
def test_proofs_show_another_value(types: tuple[str, str], expected: list[tuple[str, object, object]]) -> None:
    old, new = (message(field("A", kind)) for kind in types)
    result = {proof.writer: (proof.hex, proof.wrote, proof.read) for proof in proofs_of(old, new, 0)}
    assert [result["old"], result["new"]] == expected


@pytest.mark.parametrize("about", ["", "A", "B"])
def test_proofs_of_text_and_bytes_and_of_swapped_fields_show_values(about: str) -> None:
    old, new = (message(field("A", kind)) for kind in ("string", "bytes"))
    assert all(proof.outcome == "refused" or proof.wrote != proof.read for proof in proofs_of(old, new, 0))
    old, new = (message(*(field(name) for name in names)) for names in (("A", "B"), ("B", "A")))
    assert [
        (proof.hex, proof.field, proof.wrote, proof.read_as, proof.read) for proof in proofs_of(old, new, 0, about)
    ] == [
        ("0000000100000002", "a", 1, "b", 1),
        ("0000000100000002", "b", 1, "a", 1),
    ]


def test_a_header_ends_where_the_body_begins_so_nothing_of_it_is_dropped() -> None:
    """A reader takes a field that it does not know for the beginning of the body."""
    versions = {"name": "RequestHeader", "type": "header", "apiKey": None, "validVersions": "1"}
    for kind, outcome in (({}, "dropped"), (versions, "misread")):
        old, new = message(field("A"), **kind), message(field("A"), field("B"), **kind)
        version = 1
        assert [proof.outcome for proof in proofs_of(old, new, version) if proof.writer == "new"] == [outcome]
    (text,) = [sentence(proof) for proof in proofs_of(old, new, version) if proof.writer == "old"]
    assert (
        text == "old writes version 1 as 00000000; new fails at byte 4: the header ends here, so it reads the body as b"
    )
