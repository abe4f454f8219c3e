"""Schema sets out of files and out of the history, migrated; and what has to be equal before and after."""

from __future__ import annotations

import io
import json
import subprocess
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kiplint.engine.finding import Finding
from kiplint.fixes.fix import FixedSet
from kiplint.fixes.fix import fix_set as fix_checked_set
from kiplint.fixes.migration import Migration
from kiplint.fixes.regressions import CheckedFiles
from kiplint.fixes.regressions import Files as SomeFiles
from kiplint.model.headers import header_of
from kiplint.model.layout import layout, lines
from kiplint.model.load import load
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from kiplint.text.decode import blank_comments, comments

Files = dict[str, bytes]
Check = Callable[[Mapping[str, bytes]], Sequence[Finding]]


def fix_set(
    files: Mapping[str, bytes], check: Check, *, check_other_rules: Check = lambda files: (), **options: Any
) -> FixedSet:
    """The files, fixed by the function of the same name; `check` gives the findings in other bytes of them."""

    def check_all(files: SomeFiles) -> CheckedFiles:
        return CheckedFiles(files, check(files), check_other_rules(files))

    return fix_checked_set(check_all(files), check_all, **options)


def folder(path: Path) -> Files:
    """The definitions of a directory by their names."""
    return {file.name: file.read_bytes() for file in sorted(path.glob("*.json"))}


def release(bundle: Path, tag: str, clone: Path, directory: str = "clients") -> Files:
    """The definitions of a release in a directory, by default the clients'."""
    if not clone.exists():
        subprocess.run(["git", "clone", "-q", "--mirror", bundle, clone], check=True, capture_output=True)
    archive = subprocess.run(["git", "-C", clone, "archive", tag, directory], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        result = {
            Path(member.name).name: tar.extractfile(member)
            for member in tar.getmembers()
            if member.name.endswith(".json")
        }
        return {name: file.read() for name, file in sorted(result.items()) if file}


def schemas(files: Mapping[str, bytes]) -> SchemaSet:
    """The set of the files, each of which has to be readable."""
    definitions = [load(name, data) for name, data in files.items()]
    assert not [definition for definition in definitions if not definition.is_readable]
    return SchemaSet(definitions)


def after(files: Mapping[str, bytes], migration: Migration) -> Files:
    """The files after a migration, which is said to begin with what they are."""
    assert all(files[file.path] == file.before for file in migration.files)
    return {**files, **{file.path: file.after for file in migration.files}}


def parse(data: bytes) -> dict[str, Any]:
    """The value of a definition."""
    document = json.loads(blank_comments(data))
    assert isinstance(document, dict)
    return document


def without_abouts(value: Any) -> Any:
    """The value with no description in it."""
    if isinstance(value, dict):
        return {key: without_abouts(item) for key, item in value.items() if key != "about"}
    return [without_abouts(item) for item in value] if isinstance(value, list) else value


def comments_of(data: bytes) -> list[str]:
    """What the comments say, in their order."""
    text = data.decode()
    return [comment.body for comment in comments(text)]


def is_within(small: Iterable[str], large: Iterable[str]) -> bool:
    """Whether all of the first are among the second, in the same order."""
    rest = iter(large)
    return all(word in rest for word in small)


def wire(message: Message) -> Iterator[tuple[int, int, list[Any]]]:
    """By valid version: the header, and the layout as it is shown. Only for real, closed ranges."""
    assert not message.valid.open
    for version in range(message.valid.lowest, message.valid.highest + 1):
        header = header_of(message, version) if message.is_rpc else 0
        yield version, header, list(lines(layout(message, version)))
