"""Sets in archives, and archives that mean harm."""

from __future__ import annotations

import gzip
import io
import random
import stat
import struct
import tarfile
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
from kiplint.sources.repository import open_repository
from kiplint.sources.schema_files import MAX_BYTES_READ, SourceError
from sources.support import GOOD, OTHER, error, git, paths, sets, write
from tools import USUAL

JAR = {
    "META-INF/MANIFEST.MF": b"Manifest-Version: 1.0\n",
    "common/message/ARequest.json": GOOD,
    "common/message/AResponse.json": GOOD,
    "common/message/README.md": b"validVersions",
    "org/apache/other.json": OTHER,
}
BOTH = ["x.jar!/common/message/ARequest.json", "x.jar!/common/message/AResponse.json"]


def make_zip(name: str, files: Mapping[str, bytes], kind: int = zipfile.ZIP_DEFLATED) -> None:
    with zipfile.ZipFile(name, "w", kind) as out:
        for path, data in files.items():
            out.writestr(path, data)


def test_jar() -> None:
    make_zip("x.jar", JAR)
    (result,) = sets("x.jar")
    assert (result.directory, result.relative) == ("x.jar!/common/message", "common/message")
    assert [(file.path, file.data, file.is_reported) for file in result.files] == [(path, GOOD, True) for path in BOTH]
    (open_set,) = open_sets(["x.jar"], lambda path: path != "x.jar/common/message/ARequest.json").sets
    assert [(file.path, file.is_reported) for file in open_set.files] == [(BOTH[0], False), (BOTH[1], True)]
    assert open_sets(["x.jar"], lambda path: path != "x.jar").sets == ()


def make_tarball(name: str, files: Mapping[str, bytes], *links: str) -> None:
    with tarfile.open(name, "w:gz") as out:
        for path, data in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(data)
            out.addfile(entry, io.BytesIO(data))
        for path in links:
            entry = tarfile.TarInfo(path)
            entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
            out.addfile(entry)


@pytest.mark.parametrize("name", ["kafka-4.4.0-src.tgz", "kafka-4.4.0-src.tar.gz"])
def test_tarball(name: str) -> None:
    """A source release has one top folder, from which on it is read."""
    files = {f"kafka-4.4.0-src/{path}": data for path, data in JAR.items()}
    make_tarball(name, files, "kafka-4.4.0-src/common/message/L.json")
    (result,) = sets(name)
    assert (result.directory, result.relative) == (f"{name}!/kafka-4.4.0-src/common/message", "common/message")
    assert [file.data for file in result.files] == [GOOD, GOOD]
    assert result.links == (f"{name}!/kafka-4.4.0-src/common/message/L.json",)
    assert paths(f"{name}!/kafka-4.4.0-src/common/message/ARequest.json") == [
        f"{name}!/kafka-4.4.0-src/common/message/ARequest.json"
    ]


def test_tarballs_that_mean_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "ARCHIVE_BYTES", Limit(3 << 20, "bytes, unpacked", "an archive"))
    make_tarball("x.tgz", {"A.json": GOOD, "huge.bin": bytes(4 << 20)})
    assert error("x.tgz") == "cannot read x.tgz: it has more than 3 MiB, unpacked"
    monkeypatch.setattr(archive, "ARCHIVE_ENTRIES", Limit(3_000, "entries", "an archive"))
    make_tarball("x.tgz", {f"{at}.txt": b"" for at in range(3_000)} | {"A.json": GOOD})
    assert error("x.tgz") == "cannot read x.tgz: it has more than 3,000 entries"
    for damaged in (b"", b"rubbish", gzip.compress(b"rubbish" * 100), gzip.compress(random.randbytes(2_000))[:-900]):
        Path("x.tgz").write_bytes(damaged)
        assert error("x.tgz").startswith("cannot read x.tgz: the archive is damaged")


def test_paths_inside() -> None:
    make_zip("x.jar", JAR)
    (result,) = sets("x.jar!/common/message/")
    assert (result.directory, result.relative) == ("x.jar!/common/message", "")
    assert paths(*reversed(BOTH)) == BOTH
    (result,) = sets(BOTH[0])
    assert [(file.path, file.is_reported) for file in result.files] == [(BOTH[0], True), (BOTH[1], False)]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("x.jar!/common/mesage", "no such path in x.jar: common/mesage; did you mean common/message?"),
        ("y.jar!/common", "no such file or directory: y.jar!/common"),
        ("y.jar", "no such file or directory: y.jar"),
        ("y.zip", "nothing to check: no message definition in y.zip"),
    ],
)
def test_errors(name: str, line: str) -> None:
    make_zip("x.jar", JAR)
    make_zip("y.zip", {"a/other.json": OTHER, "B.class": b"validVersions"})
    assert error(name) == line


def test_links_and_entries_that_lead_out_are_passed_over() -> None:
    with zipfile.ZipFile("x.zip", "w") as archive:
        link = zipfile.ZipInfo("S.json")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        for path in ("../A.json", "a/../../A.json", "/etc/A.json", "./A.json"):
            archive.writestr(path, GOOD)
    (result,) = sets("x.zip")
    assert ([file.path for file in result.files], result.links) == (["x.zip!/A.json"], ("x.zip!/S.json",))
    with tarfile.open("x.tgz", "w:gz") as tarball:
        for name, kind in (("S.json", tarfile.SYMTYPE), ("H.json", tarfile.LNKTYPE)):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, "A.json"
            tarball.addfile(entry)
        entry = tarfile.TarInfo("A.json")
        entry.size = len(GOOD)
        tarball.addfile(entry, io.BytesIO(GOOD))
    (result,) = sets("x.tgz")
    assert [file.path for file in result.files] == ["x.tgz!/A.json"]
    assert result.links == ("x.tgz!/H.json", "x.tgz!/S.json")


def test_bombs(monkeypatch: pytest.MonkeyPatch) -> None:
    large = GOOD + b" " * 20_000_000
    make_zip("x.zip", {"A.json": large, "B.json": GOOD, "huge.bin": bytes(5_000_000)})
    (result,) = sets("x.zip")
    assert [file.data for file in result.files] == [large[:MAX_BYTES_READ], GOOD]
    monkeypatch.setattr(archive, "ARCHIVE_BYTES", Limit(3 << 20, "bytes, unpacked", "an archive"))
    make_zip("x.zip", {f"{at}.json": bytes(1_000_000) for at in range(5)})
    assert error("x.zip") == "cannot read x.zip: it has more than 3 MiB, unpacked"
    make_zip("x.zip", {f"{at}.bin": random.randbytes(1_000_000) for at in range(5)})
    assert error("x.zip") == "cannot read x.zip: it has more than 3 MiB, unpacked"
    monkeypatch.setattr(archive, "ARCHIVE_ENTRIES", Limit(3_000, "entries", "an archive"))
    make_zip("x.zip", {f"{at}.txt": b"" for at in range(3_000)} | {"A.json": GOOD})
    assert error("x.zip") == "cannot read x.zip: it has more than 3,000 entries"


def test_damage() -> None:
    make_zip("x.zip", {"A.json": GOOD}, zipfile.ZIP_STORED)
    data = Path("x.zip").read_bytes()
    start = data.index(b"PK\1\2")
    too_long = data[: start + 20] + struct.pack("<II", 1 << 30, 1 << 30) + data[start + 28 :]
    encrypted = data[:6] + b"\1" + data[7 : start + 8] + b"\1" + data[start + 9 :]
    for damaged in (too_long, encrypted, b"", b"rubbish", b"PK\3\4rubbish"):
        Path("x.zip").write_bytes(damaged)
        assert error("x.zip").startswith("cannot read x.zip: the archive is damaged")
    make_zip("x.zip", {"A.json": GOOD}, zipfile.ZIP_LZMA)
    assert error("x.zip") == "cannot read x.zip: its entry A.json uses an unsupported compression"


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
        assert all(len(file.data) <= MAX_BYTES_READ for open_set in result for file in open_set.files)


def test_bundles_are_unpacked_once_and_removed(
    kafka: Path, elsewhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = elsewhere / "a bundle.bundle"
    git(kafka, "bundle", "create", "-q", str(bundle), "HEAD", "--branches", "--tags")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    repository = open_repository(bundle.name)
    for name, count in (("1.0.0:metadata", 1), ("trunk:", 3), ("HEAD:", 3)):
        sets = open_sets([name], lambda path: True, repository).sets
        assert sum(len(schemas.files) for schemas in sets) == count
    assert len(list((tmp_path / "temporary").iterdir())) == 1
    cleanup.close()
    assert list((tmp_path / "temporary").iterdir()) == []
    assert len(paths("1.0.0:", repository=bundle.name)) == 3
    write(elsewhere, {"cut.bundle": bundle.read_bytes()[:-30], "no.bundle": b"# v2 git bundle\nrubbish\n"})
    for name in ("cut.bundle", "no.bundle"):
        assert error("1.0.0:", repository=name).startswith(f"cannot read the bundle {name}: ")
