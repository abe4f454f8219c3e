"""How far a request header is rolled out, RPC by RPC (KIP-1313)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kiplint.compat.rollout import RolloutRow, in_words, rollout, rollout_of_trees, rollout_rules
from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.config import Config, Configurations, RuleOptions, RuleTable
from kiplint.model.load import load
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from tools import alone, document, field, message, rpc, rules_of

DEFAULTS = Configurations(options=RuleOptions(isolated=True))
V3 = {"0-2": "1", "3-5": "2", "6+": "3"}
"""The headers of a request that `tools.rpc` makes, bumped to 6."""
EXEMPT = "frozen at versions 0-1: it never carries the client instance id"
NOT_IN_HEAD = "is in the base, but not in the head"
RETIRE = f'{NOT_IN_HEAD}; to retire it, keep its files with "validVersions": "none"'


FIRST_FIELDS = (
    field("RequestApiKey", "int16"),
    field("RequestApiVersion", "int16"),
    field("CorrelationId", "int32"),
    field("ClientId", "string", "1+", nullableVersions="1+", flexibleVersions="none"),
)


INSTANCE_ID = field("ClientInstanceId", "uuid", "3+")


def request_header(
    valid: str = "1-3", *fields: dict[str, Any], instance_id: bool = True, kind: str = "header"
) -> Message:
    """RequestHeader, with the client instance id from version 3 on, and with other fields after it."""
    ids = (INSTANCE_ID,) if instance_id else ()
    own: dict[str, Any] = {"type": kind, "apiKey": None, "validVersions": valid, "flexibleVersions": "2+"}
    return message(*FIRST_FIELDS, *ids, *fields, name="RequestHeader", **own)


HEADER = request_header()


def read_set(folder: Path) -> SchemaSet:
    tree = make_tree("", [("", [(path.name, path.read_bytes()) for path in sorted(folder.glob("*.json"))])])
    assert not tree.unparsable
    return tree.main


def short(rows: list[RolloutRow]) -> list[tuple[Any, ...]]:
    return [(row.name, row.api_key, row.status, row.base_versions, row.versions, row.message) for row in rows]


def row_of(*messages: Message, base: tuple[Message, ...] | None = None, header: int = 3) -> RolloutRow:
    """The only row of a set, against a base if there is one; the set has a RequestHeader."""
    if all(message.name != "RequestHeader" for message in messages):
        messages = (*messages, HEADER)
    (row,) = rollout(SchemaSet(messages), SchemaSet(base) if base is not None else None, header)
    return row


# The fixtures


def test_the_kip_s_own_definitions_after_a_broker(repo: Path) -> None:
    rows = rollout(read_set(repo / "fixtures/kip-1313"), read_set(repo / "fixtures/sets/broker/clients"))
    slip = "DeleteGroupsRequest has versions 0-3, but DeleteGroupsResponse has 0-2; give both the same versions"
    assert short(rows) == [
        ("ApiVersions", 18, "wrong", "0-5", "none", RETIRE),
        ("ConsumerGroupDescribe", 69, "wrong", "0-1", "none", RETIRE),
        ("DeleteGroups", 42, "wrong", "0-2", "0-3", slip),
        ("DescribeTopicPartitions", 75, "wrong", "0", "none", RETIRE),
        ("FindCoordinator", 10, "wrong", "0-6", "none", RETIRE),
        ("GetTelemetrySubscriptions", 71, "done", "0", "0-1", "version 1 uses header 3"),
        ("LeaderAndIsr", 4, "dead", "none", "none", "it had no valid version, and its file was removed"),
        ("Metadata", 3, "wrong", "0-13", "none", RETIRE),
        ("OffsetDelete", 47, "done", "0", "0-1", "version 1 uses header 3"),
        ("PushTelemetry", 72, "done", "0", "0-1", "version 1 uses header 3"),
        ("SaslHandshake", 17, "exempt", "0-1", "0-1", EXEMPT),
    ]
    assert rows[2].header_versions == {"0-1": 1, "2": 2, "3": 3}
    assert in_words(rows, 3) == "Request header 3: 3 done, 6 wrong, 1 exempt and 1 dead."


def test_the_next_version_follows_the_base_and_the_head() -> None:
    row = row_of(*rpc("X", 1, "0-3"), base=rpc("X", 1, "0-5"))
    assert row.message.endswith("uses header 2; bump it to 6 with header 3")


def test_an_rpc_that_took_the_key_of_another_is_new() -> None:
    row = row_of(*done_rpc("X", 1, field("A", "string")), base=rpc("Y", 1, "0-5"))
    assert (row.status, row.base_versions) == ("missing", "")
    assert row.message == "X is new, but version 0 uses header 1; start with header 3"


# Done too early


def done_rpc(name: str = "X", key: int = 1, *fields: dict[str, Any], **others: Any) -> tuple[Message, Message]:
    """An RPC whose version 6 has header 3; the fields are the request's."""
    same: dict[str, Any] = {"apiKey": key, "validVersions": "0-6"}
    request = message(*fields, name=f"{name}Request", **{"headerVersions": V3, **same, **others})
    return request, response(name, **{**same, **{key: others[key] for key in others if key != "headerVersions"}})


def response(name: str = "X", *fields: dict[str, Any], **others: Any) -> Message:
    """A response that declares the headers that Kafka derives, or others."""
    plain = message(*fields, name=f"{name}Response", type="response", **{**others, "headerVersions": None})
    headers = json.loads(plain.headers_to_declare)
    return message(*fields, name=plain.name, type="response", **{"headerVersions": headers, **others})


@pytest.mark.parametrize(
    ("header", "status", "rule", "expected"),
    [
        (None, "missing", "v3-missing", "it uses header 3, but the set has no RequestHeader: add one with "),
        (request_header(kind="data"), "missing", "v3-missing", "it uses header 3, but the set has no RequestHeader: "),
        (request_header("1-2"), "wrong", "header-unknown", "RequestHeader has no version 3; its valid versions "),
        (
            request_header(instance_id=False),
            "wrong",
            "request-header-v3",
            "it uses header 3, but RequestHeader must have ClientInstanceId, a uuid in versions 3+",
        ),
    ],
)
def test_the_request_header_itself_comes_first(header: Message | None, status: str, rule: str, expected: str) -> None:
    head = (*done_rpc(), *([header] if header else []))
    for base in (None, SchemaSet(rpc("X", 1, "0-5"))):
        (row,) = rollout(SchemaSet(head), base)
        assert (row.status, row.rule) == (status, f"kip-1313/{rule}")
        assert row.message.startswith(expected)
    new = done_rpc(flexibleVersions="0+", headerVersions={"0+": "3"})
    assert rollout(SchemaSet((*new, *([header] if header else []))), SchemaSet(()))[0].status == status


def offsets(valid: str = "0-1", **others: Any) -> tuple[Message, Message]:
    same = {"apiKey": 47, "validVersions": valid, "flexibleVersions": "1+"}
    request = message(name="OffsetDeleteRequest", **{**same, **others})
    others.pop("headerVersions", None)
    return request, response("OffsetDelete", **{**same, **others})


def telemetry(
    name: str, headers: dict[str, str], versions: str = "0", id_in_response: str = ""
) -> tuple[Message, Message]:
    key = {"GetTelemetrySubscriptions": 71, "PushTelemetry": 72}[name]
    same: dict[str, Any] = {"apiKey": key, "validVersions": "0-1", "flexibleVersions": "0+"}
    request = message(
        field("ClientInstanceId", "uuid", versions), name=f"{name}Request", headerVersions=headers, **same
    )
    fields = [field("ClientInstanceId", "uuid", id_in_response)] if id_in_response else []
    return request, response(name, *fields, **same)


Messages = tuple[Message, ...]
X5, R5, R6 = rpc("X", 1, "0-5"), response(validVersions="0-5"), response(validVersions="0-6")
FLEXIBLE: dict[str, Any] = {"flexibleVersions": "0+"}
UNSTABLE: dict[str, Any] = {"latestVersionUnstable": True}
NEVER: dict[str, Any] = {"flexibleVersions": "none"}
R0, R1 = response(validVersions="0", **FLEXIBLE), response(validVersions="0-1", **FLEXIBLE)
SASL, DEAD, X1 = rpc("SaslHandshake", 17, "0-1", **NEVER), rpc("X", 1, "none", **NEVER), rpc("X", 1, "0-1", **FLEXIBLE)
OFFSETS_0 = rpc("OffsetDelete", 47, "0", **NEVER)


def x(valid: str, headers: dict[str, str] | None, other: Message, **others: Any) -> Messages:
    """An RPC whose request declares headers, with a response."""
    return rpc("X", 1, valid, headerVersions=headers, **others)[0], other


def sasl(valid: str = "0-1", **others: Any) -> Messages:
    return rpc("SaslHandshake", 17, valid, **{**NEVER, **others})


ROWS: list[tuple[Messages, Sequence[Messages | None], str, str]] = [
    # done
    (done_rpc(), [None, X5, done_rpc()], "done",
     "version 6 uses header 3"),
    ((*done_rpc(headerVersions={**V3, "6+": "4"}), request_header("1-5")), [X5], "done",
     "version 6 uses header 4"),
    ((done_rpc(validVersions="0-7", **UNSTABLE)[0], response(validVersions="0-7")), [None], "done",
     "version 7 uses header 3"),
    (offsets(headerVersions={"0": "1", "1+": "3"}), [None, OFFSETS_0], "done",
     "version 1 uses header 3"),
    (offsets("0-2", headerVersions={"0": "1", "1": "2", "2+": "3"}), [offsets()], "done",
     "version 2 uses header 3"),
    (telemetry("GetTelemetrySubscriptions", {"0": "2", "1+": "3"}), [None], "done",
     "version 1 uses header 3"),
    # missing, unstable
    (X5, [None, X5], "missing kip-1313/v3-missing XRequest/validVersions",
     "the latest version of X (5) uses header 2; bump it to 6 with header 3"),
    (x("0-6", {"0-2": "1", "3+": "2"}, R6), [X5], "missing kip-1313/v3-missing XRequest/headerVersions",
     "the latest version of X (6) uses header 2; bump it to 7 with header 3"),
    (X1, [()], "missing kip-1313/v3-missing XRequest/headerVersions",
     "X is new, but version 0 uses header 2; start with header 3"),
    (x("0-5", {"0-2": "1", "3-4": "2", "5+": "3"}, R5, **UNSTABLE), [None, x("0-5", None, X5[1], **UNSTABLE)],
     "unstable kip-1313/v3-missing XRequest/latestVersionUnstable",
     "version 5 of X uses header 3, but is unstable: no broker offers it yet"),
    (x("0", {"0+": "3"}, R0, **FLEXIBLE, **UNSTABLE), [None, ()],
     "unstable kip-1313/v3-missing XRequest/latestVersionUnstable",
     "version 0 of X uses header 3, but is unstable: no broker offers it yet"),
    # wrong: headers
    (x("0-5", {"0-2": "1", "3-4": "2", "5+": "3"}, R5), [X5],
     "wrong kip-1313/v3-on-released XRequest/headerVersions",
     "version 5 used request header 2 and now uses 3; use the new header in a new version"),
    (x("0-5", {"0+": "3"}, R5), [X5], "wrong kip-1313/v3-on-released XRequest/headerVersions",
     "versions 0-5 used request header 1, 2 and now use 3; use the new header in a new version"),
    ((X5[0], rpc("X", 1, "0-5", headerVersions={"0+": "1"})[1]), [X5],
     "wrong compat/header-changed XResponse/headerVersions",
     "versions 0-2 used response header 0 and now use 1"),
    (x("0-6", {**V3, "6+": "4"}, R6), [None], "wrong kip-1313/header-unknown XRequest/headerVersions/6+",
     "RequestHeader has no version 4; its valid versions are 1-3"),
    (x("1-6", {"0": "0", "1-2": "1", "3-5": "2", "6+": "3"}, response(validVersions="1-6")), [None],
     "wrong kip-1313/header-unknown XRequest/headerVersions/0",
     "RequestHeader has no version 0; its valid versions are 1-3"),
    # wrong: request and response
    ((done_rpc()[0], R5), [None], "wrong rpc/versions-differ XResponse/validVersions",
     "XRequest has versions 0-6, but XResponse has 0-5; give both the same versions"),
    ((done_rpc()[0], R5), [X5], "wrong rpc/versions-differ XRequest/validVersions",
     "XRequest has versions 0-6, but XResponse has 0-5; give both the same versions"),
    (X5[:1], [None], "wrong rpc/response-missing XRequest/apiKey",
     "XRequest has no response: no response in this set has apiKey 1"),
    # new
    (x("0-1", {"0+": "3"}, R1, **FLEXIBLE), [()], "new",
     "new, with header 3 from version 0"),
    # exempt, frozen
    (SASL, [None, SASL], "exempt",
     "frozen at versions 0-1: it never carries the client instance id"),
    (sasl("0-2"), [None, SASL], "wrong kip-1313/frozen-rpc SaslHandshakeRequest/validVersions",
     "SaslHandshake has versions 0-2, but it is frozen at versions 0-1, not flexible, with request header 1"),
    ((), [SASL], "wrong kip-1313/frozen-rpc SaslHandshakeRequest/name",
     "is in the base, but not in the head; it is frozen at versions 0-1 and must stay"),
    (sasl("none"), [SASL], "wrong kip-1313/frozen-rpc SaslHandshakeRequest/validVersions",
     "SaslHandshake has no valid version, but it is frozen at versions 0-1 and must stay"),
    # dead, gone
    (DEAD, [None, X5], "dead",
     "no valid version is left"),
    ((), [DEAD], "dead",
     "it had no valid version, and its file was removed"),
    ((), [X5], "wrong compat/message-removed XRequest/name",
     'is in the base, but not in the head; to retire it, keep its files with "validVersions": "none"'),
    # OffsetDelete and telemetry
    (offsets(headerVersions={"0": "1", "1+": "3"}, **NEVER), [None, OFFSETS_0],
     "wrong kip-1313/body-not-flexible OffsetDeleteRequest/headerVersions/1+",
     "OffsetDeleteRequest is not flexible in 1, but request header 3 is; make the versions with header 3"),
    (rpc("OffsetDelete", 47, "0", **FLEXIBLE), [None],
     "wrong kip-1313/offset-delete OffsetDeleteRequest/flexibleVersions",
     "version 0 of OffsetDelete is flexible; it must use request header 1, and version 1 must be the first flexible"),
    (offsets("0-2", headerVersions={"0-1": "1", "2+": "3"}, flexibleVersions="2+"), [None, OFFSETS_0],
     "wrong kip-1313/offset-delete OffsetDeleteRequest/flexibleVersions",
     "version 1 of OffsetDelete is not flexible; it must be the first flexible version and use request header 3"),
    (telemetry("PushTelemetry", {"0+": "2"}), [None],
     "wrong kip-1313/telemetry-header PushTelemetryRequest/headerVersions/0+",
     "PushTelemetryRequest 1 has no client instance id: neither the body nor request header 2 carries it"),
    (telemetry("GetTelemetrySubscriptions", {"0": "2", "1+": "3"}, id_in_response="0+"), [None],
     "wrong kip-1313/telemetry-fields GetTelemetrySubscriptionsResponse/fields/0/versions",
     "GetTelemetrySubscriptionsResponse has ClientInstanceId in 0+, but only version 0 may have it; from version 1"),
]  # fmt: skip
"""An RPC of the head, bases, its status with what to look at, and the beginning of why."""


@pytest.mark.parametrize(("head", "bases", "status", "why"), ROWS)
def test_rows(head: Messages, bases: Sequence[Messages | None], status: str, why: str) -> None:
    for base in bases:
        row = row_of(*head, base=base)
        where = f" {row.rule} {row.message_name}{row.pointer}" if row.rule else ""
        assert (f"{row.status}{where}", row.message[: len(why)]) == (status, why)
        request = next((item for item in head if item.type == "request"), None)
        assert row.versions == (str(request.valid) if request else "none")


def half(kind: str, headers: object, valid: str = "0-1", name: str = "X", **others: Any) -> Message:
    """A request or response that is flexible from version 0 on; `headers` are written as they are."""
    named: dict[str, Any] = {"name": f"{name}{kind.title()}", "type": kind, "validVersions": valid, **FLEXIBLE}
    fields = others.pop("fields", ())
    text = json.dumps(document(*fields, **{**named, "headerVersions": headers, **others}))
    return alone(load(f"{named['name']}.json", text.encode()))


GOOD, REQUEST_3, RESPONSE_1 = (
    {"0": "2", "1+": "3"},
    half("request", {"0": "2", "1+": "3"}),
    half("response", {"0+": "1"}),
)
SOFTWARE = [field(f"ClientSoftware{word}", "string", "3+", default="x1") for word in ("Name", "Version")]
VERSIONS_6: dict[str, Any] = {"apiKey": 18, "valid": "0-6", "name": "ApiVersions", "flexibleVersions": "3+"}
API_VERSIONS_6 = half("request", {"0-2": "1", "3-5": "2", "6+": "3"}, **VERSIONS_6, fields=SOFTWARE)
SASL_1: dict[str, Any] = {"apiKey": 17, "name": "SaslHandshake", "flexibleVersions": "none"}
OFFSETS_1 = half("request", {"0": "1", "1+": "3"}, name="OffsetDelete", flexibleVersions="1+")
ENDS = field("ClientInstanceId", "uuid", "0")
BOX = field("Boxes", "[]Box", fields=[field("Size"), field("Hint", versions="1+")])


@pytest.mark.parametrize(
    ("request_", "response_", "rule"),
    [
        (half("request", {"0": "2", "1": "3"}), RESPONSE_1, "kip-1313/header-not-open"),
        (half("request", {"1+": "3"}), RESPONSE_1, "kip-1313/header-start"),
        (half("request", {"0..0": "2", "1+": "3"}), RESPONSE_1, "kip-1313/header-key"),
        (half("request", {"0": "two", "1+": "3"}), RESPONSE_1, "kip-1313/header-value"),
        (half("request", {"0": "2", "2+": "3"}, "0-2"), half("response", {"0+": "1"}, "0-2"), "kip-1313/header-gap"),
        (
            half("request", {"0-1": "2", "1+": "3"}, "0-2"),
            half("response", {"0+": "1"}, "0-2"),
            "kip-1313/header-overlap",
        ),
        (half("request", {"0": 2, "1+": {}}), RESPONSE_1, "shape/wrong-type"),
        (half("request", {}), RESPONSE_1, "kip-1313/header-missing"),
        (REQUEST_3, half("response", None), "kip-1313/header-missing"),
        (REQUEST_3, half("response", {}), "kip-1313/header-missing"),
        (REQUEST_3, half("response", {"0": "1", "1+": "0"}), "kip-1313/header-decreasing"),
        (REQUEST_3, half("response", {"0+": "1"}, "0"), "rpc/versions-differ"),
        (REQUEST_3, half("response", {"0": "0", "1+": "1"}, flexibleVersions="1+"), "rpc/flexible-differ"),
        (API_VERSIONS_6, half("response", {"0-5": "0", "6+": "1"}, **VERSIONS_6), "kip-511/response-header-zero"),
        (API_VERSIONS_6, half("response", None, **VERSIONS_6), "kip-1313/header-missing"),
        (
            OFFSETS_1,
            half("response", {"0+": "0"}, name="OffsetDelete", flexibleVersions="none"),
            "rpc/flexible-differ",
        ),
        (half("request", {"0+": "3"}, "0", name="OffsetDelete"), half("response", {"0+": "1"}, "0", name="OffsetDelete"),
         "kip-1313/offset-delete"),
        (
            half("request", {"0": "2", "1+": "3"}, name="PushTelemetry", fields=[ENDS]),
            half("response", {"0+": "1"}, name="PushTelemetry", fields=[field("Hint", versions="1+")]),
            "kip-1313/push-telemetry-response",
        ),
        (
            half("request", {"0": "2", "1+": "3"}, name="PushTelemetry", fields=[ENDS]),
            half("response", {"0+": "1"}, name="PushTelemetry", fields=[BOX]),
            "kip-1313/push-telemetry-response",
        ),
        # Flexible below the lowest valid version, behind an old header.
        (half("request", {"0": "1", "1-2": "2", "3+": "3"}, "2-3"), half("response", {"0+": "1"}, "2-3"),
         "kip-1313/header-not-flexible"),
        # Properties that cannot be read, or that are missing or misspelt.
        (half("request", GOOD, flexibleVersions="0-"), RESPONSE_1, "versions/invalid-range"),
        (REQUEST_3, half("response", {"0+": "1"}, validVersions="one"), "versions/invalid-range"),
        (half("request", {"0+": "3"}, flexibleVersions=None), RESPONSE_1, "versions/flexible-missing"),
        (half("request", {"0+": "3"}, flexibleVersions=None, flexibleVersion="0+"), RESPONSE_1, "shape/unknown-property"),
        (half("request", GOOD, flexibleVersions="0-1"), RESPONSE_1, "versions/flexible-not-open"),
        (half("request", GOOD, apiKey=None), RESPONSE_1, "rpc/api-key-missing"),
        (REQUEST_3, half("response", {"0+": "1"}, apiKey=None), "rpc/api-key-missing"),
        (half("request", GOOD, apiKey=2), RESPONSE_1, "rpc/response-missing"),
        (half("request", {"0+": "1"}, type="response"), RESPONSE_1, "rpc/name-suffix"),
        (half("request", GOOD, latestVersionUnstable="yes"), RESPONSE_1, "shape/wrong-type"),
        (half("request", GOOD, latestVersionsUnstable=True), RESPONSE_1, "shape/unknown-property"),
        (half("request", GOOD, deprecatedVersions="x"), RESPONSE_1, "versions/deprecated-invalid"),
        (REQUEST_3, half("response", {"0+": "1"}, fields=[field("A") | {"mapkey": True}]), "shape/unknown-property"),
        (REQUEST_3, half("response", {"0+": "1"}, fields=[field("A", versions="2+")]), "versions/field-above-valid"),
        # A frozen RPC.
        (half("request", {"0": "1"}, **SASL_1), half("response", {"0+": "0"}, **SASL_1), "kip-1313/header-not-open"),
        (half("request", {"0+": "1"}, **SASL_1), half("response", {}, **SASL_1), "kip-1313/header-missing"),
        (half("request", {"0+": "1"}, "0-x", **SASL_1), half("response", {"0+": "0"}, **SASL_1),
         "versions/invalid-range"),
        (half("request", {"0+": "x"}, "0-2", **SASL_1), half("response", {"0+": "0"}, **SASL_1),
         "kip-1313/frozen-rpc"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("has_header", [True, False])
def test_what_the_generator_or_the_kip_refuses_is_wrong(
    request_: Message, response_: Message, rule: str, has_header: bool
) -> None:
    rows = rollout(SchemaSet((request_, response_, *([HEADER] if has_header else []))))
    assert {row.status for row in rows} == {"wrong"}
    assert rule in {row.rule for row in rows}


def test_two_rpcs_of_one_key_are_two_rows() -> None:
    x, y = done_rpc(), done_rpc("Y")
    rows = rollout(SchemaSet((*x, *y, HEADER)), SchemaSet(rpc("X", 1, "0-5")))
    assert [(row.name, row.api_key, row.status, row.rule) for row in rows] == [
        ("X", 1, "wrong", "rpc/api-key-duplicate"),
        ("Y", 1, "wrong", "rpc/api-key-duplicate"),
    ]
    assert rows[0].message == "YRequest: apiKey 1 also belongs to XRequest; give the newer of the two the unused key 2"
    assert rows[1].message == "apiKey 1 also belongs to XRequest; give the newer of the two the unused key 2"


@pytest.mark.parametrize("cut", [("Request",), ("Response",), ("Request", "Response")])
@pytest.mark.parametrize("has_base", [True, False])
def test_a_file_that_cannot_be_read_makes_its_rpc_wrong(cut: tuple[str, ...], has_base: bool) -> None:
    messages = (*done_rpc(), *done_rpc("Y", 2), HEADER)
    files = [(item.file, b"{" if item.name in [f"X{half}" for half in cut] else item.data) for item in messages]
    base = make_tree("", [("", [(item.file, item.data) for item in (*rpc("X", 1, "0-5"), *rpc("Y", 2, "0-5"))])])
    rows = rollout_of_trees(make_tree("", [("", files)]), base if has_base else None, 3, DEFAULTS, None)
    assert [(row.name, row.status, row.rule) for row in rows] == [
        ("X", "wrong", "syntax/invalid-json"),
        ("Y", "done", ""),
    ]
    assert rows[0].message.startswith(f"X{cut[0]}.json cannot be read: expected ")


@pytest.mark.parametrize(("end", "rule"), [(b",}", "syntax/trailing-comma"), (b"} {}", "syntax/trailing-content")])
def test_a_file_that_only_kafka_cannot_read_makes_its_rpc_wrong(end: bytes, rule: str) -> None:
    request, response = done_rpc()
    files = [("XRequest.json", request.data.removesuffix(b"}") + end), ("XResponse.json", response.data)]
    tree = make_tree("", [("", [*files, (HEADER.file, HEADER.data)])])
    (row,) = rollout_of_trees(tree, None, 3, DEFAULTS, None)
    assert (row.status, row.rule) == ("wrong", rule)


def test_a_set_of_which_nothing_can_be_read_has_rows_too() -> None:
    rows = rollout_of_trees(make_tree("", [("", [("XRequest.json", b"{")])]), None, 3, DEFAULTS, None)
    assert [(row.name, row.status, row.rule) for row in rows] == [("X", "wrong", "syntax/invalid-json")]


@pytest.mark.parametrize(
    ("header", "why"),
    [
        (b"{", "it uses header 3, but RequestHeader.json cannot be read: expected "),
        (
            request_header("1-3", {**INSTANCE_ID, "tag": 0, "taggedVersions": "3+"}, instance_id=False).data,
            "it uses header 3, but ClientInstanceId must not be a tagged field of the request header",
        ),
        (
            request_header("1-3", {**INSTANCE_ID, "nullableVersions": "3+"}, instance_id=False).data,
            "it uses header 3, but ClientInstanceId has type uuid, which cannot be null",
        ),
    ],
)
def test_an_error_of_the_request_header_is_one_of_all_that_use_it(header: bytes, why: str) -> None:
    files = [(item.file, item.data) for item in (*done_rpc(), *rpc("Y", 2, "0-5"))]
    tree = make_tree("", [("", [*files, ("RequestHeader.json", header)])])
    x, y = rollout_of_trees(tree, None, 3, DEFAULTS, None)
    assert (x.status, x.message[: len(why)], y.status) == ("wrong", why, "missing")


def test_an_error_of_a_second_request_header_counts_too() -> None:
    files = [(item.file, item.data) for item in (*done_rpc(), HEADER)]
    tree = make_tree("", [("", [*files, ("SecondHeader.json", HEADER.data)])])
    (row,) = rollout_of_trees(tree, None, 3, DEFAULTS, None)
    assert (row.status, row.rule) == ("wrong", "rpc/message-name-duplicate")
    assert row.message.startswith("it uses header 3, but RequestHeader is also defined in RequestHeader.json; ")


def test_an_ignore_comment_does_not_open_the_gate() -> None:
    request = half("request", {"0": "2", "1": "3"})
    data = b"// kiplint: ignore-file[all] it is on purpose\n" + request.data
    tree = make_tree("", [("", [("XRequest.json", data), ("XResponse.json", RESPONSE_1.data)])])
    (row,) = rollout_of_trees(tree, None, 3, DEFAULTS, None)
    assert (row.status, row.rule) == ("wrong", "kip-1313/header-not-open")


def test_api_versions_with_header_3_is_done_with_a_note() -> None:
    row = row_of(API_VERSIONS_6, half("response", {"0+": "0"}, **VERSIONS_6))
    assert (row.status, row.rule) == ("done", "")
    assert row.message == (
        "version 6 uses header 3; no released broker can read ApiVersions with request header 3; the broker closes the connection"
    )


def test_other_headers_may_be_asked_for() -> None:
    assert row_of(*X5, header=2).message == "version 5 uses header 2"
    head = (*done_rpc(headerVersions={**V3, "6+": "4"}), request_header("1-5"))
    row = row_of(*head, base=X5, header=5)
    assert row.message == "the latest version of X (6) uses header 4; bump it to 7 with header 5"


def test_a_mistake_of_many_rpcs_is_theirs() -> None:
    headers = {"0-2": "1", "3-5": "2", "6+": "4"}
    rows = rollout(SchemaSet((*done_rpc(headerVersions=headers), *done_rpc("Y", 2, headerVersions=headers), HEADER)))
    assert {row.status for row in rows} == {"wrong"}


def test_what_is_no_rpc() -> None:
    key = message(field(versions="0"), name="XKey", type="coordinator-key", validVersions="0", flexibleVersions="none")
    value = message(field(), name="XValue", type="coordinator-value")
    assert in_words(rollout(SchemaSet((key, value))), 3) == "Request header 3: no RPCs."


# The whole of a sentence, not a part of it (KIP-1313)


def tree(**sets: tuple[Message, ...]) -> Tree:
    return Tree("", {name: SchemaSet(messages, name) for name, messages in sets.items()}, {})


def rows_of_trees(head: Tree, base: Tree | None = None) -> list[tuple[str, str]]:
    return [(row.name, row.status) for row in rollout_of_trees(head, base, 3, DEFAULTS, None)]


def test_every_rpc_of_every_set_is_a_row() -> None:
    done = done_rpc()
    lags = rpc("Vote", 52, "0-5")
    assert rows_of_trees(tree(clients=(*done, HEADER), raft=lags)) == [("Vote", "missing"), ("X", "done")]
    old = tree(clients=(*rpc("X", 1, "0-5"), HEADER), raft=lags)
    assert rows_of_trees(tree(clients=(*done, HEADER), raft=lags), old) == [("Vote", "missing"), ("X", "done")]


def test_an_rpc_that_moves_to_another_set_is_neither_new_nor_gone() -> None:
    x, y = rpc("X", 1, "0-5"), rpc("Y", 2, "0-5")
    old, new = tree(a=(*x, *y, HEADER), b=(HEADER,)), tree(a=(*y, HEADER), b=(*x, HEADER))
    assert rows_of_trees(new, old) == [("X", "missing"), ("Y", "missing")]


@pytest.mark.parametrize("headers", [(), (request_header("0-3"),)])
def test_request_header_0_is_only_for_version_0_of_controlled_shutdown(headers: tuple[Message, ...]) -> None:
    def errors(name: str, key: int, ranges: dict[str, str]) -> list[str]:
        request = rpc(name, key, "0-6", headerVersions=ranges)[0]
        entries = SchemaSet((request, *headers)).messages[0].header_ranges
        found = rules_of(Config(select=["kip-1313"])).violations("header_range", entries)
        return [item.message for item in found if item.rule.id == "kip-1313/header-unknown"]

    zero = ["request header 0 is obsolete: only version 0 of ControlledShutdown used it; use header 1 or later"]
    ranges = {"0": "0", "1-2": "1", "3-5": "2", "6+": "3"}
    assert errors("X", 1, ranges) == zero
    assert errors("ControlledShutdown", 7, ranges) == []
    assert errors("ControlledShutdown", 7, {"0-1": "0", **dict([*ranges.items()][2:])}) == zero


# The configuration of the rules that it goes by


def configured_row(*, name: str = "X", valid: str = "0-5", other_valid: str = "", **config: Any) -> RolloutRow:
    """The row of an RPC, still without header 3, under a configuration."""
    settings = Config(**config)
    rules = rollout_rules(3, settings, rules_of(settings).all_rules)
    key = 17 if name == "SaslHandshake" else 19
    head = (rpc(name, key, valid)[0], rpc(name, key, other_valid or valid)[1])
    (row,) = rollout(SchemaSet(head), None, 3, rules)
    return row


def params(rule: str, **values: Any) -> dict[str, RuleTable]:
    return {rule: RuleTable(params=values)}


@pytest.mark.parametrize(
    ("config", "status", "rule"),
    [
        ({}, "missing", "kip-1313/v3-missing"),
        ({"rules": params("kip-1313/v3-missing", exempt=["X"])}, "exempt", ""),
        ({"valid": "0-2", "rules": params("kip-1313/frozen-rpc", frozen={"X": "0-2"})}, "exempt", ""),
        ({"rules": params("kip-1313/frozen-rpc", frozen={"X": "0-4"})}, "wrong", "kip-1313/frozen-rpc"),
        # A configuration may make more wrong, and nothing less.
        ({"severity": {"style/about-missing": "error"}}, "missing", "kip-1313/v3-missing"),
        (
            {"severity": {"rpc/listeners-missing": "error"}, "rules": params("rpc/listeners-missing", percent=0)},
            "wrong",
            "rpc/listeners-missing",
        ),
        *(
            ({"other_valid": "0-4", **lenient}, "wrong", "rpc/versions-differ")
            for lenient in (
                {},
                {"ignore": ["rpc"]},
                {"select": ["tags"]},
                {"severity": {"rpc/versions-differ": "warning"}},
                {"severity": {"rpc": "off"}},
            )
        ),
        *(
            (lenient, "missing", "kip-1313/v3-missing")
            for lenient in (
                {"ignore": ["kip-1313"]},
                {"severity": {"kip-1313/v3-missing": "off"}},
                {"severity": {"kip-1313/v3-missing": "warning"}},
                {"severity": {"kip-1313/v3-missing": "error"}},
            )
        ),
    ],
)
def test_configuration_reaches_the_status(config: dict[str, Any], status: str, rule: str) -> None:
    row = configured_row(**config)
    assert (row.status, row.rule) == (status, rule)


def test_another_rpc_may_be_frozen_in_its_place() -> None:
    frozen = params("kip-1313/frozen-rpc", frozen={"X": "0-2"})
    assert configured_row(name="SaslHandshake", valid="0-1").status == "exempt"
    assert configured_row(name="SaslHandshake", valid="0-2").rule == "kip-1313/frozen-rpc"
    row = configured_row(name="SaslHandshake", valid="0-2", rules=frozen)
    assert row.status == "exempt"  # v3-missing still leaves it out
