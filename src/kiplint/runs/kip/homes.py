"""Putting the definitions of a KIP where they belong: into the sets of a release, in place of what is there."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec

from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.finding import Span
from kiplint.runs.configuration import Path
from kiplint.runs.kip.reading import Draft, Kip
from kiplint.sources.open import open_sets

Files = dict[str, bytes]
"""Bytes by path."""


class Base(NamedTuple):
    """A release: its tree, and the files of each of its sets by directory."""

    tree: Tree
    sets: Mapping[str, Files]


class Placed(msgspec.Struct, frozen=True, dict=True):
    """A KIP whose definitions have files: `homes` has the drafts by file, for each directory."""

    kip: Kip
    homes: Mapping[str, Mapping[str, Draft]]

    def draft(self, file: str) -> Draft | None:
        """The definition that has a file."""
        return next((drafts[file] for drafts in self.homes.values() if file in drafts), None)

    def place(self, file: str, span: Span) -> tuple[str, Span]:
        """Where a place in the file of a definition really is; others stay."""
        draft = self.draft(file)
        return (self.kip.path, self.kip.span(draft.block, span)) if draft else (file, span)

    def files(self, base: Base | None, directory: str) -> Files:
        """The files of a directory with the KIP's definitions in them."""
        return {**(base.sets.get(directory, {}) if base else {}), **texts(self.homes[directory])}

    def tree(self, base: Base) -> Tree:
        """The release with the KIP's definitions in it."""
        directories = {
            name: self.files(base, name) if name in self.homes else files for name, files in base.sets.items()
        }
        directories |= {name: self.files(base, name) for name in self.homes}
        return make_tree(self.kip.path, ((name, files.items()) for name, files in directories.items()))

    def alone(self) -> Tree:
        """The KIP's definitions and nothing else."""
        found = [pair for drafts in self.homes.values() for pair in texts(drafts).items()]
        return make_tree(self.kip.path, [("", found)])


def texts(drafts: Mapping[str, Draft]) -> Files:
    """The bytes of definitions, by file."""
    return {file: draft.definition.data for file, draft in drafts.items()}


def open_base(source: Path, repository: Path | None, keeps: Callable[[str], bool]) -> Base:
    """The release that a SET names; raises SourceError for what cannot be opened."""
    sets: dict[str, Files] = {}
    for one in open_sets([os.fspath(source)], keeps, repository=os.fspath(repository) if repository else None):
        sets.setdefault(one.relative, {}).update({file.path: file.data for file in one.files if file.wanted})
    return Base(make_tree(os.fspath(source), ((name, files.items()) for name, files in sets.items())), sets)


def settle(kip: Kip, base: Base | None) -> Placed:
    """Give each definition of a KIP the file of its name in the release, or one beside those of its type."""
    homes: dict[str, dict[str, Draft]] = {}
    known = {
        message.name: (directory, message.file)
        for directory, schemas in (base.tree.sets.items() if base else ())
        for message in schemas.messages
    }
    for number, draft in enumerate(kip.current, 1):
        name = draft.name or f"definition {number}"
        directory = _directory(draft, base)
        beside = next(iter(base.sets[directory])) if base and directory in base.sets else ""
        directory, file = known.get(name, (directory, _beside(beside, f"{name}.json")))
        homes.setdefault(directory, {})[file] = draft
    return Placed(kip, homes)


def _directory(draft: Draft, base: Base | None) -> str:
    """The set that has most messages of the type of a definition."""
    if base is None:
        return ""
    message = draft.definition.message
    wanted = message.type if message else "request"
    counts = {name: Counter(one.type for one in schemas.messages)[wanted] for name, schemas in base.tree.sets.items()}
    return max(counts, key=lambda name: counts[name], default="")


def _beside(path: str, name: str) -> str:
    """The path of a file in the directory of another, however that is told: `dir/X.json`, `REV:X.json`."""
    cut = max(path.rfind(sign) for sign in ("/", ":", os.sep))
    return path[: cut + 1] + name
