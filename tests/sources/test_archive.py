"""Sets in archives, and archives that mean harm."""

from __future__ import annotations

import stat
import struct
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from examples import TIME_CHECKS
from kiplint.limits import Limit
from kiplint.sources import archive, cleanup
from kiplint.sources.open import open_sets
from kiplint.sources.schema_files import LARGEST_ENTRY, SourceError
from sources.support import GOOD, OTHER, commit, error, git, paths, sets, write
from tools import USUAL

JAR = {
    "META-INF/MANIFEST.MF": b"Manifest-Version: 1.0\n",
    "common/message/ARequest.json": GOOD,
    "common/message/AResponse.json": GOOD,
    "common/message/README.md": b"validVersions",
    "org/apache/other.json": OTHER,
}
BOTH = ["x.jar!/common/message/ARequest.json", "x.jar!/common/message/AResponse.json"]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def make_zip(name: str, files: Mapping[str, bytes], kind: int = zipfile.ZIP_DEFLATED) -> None:
    with zipfile.ZipFile(name, "w", kind) as out:
        for path, data in files.items():
            out.writestr(path, data)


def test_jar() -> None:
    make_zip("x.jar", JAR)
    (result,) = sets("x.jar")
    assert (result.directory, result.relative) == ("x.jar!/common/message", "common/message")
    assert [(file.path, file.data, file.is_reported) for file in result.files] == [(path, GOOD, True) for path in BOTH]


def test_paths_inside() -> None:
    make_zip("x.jar", JAR)
    (result,) = sets("x.jar!/common/message/")
    assert (result.directory, result.relative) == ("x.jar!/common/message", "")
    (result,) = sets(*reversed(BOTH))
    assert [(file.path, file.is_reported) for file in result.files] == [(path, True) for path in BOTH]
    (result,) = sets(BOTH[0])
    assert [(file.path, file.is_reported) for file in result.files] == [(BOTH[0], True), (BOTH[1], False)]
    assert error("x.jar!/comon") == "no such path in x.jar: comon"
    assert error("x.jar!/common/mesage") == "no such path in x.jar: common/mesage; did you mean common/message?"
    assert error("x.jar!/common/message/ARequests.json") == (
        "no such path in x.jar: common/message/ARequests.json; did you mean common/message/ARequest.json?"
    )
    assert error("x.jar!/org/apache/other.json") == (
        "x.jar!/org/apache/other.json is JSON, but not a message definition (it has no validVersions)"
    )
    assert error("y.jar!/common") == "no such file or directory: y.jar!/common"


def test_exclusions() -> None:
    make_zip("x.jar", JAR)
    (open_set,) = open_sets(["x.jar"], lambda path: path != "x.jar/common/message/ARequest.json")
    assert [file.path for file in open_set.files] == BOTH[1:]
    assert list(open_sets(["x.jar"], lambda path: path != "x.jar")) == []


def test_nothing_in_it() -> None:
    make_zip("x.jar", {"a/other.json": OTHER, "B.class": b"validVersions"})
    make_zip("y.zip", {})
    assert error("x.jar") == "nothing to check: no message definition in x.jar"
    assert error("y.zip") == "nothing to check: no message definition in y.zip"
    assert error("w.jar") == "no such file or directory: w.jar"


def test_links_and_entries_that_lead_out_are_passed_over() -> None:
    with zipfile.ZipFile("x.zip", "w") as archive:
        link = zipfile.ZipInfo("S.json")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        for path in ("../A.json", "a/../../A.json", "/etc/A.json", "./A.json"):
            archive.writestr(path, GOOD)
    (result,) = sets("x.zip")
    assert ([file.path for file in result.files], result.links) == (["x.zip!/A.json"], ("x.zip!/S.json",))


def test_encrypted_or_compressed_in_an_unusual_way() -> None:
    make_zip("x.zip", {"A.json": GOOD})
    data = bytearray(Path("x.zip").read_bytes())
    for mark, at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.index(mark) + at] |= 1
    Path("x.zip").write_bytes(data)
    assert "is encrypted" in error("x.zip")
    make_zip("y.zip", {"A.json": GOOD}, zipfile.ZIP_LZMA)
    assert error("y.zip") == "cannot read y.zip: its entry A.json is compressed in an unusual way"


def test_large_entries_are_read_in_part() -> None:
    large = GOOD + b" " * 20_000_000
    make_zip("x.zip", {"A.json": large, "B.json": GOOD})
    (result,) = sets("x.zip")
    assert [file.data for file in result.files] == [large[:LARGEST_ENTRY], GOOD]


def test_bombs(monkeypatch: pytest.MonkeyPatch) -> None:
    zeros = bytes(1_000_000)
    monkeypatch.setattr(archive, "ARCHIVE_BYTES", Limit(3 << 20, "bytes, unpacked", "an archive"))
    make_zip("x.zip", {f"{at}.json": zeros for at in range(5)})
    assert error("x.zip") == "cannot read x.zip: it has more than 3 MiB, unpacked"
    make_zip("y.zip", {"huge.bin": bytes(5_000_000), "A.json": GOOD})
    assert len(paths("y.zip")) == 1


def test_too_many_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {f"{at}.txt": b"" for at in range(3_000)} | {"A.json": GOOD}
    make_zip("x.zip", files)
    assert paths("x.zip") == ["x.zip!/A.json"]
    monkeypatch.setattr(archive, "ARCHIVE_ENTRIES", Limit(3_000, "entries", "an archive"))
    assert error("x.zip") == "cannot read x.zip: it has more than 3,000 entries"


def test_sizes_that_are_not_true() -> None:
    make_zip("x.zip", {"A.json": GOOD}, zipfile.ZIP_STORED)
    data = bytearray(Path("x.zip").read_bytes())
    at = data.index(b"PK\1\2") + 20
    data[at : at + 8] = struct.pack("<II", 1 << 30, 1 << 30)
    Path("x.zip").write_bytes(data)
    assert error("x.zip").startswith("cannot read x.zip: the archive is damaged")


@pytest.mark.parametrize("name", ["x.jar", "x.zip"])
@pytest.mark.parametrize("data", [b"", b"rubbish", b"PK\3\4rubbish", b"\x1f\x8brubbish"])
def test_no_archive_at_all(name: str, data: bytes) -> None:
    Path(name).write_bytes(data)
    assert error(name).startswith(f"cannot read {name}: the archive is damaged")


@settings(max_examples=USUAL, suppress_health_check=[*TIME_CHECKS, HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2_000), st.binary(min_size=1, max_size=12))
def test_any_damage_is_one_line(at: int, change: bytes) -> None:
    make_zip("x.zip", JAR)
    data = bytearray(Path("x.zip").read_bytes())
    at %= len(data)
    data[at : at + len(change)] = change
    Path("x.zip").write_bytes(data)
    try:
        result = sets("x.zip")
    except SourceError as caught:
        assert "\n" not in str(caught)
    else:
        assert all(len(file.data) <= LARGEST_ENTRY for open_set in result for file in open_set.files)


# Bundles: unpacked once, and removed afterwards


@pytest.fixture
def bundle(kafka: Path, elsewhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bundle of two releases in a directory apart; unpacked bundles go to `temporary`."""
    commit(kafka, {"metadata/B.json": GOOD}, "2.0.0")
    git(kafka, "bundle", "create", "-q", str(elsewhere / "a bundle.bundle"), "HEAD", "--branches", "--tags")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return elsewhere / "a bundle.bundle"


def test_shared_by_all_and_removed(bundle: Path, tmp_path: Path) -> None:
    name = bundle.name
    assert paths("1.0.0:metadata", repository=name) == ["1.0.0:metadata/TopicRecord.json"]
    assert len(paths("trunk:metadata", "HEAD:metadata", repository=str(bundle))) == 4
    assert len(list((tmp_path / "temporary").iterdir())) == 1
    cleanup.close()
    assert list((tmp_path / "temporary").iterdir()) == []
    assert len(paths("2.0.0:", repository=name)) == 4


def test_broken_bundles(bundle: Path) -> None:
    write(bundle.parent, {"cut.bundle": bundle.read_bytes()[:-30], "no.bundle": b"# v2 git bundle\nrubbish\n"})
    for name in ("cut.bundle", "no.bundle"):
        assert error("1.0.0:", repository=name).startswith(f"cannot read the bundle {name}: ")
