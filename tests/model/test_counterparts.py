"""Which definition owns a name and an API key, and which is its counterpart in the base."""

from __future__ import annotations

import pytest

from kiplint.model.counterparts import Owners, find_counterparts
from kiplint.model.definition import Definition
from tools import field, message, rpc


def request(name: str, api_key: int | None = 1, *fields: str, kind: str = "request") -> Definition:
    return message(*map(field, fields), name=f"{name}Request", type=kind, apiKey=api_key)


def counterparts(base: list[Definition], head: list[Definition]) -> dict[str, str]:
    """The names of the definitions of the head that have a counterpart, each with that of its counterpart."""
    _, pairs = find_counterparts(head, Owners(base, {}))
    return {definition.name: counterpart.name for definition, counterpart in pairs.items()}


@pytest.mark.parametrize(
    ("base", "head", "pairs"),
    [
        # by name, whatever the key
        ([request("Alter")], [request("Alter", 9)], {"AlterRequest": "AlterRequest"}),
        # by key, if the names or the fields are related
        ([request("AlterIsr")], [request("AlterIsrState")], {"AlterIsrStateRequest": "AlterIsrRequest"}),
        ([request("Mend", 1, "Topic")], [request("Cure", 1, "Topic")], {"CureRequest": "MendRequest"}),
        ([request("Mend", 1, "ErrorCode")], [request("Cure", 1, "ErrorCode")], {}),
        ([request("Mend")], [request("Cure")], {}),
        # never by key, if the base has the name with another type, or the head still has the other name
        ([request("AlterIsr"), request("Alter", 2, kind="header")], [request("Alter")], {}),
        (
            [request("AlterIsr")],
            [request("AlterIsr", 2), request("AlterIsrState")],
            {"AlterIsrRequest": "AlterIsrRequest"},
        ),
    ],
)
def test_counterparts(base: list[Definition], head: list[Definition], pairs: dict[str, str]) -> None:
    assert counterparts(base, head) == pairs


def test_the_other_message_of_an_rpc_tells_that_it_was_renamed() -> None:
    (_, old_response), (_, new_response) = rpc("AlterIsr", 1, "0"), rpc("AlterIsrState", 1, "0")
    old = [request("MendA"), old_response]
    assert counterparts(old, [request("CureB"), new_response]) == {
        "CureBRequest": "MendARequest",
        "AlterIsrStateResponse": "AlterIsrResponse",
    }
    assert counterparts(old, [request("CureB")]) == {}


def test_the_owner_of_a_key_is_the_message_that_the_base_has_with_it() -> None:
    new, old = request("Add"), request("Fetch")
    owners, _ = find_counterparts([new, old], Owners([old], {}))
    assert owners.by_key == {("request", 1): old}
    owners, _ = find_counterparts([new, old], Owners([new], {}))
    assert owners.by_key == {("request", 1): new}


def test_the_owner_of_a_key_is_the_message_whose_other_message_has_it_too() -> None:
    fetch, answer = rpc("Fetch", 1, "0-3")
    copied = request("Add")
    owners = Owners([copied, fetch, answer], {})
    assert owners.by_key == {("request", 1): fetch, ("response", 1): answer}
    assert owners.partner(copied) is answer
    assert owners.partner_by_name(copied) is None


def test_a_definition_whose_type_contradicts_its_name_owns_no_key() -> None:
    assert Owners([request("X", kind="response")], {}).by_key == {}
