"""The tool that kiplint is measured against, at a pinned version: installed once, into a cache of the benchmarks."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.outcome import SkipError
from benchmarks.workspace import peers_home

BUF = "1.75.0"

_INSTALL_SECONDS = 300


@dataclass(frozen=True)
class Peer:
    """An installed peer."""

    name: str
    version: str
    executable: Path

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def buf() -> Peer:
    """buf's native binary out of its npm package, not the node script in front of it; raises SkipError."""
    home = peers_home(f"buf-{BUF}")
    home.mkdir(parents=True, exist_ok=True)
    package = home / "node_modules" / "@bufbuild"
    if _installed_buf(package) != BUF:
        npm = shutil.which("npm")
        if npm is None:
            raise SkipError("buf: npm is not installed")
        options = ("--no-audit", "--no-fund", "--no-save", "--silent")
        _install("buf", (npm, "install", "--prefix", home, *options, f"@bufbuild/buf@{BUF}"))
    binary = next(package.glob("buf-*/bin/buf*"), None)
    if binary is None:
        raise SkipError("buf: its npm package has no binary for this platform")
    return Peer("buf", BUF, binary)


def _installed_buf(package: Path) -> str | None:
    try:
        return str(json.loads((package / "buf" / "package.json").read_text(encoding="utf-8"))["version"])
    except (OSError, ValueError, KeyError):
        return None


def _install(name: str, command: Sequence[str | Path]) -> None:
    try:
        process = subprocess.run(command, capture_output=True, timeout=_INSTALL_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SkipError(f"{name}: installing it failed ({type(error).__name__})") from error
    if process.returncode != 0:
        raise SkipError(f"{name}: installing it failed (`{Path(command[0]).name}` exited with {process.returncode})")
