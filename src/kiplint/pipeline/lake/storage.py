"""The place of a lake: a directory, or a prefix in an object store; its marker file, and removal that follows no link.

Object stores are reached through `deltalake`, with the credentials of the usual environment: AWS_*, GOOGLE_*, AZURE_*.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from kiplint.engine.errors import UsageError
from kiplint.text.files import read_file, replace_file

MOST: Final = 2048
"""Characters of a URI: the name of an object has 1,024 at most."""

_PARTS: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(/*)(?:([^/?#]*)@)?([^/?#]*)([^?#]*)(.*)", re.DOTALL)
_BUCKET: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}")


def without_secret(place: str) -> str:
    """A place without its secrets: a URI loses its password, and the query after `?`."""
    parts = _PARTS.fullmatch(place)
    if not parts:
        return place
    scheme, slashes, user, host, path, rest = parts.groups()
    owner = f"{user.partition(':')[0] if scheme.lower().startswith('abfs') else '...'}@" if user else ""
    return f"{scheme}:{slashes}{owner}{host}{path}{'?...' if rest.startswith('?') else rest}"


def require_no_secret(place: str) -> None:
    """Raise UsageError for a URI with a name and password before its host, or a signature behind `?`."""
    parts = _PARTS.fullmatch(place)
    if not parts or not parts[2]:
        return
    container = parts[1].lower().startswith("abfs")
    if (parts[3] and (":" in parts[3] or not container)) or parts[6].startswith("?"):
        raise UsageError(f"{without_secret(place)} contains credentials: remove them, and set them in the environment")


def require_place(uri: str) -> None:
    """Raise UsageError for an invalid URI of an object store, or a URI that leads out of its bucket."""
    require_no_secret(uri)
    _, _, rest = uri.partition("://")
    bucket, *folders = rest.rstrip("/").split("/")
    container, _, host = bucket.rpartition("@")
    if len(uri) > MOST:
        raise UsageError(f"{uri[:40]}... is too long: a URI has at most {MOST:,} characters")
    if not uri.isprintable():
        offset = next(offset for offset, character in enumerate(uri) if not character.isprintable())
        raise UsageError(f"invalid URI: illegal character at offset {offset} of {uri}")
    if not all(_BUCKET.fullmatch(part) for part in (container or host, host)):
        raise UsageError(f"{uri} names no bucket")
    if "#" in rest or any(unquote(folder) in ("", ".", "..") or "/" in unquote(folder) for folder in folders):
        raise UsageError(f"invalid URI: {uri} has a part that leads out of the bucket")


STORES: Final = {"s3": "s3", "s3a": "s3", "gs": "gs", "abfs": "abfss", "abfss": "abfss", "az": "az"}
"""The schemes that users may write, and the scheme of the store in `deltalake`."""

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?://|(?=/))")


def store_of(place: str) -> str:
    """The scheme of a URI in `deltalake`; empty for other URIs and for paths."""
    scheme = _SCHEME.match(place)
    return STORES.get(scheme[1].lower(), "") if scheme else ""


class Storage:
    """A place that is given as a path or a URI; raises UsageError for an invalid URI.

    `uri` is its name for `deltalake`. `path` is the directory on this file system, None in an object store. A storage
    can be sent to executors.
    """

    def __init__(self, place: str | Path) -> None:
        self.path: Path | None = None
        text = os.fspath(place)
        scheme = _SCHEME.match(text)
        if scheme is None:
            self.path = Path(os.path.abspath(text))
        elif scheme[1].lower() == "file":
            self.path = local_path(text)
        elif store := store_of(text):
            rest = text[scheme.end() :].rstrip("/")
            if not text.startswith(f"{scheme[1]}://") or not rest.strip("/"):
                raise UsageError(f"{without_secret(text)} names no bucket")
            require_place(text)
            self.uri = f"{store}://{rest}"
        else:
            schemes = ", ".join(f"{name}://" for name in STORES)
            raise UsageError(
                f"a lake cannot be kept at {without_secret(text)}: it takes a directory, file://, or one of {schemes}"
            )
        if self.path:
            self.uri = str(self.path)

    def __str__(self) -> str:
        return self.uri

    def __reduce__(self) -> tuple[type[Storage], tuple[str]]:
        return Storage, (self.uri,)

    @cached_property
    def options(self) -> dict[str, str]:
        """Options for `deltalake` besides the environment: an endpoint from the environment may use plain HTTP."""
        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
        return {"aws_allow_http": "true"} if endpoint.startswith("http://") else {}

    @cached_property
    def files(self) -> Any:
        """The file system for Arrow; names are relative to this place."""
        from pyarrow import fs

        if self.path:
            return fs.SubTreeFileSystem(str(self.path), fs.LocalFileSystem())
        from deltalake.fs import DeltaStorageHandler

        return fs.PyFileSystem(DeltaStorageHandler(self.uri, self.options))

    def inner(self, name: str) -> str:
        """The URI of a file or folder in this place."""
        return f"{self.uri}/{name}"

    def list(self, name: str = "") -> list[str]:
        """The names of the files and folders in a folder; empty if it does not exist. Raises OSError."""
        if self.path:
            try:
                return sorted(os.listdir(self.path / name))
            except FileNotFoundError:
                return []
        from pyarrow import fs

        entries = self.files.get_file_info(fs.FileSelector(name, allow_not_found=True))
        return sorted({entry.base_name for entry in entries if entry.base_name})

    def has(self, name: str) -> bool:
        """Whether a file or folder with this name exists; raises OSError."""
        if self.path:
            return os.path.lexists(self.path / name)
        folder, _, own = name.rpartition("/")
        return own in self.list(folder)

    def read(self, name: str, most: int) -> bytes:
        """The bytes of a small file; raises OSError."""
        if self.path:
            return read_file(str(self.path / name), most)
        with self.files.open_input_stream(name) as file:
            data: bytes = file.read(most)
            return data

    def write(self, name: str, data: bytes) -> None:
        """Write a small file whole; raises OSError."""
        if self.path:
            (self.path / name).parent.mkdir(parents=True, exist_ok=True)
            replace_file(str(self.path / name), data)
            return
        import pyarrow as pa

        # What is not buffered is handed over in a form that deltalake refuses.
        with self.files.open_output_stream(name) as file, pa.BufferedOutputStream(file, len(data) + 1) as out:
            out.write(data)


def local_path(text: str) -> Path:
    """The path in a `file:` URI; raises UsageError if the URI names another machine."""
    try:
        parts = urlsplit(text)
    except ValueError:  # half an address of IPv6
        parts = urlsplit("file://no")
    path = unquote(parts.path)
    if parts.netloc not in ("", "localhost") or not path or not text.isprintable() or "\0" in path:
        raise UsageError(f"invalid file URI {without_secret(text)}: write file:///path, a path on this machine")
    return Path(os.path.abspath(path))


MARK: Final = "KIPLINT-LAKE"
NOTICE: Final = b"This is a lake of `kiplint pipeline`: Delta tables, and `runs` says which versions belong together.\n"
STAGING: Final = "staging"
RUNS: Final = "runs"
LOG: Final = "_delta_log"
TOKEN: Final = re.compile(r"[0-9a-f]{12}")
FOLDER: Final = re.compile(r"([0-9a-f]{12})-[0-9]{1,9}")
"""A folder that Spark writes: the token of its run, and a number."""

_SLASH: Final = re.compile("/")


class Claim(NamedTuple):
    """What `claim` created to make a place a lake: the marker file and the directory, if they did not exist."""

    new_lake: bool
    new_directory: bool


def claim(storage: Storage, tables: tuple[str, ...]) -> Claim:
    """Make a place a lake, unless it is a lake. Raises UsageError if it holds other files, and OSError."""
    new_directory = storage.path is not None and not storage.path.exists()
    if storage.path:
        storage.path.mkdir(parents=True, exist_ok=True)
    there = set(storage.list())
    if not there:
        try:
            storage.write(MARK, NOTICE)
        except OSError:
            if storage.path and new_directory:  # on a full disk a directory can be made, and no file in it
                with suppress(OSError):
                    storage.path.rmdir()
            raise
    elif MARK not in there or _mark(storage) != NOTICE:
        own = {MARK, STAGING, RUNS, *tables}
        raise UsageError(f"{storage} is neither empty nor a lake: it has {min(there - own or there)}")
    elif RUNS not in there and (tables_there := there & {*tables}):
        raise UsageError(f"{storage} is not a lake that can be read: it has {min(tables_there)}, but no {RUNS}")
    for name in (STAGING, *(part for table in (*tables, RUNS) for part in (table, f"{table}/{LOG}"))):
        if storage.path and (storage.path / name).is_symlink():
            raise UsageError(f"cannot write the lake {storage}: {name} is a link")
    return Claim(not there, new_directory)


def unclaim(storage: Storage, own_claim: Claim) -> None:
    """Leave a place as it was before it was claimed, if nothing has come to be there but empty folders."""
    if own_claim.new_lake and storage.path:
        for folder, _, _ in os.walk(storage.path, topdown=False):
            if folder != str(storage.path):
                with suppress(OSError):  # it is not empty
                    os.rmdir(folder)
    if own_claim.new_lake and storage.list() == [MARK]:
        remove(storage, MARK)
        if storage.path and own_claim.new_directory:
            with suppress(OSError):
                storage.path.rmdir()


def require_own(storage: Storage, files: Iterable[str]) -> None:
    """Raise UsageError where a file of a lake, or a folder above it, is a link or a device; one may not be there."""
    if storage.path is None:
        return
    names: set[str] = set()
    for file in files:
        folders = [file[: slash.start()] for slash in _SLASH.finditer(file)]
        for name in (*(folder for folder in folders if folder not in names), file):
            names.add(name)
            with suppress(FileNotFoundError):
                mode = os.lstat(f"{storage.path}/{name}").st_mode
                if not (stat.S_ISDIR(mode) or (name is file and stat.S_ISREG(mode))):
                    what = "a link" if stat.S_ISLNK(mode) else "neither a file nor a folder of it"
                    raise UsageError(f"{storage} is not a lake that can be read: {name} is {what}")


def remove(storage: Storage, name: str) -> None:
    """Remove a file or folder with all that is in it; what cannot be removed stays. No link is followed."""
    if storage.path is None:
        with suppress(OSError):
            if name == MARK or name.endswith(".parquet"):
                storage.files.delete_file(name)
            else:
                storage.files.delete_dir(name)
        return
    place = storage.path
    for part in name.split("/"):
        if place.is_symlink():
            return
        place /= part
    with suppress(OSError):
        mode = place.lstat().st_mode
        if stat.S_ISDIR(mode):
            shutil.rmtree(place, ignore_errors=True)
        elif stat.S_ISREG(mode):
            place.unlink()


def _mark(storage: Storage) -> bytes:
    if storage.path and (storage.path / MARK).is_symlink():
        return b""
    return storage.read(MARK, 4096)


@contextmanager
def alone(storage: Storage) -> Iterator[bool]:
    """Whether no other process is in such a block, as far as this machine can tell; of object stores it cannot."""
    if not storage.path:
        yield True
        return
    with open(storage.path / MARK, "rb+") as mark:
        try:
            fcntl.lockf(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_alone = True
        except OSError as error:
            is_alone = error.errno not in (errno.EACCES, errno.EAGAIN)
        yield is_alone
