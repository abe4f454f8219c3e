"""The definitions' folders in trees that follow one another: git tells what is different from one to the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from kiplint.sources.git import DEEPEST, FILE, MOST_ENTRIES
from kiplint.sources.history import MOST_FOLDERS, Folder
from kiplint.sources.objects import Objects
from kiplint.sources.schema_files import SourceError, is_walked

EMPTY = {
    40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
"""The id of the tree without entries, which git knows everywhere, by the length of ids."""
MOST_BYTES = 256 << 20
SECONDS = 60.0
"""What git may print, and how long it may take: trees that share their parts can have billions, in little room."""
AT_ONCE = 256
"""So many pairs of ids fit into the smallest of pipes."""
_COMMAND = ("diff-tree", "--stdin", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", "--", "*.json")
Folders = tuple[Folder, ...]


def followed(objects: Objects, trees: Sequence[str]) -> Iterator[Folders]:
    """The folders of each tree, as a `Walker` has them but for the ids; the same object where nothing is different.

    Raises SourceError for what a walker has to look into: damage, and more than a definition tree can hold.
    """
    kept: dict[str, dict[str, str]] = {}
    told: dict[str, Folder] = {}
    found: Folders = ()
    pairs = [*pairwise([EMPTY.get(len(trees[0]), trees[0]), *trees])] if trees else []
    for at in range(0, len(pairs), AT_ONCE):
        some = pairs[at : at + AT_ONCE]
        asked = "".join(f"{old} {new}\n" for old, new in some if old != new).encode()
        steps = _steps(objects.tell(_COMMAND, asked, MOST_BYTES, SECONDS))
        for old, new in some:
            if old == new:
                yield found
                continue
            said, step = next(steps, ("", {}))
            if said != f"{old} {new}":  # git passes over what it cannot read
                raise SourceError(f"{objects.where} is damaged")
            if _apply(step, kept, told):
                found = tuple(told[path] for path in sorted(told))
                if len(found) > MOST_FOLDERS or sum(len(one.files) for one in found) > MOST_ENTRIES:
                    raise SourceError(f"{objects.where} holds more than definitions")
            yield found


def _steps(out: bytes) -> Iterator[tuple[str, dict[str, str]]]:
    """Each pair, and what that step makes of paths: the id of a file, or nothing where there is none any more."""
    at = 0
    pair, step = "", dict[str, str]()
    while at < len(out):
        if out[at : at + 1] != b":":
            if pair:
                yield pair, step
            end = out.index(b"\n", at)
            pair, step, at = out[at:end].decode(), {}, end + 1
            continue
        middle = out.index(b"\0", at)
        end = out.index(b"\0", middle + 1)
        _, mode, _, blob, _ = out[at:middle].split(b" ")
        path = out[middle + 1 : end].decode("utf-8", "surrogateescape")
        step[path] = blob.decode() if mode.startswith(FILE) else ""
        at = end + 1
    if pair:
        yield pair, step


def _apply(step: dict[str, str], kept: dict[str, dict[str, str]], told: dict[str, Folder]) -> bool:
    """Whether a step makes any folder another one."""
    touched = set()
    for path, blob in step.items():
        folder, _, name = path.rpartition("/")
        parts = folder.split("/") if folder else []
        if len(parts) > DEEPEST:
            raise SourceError(f"folders more than {DEEPEST} deep")
        if all(map(is_walked, parts)):
            touched.add(folder)
            if blob:
                kept.setdefault(folder, {})[name] = blob
            else:
                kept.get(folder, {}).pop(name, None)
    for folder in touched:
        files = tuple(sorted(kept.get(folder, {}).items()))
        if files:
            told[folder] = Folder.of(folder, files)
        else:
            told.pop(folder, None)
    return bool(touched)
