"""One line for each element, and which facts are public."""

from __future__ import annotations

import pytest

from kiplint.model.element import facts_of
from kiplint.model.fields import Field
from kiplint.model.layout import layout
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from tools import field, message


def test_an_element_is_shown_on_one_line() -> None:
    inner = field("Partitions", "[]FetchPartition", fields=[field("Id", "int32")])
    fetch = message(field("Topics", "[]FetchTopic", fields=[inner]), name="FetchRequest", validVersions="4-18")
    schemas = SchemaSet((fetch,), "src/resources/clients")
    topics = fetch.fields[0]
    assert topics.struct
    assert [repr(element) for element in (fetch, topics.struct.fields[0], topics.struct, schemas, schemas.rpcs[0])] == [
        "<Message FetchRequest 4-18>",
        "<Field FetchRequest.Topics.Partitions: []FetchPartition 0+>",
        "<Struct FetchRequest.Topics: 1 field>",
        "<SchemaSet clients: 1 message>",
        f"<Rpc Fetch: API key {fetch.api_key}>",
    ]
    assert repr(SchemaSet((fetch,))) == "<SchemaSet: 1 message>"
    made = layout(fetch, 4)
    assert (repr(made), repr(made.slots[0])) == (
        "<Layout: 1 field, 0 tagged>",
        "<Slot Topics: compact array of FetchTopic>",
    )


def test_an_escape_is_shown_as_text() -> None:
    assert repr(message(name="A\nRequest")) == "<Message A\\u000aRequest 0-5>"


@pytest.mark.parametrize(
    ("kind", "name", "public"),
    [
        (Message, "valid", True),
        (Message, "schemas", True),
        (Message, "spoils_headers", False),
        (Message, "leads_headerless", False),
        (Field, "java_name", True),
        (Field, "acronym", False),
        (SchemaSet, "rpcs", True),
    ],
)
def test_facts_for_rules_only_are_not_public(kind: type, name: str, public: bool) -> None:
    assert facts_of(kind)[name].public is public
