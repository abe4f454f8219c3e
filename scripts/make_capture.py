"""Write the captures of `fixtures/bytes`, for the guide to look into.

`client.pcap`: a client asks for versions, and then for metadata with a byte that its version does not have.
`hung-up.pcap`: a broker closes the connection on each request of three clients to delete a group.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import dpkt

from kiplint.codec.catalog import Catalog, open_catalog
from kiplint.commands.encode.objects import encode_object

ROOT = Path(__file__).resolve().parent.parent
CLIENT, BROKER = (bytes((127, 0, 0, 1)), 50312), (bytes((127, 0, 0, 1)), 9092)
SURPLUS = b"\0"
NODE = {"nodeId": 1, "host": "localhost", "port": 9092}
OFFER = [{"apiKey": key, "minVersion": 0, "maxVersion": high} for key, high in ((3, 13), (18, 4))]
Talk = list[tuple[str, int, int, dict[str, object], bytes]]
TALK: Talk = [
    ("request", 18, 3, {"clientSoftwareName": "my-proxy", "clientSoftwareVersion": "0.1"}, b""),
    ("response", 18, 3, {"apiKeys": OFFER}, b""),
    ("request", 3, 11, {"topics": None}, SURPLUS),
    ("request", 3, 11, {"topics": []}, SURPLUS),
    ("response", 3, 11, {"clusterId": "demo", "controllerId": 1, "brokers": [NODE]}, b""),
]
"""Direction, API key, version, values, and what follows them; the second answer never comes."""
HUNG_UP: Talk = [
    ("request", 18, 3, {"clientSoftwareName": "my-admin", "clientSoftwareVersion": "0.1"}, b""),
    ("response", 18, 3, {"apiKeys": [*OFFER, {"apiKey": 42, "minVersion": 0, "maxVersion": 2}]}, b""),
    ("request", 42, 2, {"groupsNames": ["payments"]}, b""),
]


def main(folder: Path) -> None:
    """Write the captures."""
    catalog = open_catalog([ROOT / "fixtures" / "sets" / "broker" / "clients"], None)
    _write(folder / "client.pcap", list(_talk(catalog, TALK)))
    _write(folder / "hung-up.pcap", [packet for number in range(3) for packet in _hung_up(catalog, number)])


def _write(path: Path, packets: list[tuple[float, bytes]]) -> None:
    with path.open("wb") as file:
        writer = dpkt.pcap.Writer(file, linktype=dpkt.pcap.DLT_RAW)
        for milliseconds, packet in packets:
            writer.writepkt(packet, ts=1_700_000_000 + milliseconds / 1000)


def _talk(catalog: Catalog, talk: Talk, client: tuple[bytes, int] = CLIENT) -> Iterator[tuple[float, bytes]]:
    """The time in milliseconds and the packet of each frame, a millisecond after the last."""
    sequences = {client: 1000, BROKER: 5000}
    correlation = {"request": 0, "response": 0}
    for number, (direction, key, version, value, more) in enumerate(talk):
        correlation[direction] += 1
        data = _frame(catalog, direction, key, version, value, correlation[direction]) + more
        source, target = (client, BROKER) if direction == "request" else (BROKER, client)
        payload = len(data).to_bytes(4, "big") + data
        yield number, _packet(source, target, sequences[source], payload)
        sequences[source] += len(payload)


def _hung_up(catalog: Catalog, number: int) -> Iterator[tuple[float, bytes]]:
    """A connection from its SYN to the FIN that answers its last request."""
    client, start = (CLIENT[0], CLIENT[1] + number), 1000 * number
    yield start, _packet(client, BROKER, 999, b"", dpkt.tcp.TH_SYN)
    yield start, _packet(BROKER, client, 4999, b"", dpkt.tcp.TH_SYN | dpkt.tcp.TH_ACK, 1000)
    places = {client: 1000, BROKER: 5000}
    for time, packet in _talk(catalog, HUNG_UP, client):
        yield start + time, packet
        segment = dpkt.ip.IP(packet).data
        places[client if segment.sport == client[1] else BROKER] = segment.seq + len(segment.data)
    end = start + 13 + number
    yield end, _packet(BROKER, client, places[BROKER], b"", dpkt.tcp.TH_FIN | dpkt.tcp.TH_ACK, places[client])
    yield end, _packet(client, BROKER, places[client], b"", dpkt.tcp.TH_FIN | dpkt.tcp.TH_ACK, places[BROKER] + 1)
    yield end, _packet(BROKER, client, places[BROKER] + 1, b"", dpkt.tcp.TH_ACK, places[client] + 1)


def _frame(catalog: Catalog, direction: str, key: int, version: int, value: object, correlation: int) -> bytes:
    header = {"correlationId": correlation, **({"clientId": "my-proxy"} if direction == "request" else {})}
    entry = {"direction": direction, "api_key": key, "api_version": version, "header": header, "value": value}
    result = encode_object(catalog, entry)
    assert result.hex is not None, result.problems
    return bytes.fromhex(result.hex)


def _packet(
    source: tuple[bytes, int],
    target: tuple[bytes, int],
    sequence: int,
    payload: bytes,
    flags: int = dpkt.tcp.TH_ACK,
    ack: int = 0,
) -> bytes:
    ports = {"sport": source[1], "dport": target[1]}
    segment = dpkt.tcp.TCP(**ports, seq=sequence, ack=ack, flags=flags, data=payload)
    packet = dpkt.ip.IP(src=source[0], dst=target[0], p=dpkt.ip.IP_PROTO_TCP, ttl=64, data=segment)
    packet.len = len(packet)
    return bytes(packet)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "fixtures" / "bytes")
