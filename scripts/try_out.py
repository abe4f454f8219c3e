"""What a release uploads, tried out: each distribution is installed into an empty environment and run there."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
RUNS = (
    (0, "check sets/broker"),
    (1, "check mission/new"),
    (1, "rollout mission/old mission/new"),
    (1, "diff mission/old mission/new"),
    (1, "review --base none mission/new"),
    (0, "negotiate sets/broker/clients sets/broker/clients"),
    (0, "show MetadataRequest@12 sets/broker/clients"),
    (0, "explain tags/gap"),
)
"""How command lines end, in the directory of the fixtures."""
ALL_OF_THEM = """
from kiplint.cli.app import all_commands
from kiplint.commands.schema import NAMES, schema

for words, command in all_commands():
    command.main(["--help"], words, standalone_mode=False)
for name in NAMES:
    schema(name)
"""
"""A program that asks every command for its help, and makes every JSON Schema."""


class TryError(Exception):
    """What is wrong with a distribution."""


def main(words: Sequence[str] | None = None) -> int:
    """0 when each distribution is as it should be; otherwise 1, and a line says what is not."""
    options = _options(words)
    try:
        for file in _distributions(options.directory):
            print(f"{file.name}: {try_out(file, options.tag)}", flush=True)
    except TryError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def try_out(file: Path, tag: str = "") -> str:
    """Install a wheel or a source distribution into an empty environment, run it there, and say its version."""
    if f"-{tag.removeprefix('v')}" not in file.name:
        raise TryError(f"{file.name} is not the version of the tag {tag}")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        venv.create(place / "env")
        pip = [sys.executable, "-m", "pip", "--python", str(place / "env"), "install", "--quiet", str(file.resolve())]
        if subprocess.run(pip, check=False).returncode:
            raise TryError(f"{file.name} cannot be installed")
        version = _run(place, "kiplint", "--version").split()[-1]
        if f"-{version}" not in file.name:
            raise TryError(f"{file.name} has version {version} in it")
        for code, words in RUNS:
            _run(place, "kiplint", *words.split(), cwd=FIXTURES, code=code)
        _run(place, "python", "-c", ALL_OF_THEM)
        return version


def _distributions(directory: Path) -> list[Path]:
    wheels, sources = sorted(directory.glob("kiplint-*.whl")), sorted(directory.glob("kiplint-*.tar.gz"))
    if len(wheels) != 1 or len(sources) > 1:
        raise TryError(f"{directory} has {len(wheels)} wheels and {len(sources)} source distributions, not one of each")
    return wheels + sources


def _run(place: Path, program: str, *words: str, cwd: Path | None = None, code: int = 0) -> str:
    process = subprocess.run(
        [place / "env" / "bin" / program, *words], cwd=cwd or place, capture_output=True, text=True, check=False
    )
    if process.returncode != code:
        command = " ".join([program, *words])
        output = (process.stderr or process.stdout).strip()
        raise TryError(f"`{command}` exited with {process.returncode}, not {code}: {output}")
    return process.stdout


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path, help="where the wheel and the source distribution are")
    parser.add_argument("--tag", default="", help="the tag whose version they should have")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main())
