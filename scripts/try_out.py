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
RUNS = ((0, "sets/broker"), (1, "kip-1313"))
"""How checks of these fixtures end."""
HELPS = """
from kiplint.cli.app import all_commands

for words, _ in all_commands():
    print(words)
"""
SCHEMAS = """
from kiplint.commands.schema import schema_names

print(*schema_names(), sep=chr(10))
"""
"""Programs that print the names of all commands and of all JSON Schemas, each on a line."""


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
        venv.create(place / "env", with_pip=True)
        _run(place, "python", "-m", "pip", "install", "--quiet", file.resolve())
        version = _run(place, "kiplint", "--version").split()[-1]
        if f"-{version}" not in file.name:
            raise TryError(f"{file.name} has version {version} in it")
        for code, name in RUNS:
            _run(place, "kiplint", "check", "--isolated", FIXTURES / name, code=code)
        for command in _run(place, "python", "-c", HELPS).splitlines():
            _run(place, "kiplint", *command.split(), "--help")
        for name in _run(place, "python", "-c", SCHEMAS).split():
            _run(place, "kiplint", "schema", name)
        return version


def _distributions(directory: Path) -> list[Path]:
    wheels, sources = sorted(directory.glob("kiplint-*.whl")), sorted(directory.glob("kiplint-*.tar.gz"))
    if len(wheels) != 1 or len(sources) > 1:
        raise TryError(f"{directory} has {len(wheels)} wheels and {len(sources)} source distributions, not one of each")
    return wheels + sources


def _run(place: Path, program: str, *words: str | Path, code: int = 0) -> str:
    process = subprocess.run(
        [place / "env" / "bin" / program, *words], cwd=place, capture_output=True, text=True, check=False
    )
    if process.returncode != code:
        command = " ".join([program, *map(str, words)])
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
