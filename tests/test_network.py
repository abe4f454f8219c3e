"""kiplint needs no network, and the tests would notice: whatever process of theirs reaches for it fails."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tools import environment, kiplint

FAR = "192.0.2.1"
"""An address that documentation has and nobody else."""


def test_a_connection_is_refused() -> None:
    text = r"a test reaches for the network: socket\.connect \('192\.0\.2\.1', 9\)"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection, pytest.raises(AssertionError, match=text):
        connection.connect((FAR, 9))


def test_a_name_is_not_looked_up() -> None:
    with pytest.raises(AssertionError, match=r"socket\.getaddrinfo 'example\.org'"):
        socket.create_connection(("example.org", 9), timeout=1)


def test_this_machine_can_be_reached() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()[:2]) as connection,
    ):
        assert connection.getpeername() == server.getsockname()


@pytest.mark.parametrize("path", [True, False])
def test_it_holds_in_other_processes(path: bool) -> None:
    env = environment() if path else {name: value for name, value in environment().items() if name != "PYTHONPATH"}
    program = f"import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(('{FAR}', 9))"
    process = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=False)
    assert ("a test reaches for the network" in process.stderr) is path


PACK = """\
from socket import socket
socket().connect(("192.0.2.1", 9))
"""


def test_it_holds_in_runs_of_the_command(tmp_path: Path) -> None:
    """A package that brings rules, and reaches for the network when it is loaded."""
    info = tmp_path / "site" / "acme-1.dist-info"
    info.mkdir(parents=True)
    (tmp_path / "site" / "acme_rules.py").write_text(PACK)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[kiplint.packs]\nacme = acme_rules\n")
    env = {"PYTHONPATH": f"{environment()['PYTHONPATH']}:{tmp_path / 'site'}"}
    result = kiplint(
        "rules", cwd=tmp_path, env=env, command=(sys.executable, "-c", "from kiplint.cli import main; main()")
    )
    assert result.code == 2
    assert "a test reaches for the network" in result.err


def test_the_working_directory_brings_no_rules(tmp_path: Path) -> None:
    """`python -m` puts it first on the path of modules; what a pull request has there is not to be run."""
    info = tmp_path / "acme-1.dist-info"
    info.mkdir()
    (tmp_path / "acme_rules.py").write_text("raise SystemExit('it runs')\n")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[kiplint.packs]\nacme = acme_rules\n")
    (tmp_path / "msgspec.py").write_text("raise SystemExit('it runs')\n")
    result = kiplint("rules", cwd=tmp_path, command=(sys.executable, "-m", "kiplint"))
    assert (result.code, result.err) == (0, "")
    assert "acme" not in result.out
