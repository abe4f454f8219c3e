"""The tools kiplint is measured against, installed once, into a cache of the benchmarks' own, at pinned versions."""

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.outcome import SkipError
from benchmarks.workspace import peers_home

BUF = "1.75.0"
CHECK_JSONSCHEMA = "0.39.0"

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


def check_jsonschema() -> Peer:
    """check-jsonschema in an environment of its own, with orjson, which makes it faster; raises SkipError."""
    home = peers_home(f"check-jsonschema-{CHECK_JSONSCHEMA}")
    executable = home / "bin" / "check-jsonschema"
    if not next(home.glob(f"lib/python*/site-packages/check_jsonschema-{CHECK_JSONSCHEMA}.dist-info"), None):
        _install("check-jsonschema", (sys.executable, "-m", "venv", "--clear", home))
        requirements = (f"check-jsonschema=={CHECK_JSONSCHEMA}", "orjson>=3.10,<4")
        _install("check-jsonschema", (home / "bin" / "python", "-m", "pip", "install", "--quiet", *requirements))
    return Peer("check-jsonschema", CHECK_JSONSCHEMA, executable)


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
