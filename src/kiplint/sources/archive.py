"""Schema sets in archives: jar, zip, tar and its compressed kinds. Read in memory within limits, never extracted."""

from __future__ import annotations

import os
from typing import BinaryIO

from kiplint.sources.bounded import Bounded
from kiplint.sources.disk import shown
from kiplint.sources.schema_files import SourceError
from kiplint.sources.tree import FileTree, by_folder
from kiplint.text.files import open_file


def open_archive(name: str, inner: str = "") -> tuple[FileTree, str]:
    """The tree in an archive, below a path in it, and the name of the file if the path is that of one.

    An archive whose definitions all lie in one folder such as `kafka-4.0.0-src` is taken from there on, so that those
    of two releases correspond. Raises SourceError for what is no archive, damaged, encrypted, too much, or hostile.
    """
    if not os.path.isfile(name):
        raise SourceError(f"cannot read {shown(name)}: it is no file")
    try:
        with open_file(name) as file:
            files = _files(shown(name), file)
    except SourceError:
        raise
    except OSError as error:
        raise SourceError(f"cannot read {shown(name)}: {error.strerror or 'the archive is damaged'}") from None
    except Exception as error:  # zipfile and tarfile raise a dozen kinds for damaged archives
        raise SourceError(f"cannot read {shown(name)}: the archive is damaged ({_reason(error)})") from None
    tree = FileTree(shown(name), f"{shown(name)}!/", f"{name}/", by_folder(files), lambda texts: texts)
    tops = {path.partition("/")[0] if "/" in path else "" for path in files}
    if not inner and len(tops) == 1 and "-" in (top := tops.pop()):
        return tree.below(top)
    return tree.below(inner)


def _files(name: str, file: BinaryIO) -> dict[str, bytes]:
    from kiplint.sources.unpack import tar_files, zip_files

    beginning = file.read(6)
    file.seek(0)
    if beginning.startswith(b"\x1f\x8b"):
        from gzip import GzipFile

        return tar_files(name, Bounded(name, GzipFile(fileobj=file), seekable=False))
    if beginning.startswith(b"BZh"):
        from bz2 import BZ2File

        return tar_files(name, Bounded(name, BZ2File(file), seekable=False))
    if beginning == b"\xfd7zXZ\0":
        from lzma import LZMAFile

        return tar_files(name, Bounded(name, LZMAFile(file), seekable=False))
    plain = Bounded(name, file, seekable=True)
    if beginning.startswith(b"PK") or name.lower().endswith((".jar", ".zip")):
        return zip_files(name, plain)
    return tar_files(name, plain)


def _reason(error: Exception) -> str:
    said = str(error).partition("\n")[0]
    return said or type(error).__name__
