"""`kiplint negotiate`: its text, its JSON, and the brokers in a file."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from kiplint.compat.negotiation import Negotiation
from sources.support import write
from tools import Ran, definition, expanding, field, kiplint

# The command


def run(repo: Path, folder: str, *words: str | Path, **env: str) -> Ran:
    return kiplint("negotiate", *words, cwd=repo / "fixtures/negotiate" / folder, env=env)


def test_text(repo: Path) -> None:
    result = run(repo, "kip-35", "client", "B1", "B2")
    assert (result.code, result.err) == (0, "")
    assert result.out.partition("All RPCs\n")[2].splitlines() == [
        "  key  RPC          client  B1   B2   usable  version  headers",
        "  0    Produce      0-3     0-3  1-2  1-2     2        1, 0",
        "  1    Fetch        0-3     2-3  0-3  2-3     3        1, 0",
        "  2    ListOffsets  0       -    0    -       -                 not offered by B1",
        "  18   ApiVersions  0       0    0    0       0        1, 0",
        "  headers: request and response; +id if the request header carries ClientInstanceId",
    ]


def test_text_of_a_connection(repo: Path) -> None:
    result = run(repo, "telemetry", "new-client", "new-broker")
    assert result.code == 0
    assert result.out.splitlines()[:11] == [
        "new-client clients work with new-broker brokers: 4 of 4 RPCs that both use.",
        "",
        "Connection to new-broker",
        "  mode         KRaft",
        "  ApiVersions  the client tries version 6 (request header 3)",
        "               the broker answers in version 6",
        "               in use: version 6 (request header 3, response header 0)",
        "  sent         ClientSoftwareName and ClientSoftwareVersion (KIP-511), ClusterId (KIP-1242, once",
        "               bootstrapped), NodeId (KIP-1242, once bootstrapped)",
        "  instance id  every request must carry it in header 3; SaslHandshake is exempt (KIP-1313)",
        "",
    ]


def test_what_is_refused_comes_first(repo: Path) -> None:
    result = run(repo, "refused", "client", "broker")
    assert (result.code, result.err) == (1, "")
    first = result.out.partition("All RPCs\n")[2].splitlines()[1]
    assert first.startswith(
        "  42   DeleteGroups               0-2     0-3     2        2, 1      broker answers version 2"
    )


def test_revisions(history: Path, tmp_path: Path) -> None:
    result = kiplint("negotiate", "2.4.0:", "confluent-8.3.0:", "--repo", history, cwd=tmp_path)
    assert (result.code, result.err) == (0, "")
    assert "Between nodes\n" in result.out
    assert "the client has 0, confluent-8.3.0 1-2: no version in common" in result.out


def test_a_set_without_rpcs(tmp_path: Path) -> None:
    text = '{"name": "XData", "type": "data", "validVersions": "0", "flexibleVersions": "none", "fields": []}'
    (tmp_path / "XData.json").write_text(text)
    result = kiplint("negotiate", ".", ".", cwd=tmp_path)
    assert (result.code, result.out) == (2, "")
    assert "has no RPC: name the directory with the requests and responses" in result.err


def test_a_message_that_cannot_be_compared_does_not_take_the_report_of_others(tmp_path: Path) -> None:
    def files(kind: str) -> dict[str, bytes]:
        responses = {
            f"{name}Response.json": definition(field(), name=f"{name}Response", type="response", apiKey=key)
            for key, name in ((8, "Y"), (1, "X"))
        }
        return {
            "YRequest.json": expanding(kind, name="YRequest", apiKey=8),
            "XRequest.json": definition(field(), name="XRequest", apiKey=1),
            **responses,
        }

    for side, kind in (("client", "int32"), ("same", "int32"), ("other", "int64")):
        write(tmp_path / side, files(kind))
    result = kiplint("negotiate", "client", "same", "other", cwd=tmp_path)
    problem = (
        "it cannot be compared with other: client/YRequest.json has more than 100,000 fields, with structs expanded"
    )
    assert (result.code, result.err) == (2, "")
    assert result.out.splitlines()[:2] == [
        "client clients work in part with same and other brokers: 1 of 2 RPCs that both use.",
        f"  Y: {problem}",
    ]
    result = kiplint("negotiate", "client", "same", "other", "--output-format", "json", cwd=tmp_path)
    negotiation = msgspec.json.decode(result.out, type=Negotiation)
    assert [(row.name, row.status, row.usable, row.chosen) for row in negotiation.rpcs] == [
        ("X", "agreed", "0-5", 5),
        ("Y", "not-compared", "none", None),
    ]
    assert [agreement.status for agreement in negotiation.rpcs[1].brokers] == ["agreed", "not-compared"]


# Saved output of kafka-broker-api-versions.sh


SAVED = """b1:9092 (id: 1 rack: null isFenced: false) -> (
\tFetch(1): 2 to 9 [usable: 9],
\tApiVersions(18): 0 to 4 [usable: 4]
)
b2:9092 (id: 2 rack: null isFenced: false) -> ERROR: org.apache.kafka.common.errors.DisconnectException
"""


def test_brokers_in_a_file(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "brokers.txt").write_text(SAVED)
    result = run(repo, "kip-35", "client", "B2", tmp_path / "brokers.txt")
    assert (result.code, result.err) == (
        2,
        "warning: b2:9092 is skipped: org.apache.kafka.common.errors.DisconnectException\n",
    )
    assert "\n  key  RPC          client  B2   b1:9092  usable  version  headers\n" in result.out
    assert "\n  1    Fetch        0-3     0-3  2-9      2-3     3        1, 0\n" in result.out


def test_brokers_in_standard_input(repo: Path) -> None:
    text = SAVED[: SAVED.index("b2")].encode()
    words = ("negotiate", "client", "-", "--output-format", "json")
    result = kiplint(*words, cwd=repo / "fixtures/negotiate/kip-35", stdin=text)
    document = msgspec.json.decode(result.out, type=Negotiation)
    assert (result.code, document.brokers, document.rpcs[1].chosen) == (0, ("b1:9092",), 3)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["client"], "Missing argument 'BROKER"),
        (["client", "nowhere"], "no such file or directory: nowhere"),
        (["client", "-"], "standard input lists no versions"),
        (["client", "../../../README.md"], "README.md lists no versions"),
    ],
)
def test_what_is_no_broker(repo: Path, words: list[str], says: str) -> None:
    result = run(repo, "kip-35", *words)
    assert (result.code, result.out) == (2, "")
    assert says in result.err


# Tables of versions as CLIENT, and the mode


def test_a_client_in_a_file(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "client.json").write_text(
        '{"client": "lib", "apis": {"Fetch": [0, 9], "18": [0, 0]}, "fixed": {"Fetch": [1]}}'
    )
    result = run(repo, "kip-35", tmp_path / "client.json", "B1")
    assert (result.code, result.err) == (1, "")
    assert result.out.startswith(
        "lib clients work in part with B1 brokers: 1 of 2 RPCs that both use.\n"
        "  Fetch: the client sends version 1 without asking, B1 offers 2-3\n"
    )
    saved = tmp_path / "client.txt"
    saved.write_text("Fetch(1): 2 to 9\nApiVersions(18): 0\n")
    result = run(repo, "kip-35", saved, "B1", "B2")
    assert (result.code, result.err) == (0, "")
    assert "  1    Fetch        2-9     2-3  0-3  2-3     3        1, 0\n" in result.out


def test_both_sides_in_files(repo: Path, tmp_path: Path) -> None:
    """The layouts, and so the headers, are then those of the newest built-in release."""
    (tmp_path / "client.json").write_text('{"Fetch": [4, 12], "ListOffset": [0, 9]}')
    (tmp_path / "brokers.txt").write_text(SAVED.replace("2 to 9", "0 to 12")[: SAVED.index("b2") + 1])
    result = run(repo, "kip-35", tmp_path / "client.json", tmp_path / "brokers.txt")
    note = "the layouts are those of Apache Kafka 4.4.0, because no side has definitions\n"
    assert (result.code, result.err) == (0, note)
    assert (
        "  1    Fetch        4-12    0-12    12       2, 1\n  2    ListOffset   0-9     -       -                 not offered\n"
        in result.out
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["two.txt", "B1"], "CLIENT has the versions of 2 brokers: name one client"),
        (["client", "B1", "--mode", "zookeeper"], "brokers of B1 have no ZooKeeper mode: omit --mode zookeeper"),
    ],
)
def test_what_cannot_be_negotiated(repo: Path, tmp_path: Path, words: list[str], says: str) -> None:
    (tmp_path / "two.txt").write_text(SAVED[: SAVED.index("b2")] * 2)
    result = run(repo, "kip-35", *(tmp_path / word if word.endswith(".txt") else word for word in words))
    assert (result.code, result.out, result.err) == (2, "", f"error: {says}\n")


def test_rpcs_between_nodes_have_a_table(history: Path, tmp_path: Path) -> None:
    words = ("negotiate", "2.8.0:", "3.5.0:", "--repo", history, "--mode", "zookeeper")
    result = kiplint(*words, cwd=tmp_path)
    clients, _, nodes = result.out.partition("\nBetween nodes\n")
    assert (result.code, "LeaderAndIsr" in clients, "CreateDelegationToken" in clients) == (0, False, True)
    assert "  4    LeaderAndIsr        0-5     0-7     5        2, 1\n" in nodes
    assert nodes.splitlines()[-1] == "  what brokers and controllers send, and no client does: 7 of 13 RPCs agreed"
    assert "  mode         ZooKeeper\n" in result.out
