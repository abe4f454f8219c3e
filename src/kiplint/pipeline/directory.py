"""The directory of a lake: its lock, its settings, and the links that it must not have."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from kiplint.engine.errors import UsageError
from kiplint.pipeline.tables import TABLES, has_table

FORMAT: Final = 2
"""The format of the tables; a run makes all tables of another format again."""
MARK: Final = "KIPLINT-LAKE"
"""The file that makes a directory a lake, and that a run locks. Nothing is written or removed in other directories."""
SETTINGS: Final = "lake.json"
NEW_SETTINGS: Final = f"{SETTINGS}.new"
_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_UNSUPPORTED: Final = re.compile(r"[][^|\\]|%[0-9A-Fa-f]{2}")


class Settings(NamedTuple):
    """What a lake knows besides its tables.

    `config` is the path of the configuration, empty for the default rules. `lines` are rows of the table `sources`.
    """

    format: int
    config: str = ""
    lines: Sequence[dict[str, Any]] = ()


def lake_path(text: str) -> Path:
    """The absolute path of a lake. Raises UsageError for an address, and for a path that delta-rs cannot open."""
    if _ADDRESS.match(text):
        raise UsageError(
            f"a lake is a directory that all executors share, not {text}: write to a mounted file system, "
            "and copy the finished lake into the object store"
        )
    path = Path(text).absolute()
    if unsupported := _UNSUPPORTED.search(str(path)):
        raise UsageError(
            f"Delta's library cannot open a path with {unsupported[0]}: name another directory than {path}"
        )
    return path


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a lake, or a new or empty directory for one, so that no other run writes to it.

    Raises UsageError while another run has the lock, for a directory with other files, and for a lake with links;
    OSError where it cannot be written.
    """
    try:
        import fcntl  # which Windows lacks
    except ImportError:
        raise UsageError("a lake is written on Linux or macOS; Windows can run `pipeline` in WSL") from None
    path.mkdir(parents=True, exist_ok=True)
    if not (path / MARK).exists() and any(path.iterdir()):
        raise UsageError(f"{path} is not a lake and has other files; name a new or an empty directory")
    require_no_links(path)
    with open(path / MARK, "a", encoding="utf-8") as mark:
        try:
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)  # released when the file is closed, or the process ends
        except BlockingIOError:
            raise UsageError(f"another run is writing to {path}: wait until it ends") from None
        yield


def require_no_links(path: Path) -> None:
    """Raise UsageError for a lake with a symbolic link, through which a run would write and remove files elsewhere."""
    places = [path / name for name in (MARK, SETTINGS, NEW_SETTINGS, *TABLES)]
    for place in places:
        folders = os.walk(place) if not place.is_symlink() else [(str(path), [], [place.name])]
        for folder, folder_names, file_names in folders:
            for name in (*folder_names, *file_names):
                if os.path.islink(os.path.join(folder, name)):
                    raise UsageError(f"{folder}/{name} is a link, and links inside a lake are not followed: remove it")


def read_settings(path: Path) -> Settings:
    """The settings of a lake. Raises UsageError for damaged ones, and for a lake of a newer kiplint."""
    try:
        values = json.loads((path / SETTINGS).read_text("utf-8"))
        settings = Settings(**{name: values[name] for name in values if name in Settings._fields})
    except FileNotFoundError:
        return Settings(1 if has_table(path, "sources") else FORMAT)  # lakes of format 1 have no settings
    except (ValueError, TypeError):
        remedy = "remove it, and name the sources and the configuration again"
        raise UsageError(f"{path / SETTINGS} is damaged: {remedy}") from None
    if settings.format > FORMAT:
        raise UsageError(
            f"{path} is a lake of a newer kiplint (format {settings.format}, not {FORMAT}): update kiplint"
        )
    return settings


def write_settings(path: Path, settings: Settings) -> None:
    """Replace the settings of a lake at once, so that a run that is killed leaves the old ones or the new ones."""
    new_file = path / NEW_SETTINGS
    new_file.write_text(json.dumps(settings._asdict(), indent=1) + "\n", "utf-8")
    new_file.replace(path / SETTINGS)
