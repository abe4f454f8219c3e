"""Write `fixtures/bytes/client.pcap`: what a client with a mistake in it says to a broker, for the guide to look into.

The client asks for versions, and then for metadata with a byte that its version does not have.
"""

import sys
from pathlib import Path

import dpkt

from kiplint.codec.catalog import Catalog, open_catalog
from kiplint.commands.encode.objects import encode_object

ROOT = Path(__file__).resolve().parent.parent
CLIENT, BROKER = (bytes((127, 0, 0, 1)), 50312), (bytes((127, 0, 0, 1)), 9092)
SURPLUS = b"\0"
NODE = {"nodeId": 1, "host": "localhost", "port": 9092}
OFFER = [{"apiKey": key, "minVersion": 0, "maxVersion": high} for key, high in ((3, 13), (18, 4))]
TALK = [
    ("request", 18, 3, {"clientSoftwareName": "my-proxy", "clientSoftwareVersion": "0.1"}, b""),
    ("response", 18, 3, {"apiKeys": OFFER}, b""),
    ("request", 3, 11, {"topics": None}, SURPLUS),
    ("request", 3, 11, {"topics": []}, SURPLUS),
    ("response", 3, 11, {"clusterId": "demo", "controllerId": 1, "brokers": [NODE]}, b""),
]
"""Direction, API key, version, values, and what follows them; the second answer never comes."""


def main(path: Path) -> None:
    """Write the capture."""
    catalog = open_catalog([ROOT / "fixtures" / "sets" / "broker" / "clients"], None)
    sequences = {CLIENT: 1000, BROKER: 5000}
    correlation = {"request": 0, "response": 0}
    with path.open("wb") as file:
        writer = dpkt.pcap.Writer(file, linktype=dpkt.pcap.DLT_RAW)
        for number, (direction, key, version, value, more) in enumerate(TALK):
            correlation[direction] += 1
            data = _frame(catalog, direction, key, version, value, correlation[direction]) + more
            source, target = (CLIENT, BROKER) if direction == "request" else (BROKER, CLIENT)
            payload = len(data).to_bytes(4, "big") + data
            writer.writepkt(_packet(source, target, sequences[source], payload), ts=1_700_000_000 + number / 1000)
            sequences[source] += len(payload)


def _frame(catalog: Catalog, direction: str, key: int, version: int, value: object, correlation: int) -> bytes:
    header = {"correlationId": correlation, **({"clientId": "my-proxy"} if direction == "request" else {})}
    given = {"direction": direction, "api_key": key, "api_version": version, "header": header, "value": value}
    encoded = encode_object(catalog, given)
    assert encoded.hex is not None, encoded.problems
    return bytes.fromhex(encoded.hex)


def _packet(source: tuple[bytes, int], target: tuple[bytes, int], sequence: int, payload: bytes) -> bytes:
    segment = dpkt.tcp.TCP(sport=source[1], dport=target[1], seq=sequence, flags=dpkt.tcp.TH_ACK, data=payload)
    packet = dpkt.ip.IP(src=source[0], dst=target[0], p=dpkt.ip.IP_PROTO_TCP, ttl=64, data=segment)
    packet.len = len(packet)
    return bytes(packet)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "fixtures" / "bytes" / "client.pcap")
