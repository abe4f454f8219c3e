"""Every input that ever failed under `make fuzz` is read again; and the fuzzer notices what fails."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from benchmarks.fuzz import __main__ as fuzzing
from benchmarks.fuzz.damage import damage
from benchmarks.fuzz.surfaces import SURFACES, Surface

CORPUS = [
    (surface, file)
    for surface in SURFACES
    for file in sorted((Path(__file__).parent / "corpus" / surface.name).glob("*"))
]


@pytest.mark.parametrize(("surface", "file"), CORPUS, ids=lambda value: getattr(value, "name", None))
def test_what_failed_once_is_read(surface: Surface, file: Path) -> None:
    assert fuzzing.find_failure(surface, file.read_bytes()) is None


def test_inputs_are_kept_for_surfaces_that_there_are() -> None:
    assert {path.name for path in (Path(__file__).parent / "corpus").iterdir()} <= {
        surface.name for surface in SURFACES
    }


@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: surface.name)
def test_some_damaged_inputs(surface: Surface) -> None:
    rng = random.Random(surface.name)
    seeds = surface.seeds()
    for _ in range(5 if surface.name in ("git", "formats", "diff", "lsp", "migrate", "commands") else 25):
        data = damage(rng.choice(seeds), rng, rng.choice(seeds))
        assert fuzzing.find_failure(surface, data) is None, data


def test_a_failure_is_found_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(data: bytes) -> None:
        if b"S1" in data:
            raise ZeroDivisionError("by S1")
        raise KeyError("as it may")

    odd = Surface("odd", lambda: [b"{}", b"S1 {}"], read, (KeyError,))
    failures: dict[str, bytes] = {}
    assert fuzzing._try_damaged_inputs(odd, 0.05, random.Random(1), failures) > 10
    ((output, data),) = failures.items()
    assert output.startswith("ZeroDivisionError: by S1 at ")
    monkeypatch.setattr(fuzzing, "CORPUS", tmp_path)
    assert fuzzing.keep(odd, data).read_bytes() == data
