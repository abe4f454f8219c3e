"""The SET arguments of every command: open the schema sets of a name."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial

from kiplint.sources.archive import ARCHIVES, open_archive
from kiplint.sources.built_in import RELEASE, built_in, find_release, release_tree
from kiplint.sources.disk import STDIN, STDIN_PATH, directory_tree, read_stdin, with_siblings
from kiplint.sources.repository import HERE, Repository, RevisionPath
from kiplint.sources.schema_files import (
    MAX_BYTES_READ,
    FileTree,
    Includes,
    NothingThereError,
    OpenedSets,
    SchemaFiles,
    SourceError,
)
from kiplint.text.words import first_of


def open_sets(names: Iterable[str], includes: Includes, repository: Repository = HERE) -> OpenedSets:
    """The schema sets that names stand for; a path on disk takes precedence over a revision with the same name.

    A name is a directory, a file (its siblings are its context), an archive, `ARCHIVE!/path`, `REV:path` as
    `git show` takes it, a built-in release, or `-`. A set that several names stand for is given once. `repository` is
    where revisions are looked up. A name without definitions, and a file that is JSON of another kind, is a note.
    Raises SourceError for what cannot be read, and NothingThereError where no directory, archive or revision has
    definitions, and for standard input of another kind.
    """
    trees, named_files = _resolve(names, includes, repository)
    sets: list[SchemaFiles] = []
    notes: list[str] = []
    skipped_paths: list[str] = []
    missing = ""
    for tree in trees:
        try:
            opened = tree.sets(includes)
            sets += opened.sets
            notes += opened.notes
        except NothingThereError as error:
            missing = str(error)
            notes.append(missing)
    for read in named_files:
        schemas, other_paths = read(includes)
        sets += [schemas] if schemas.files else []
        skipped_paths += other_paths
    if STDIN_PATH in skipped_paths:
        raise NothingThereError(_skipped([STDIN_PATH]))
    if skipped_paths:
        notes.append(_skipped(skipped_paths))
    if missing and not sets:
        raise NothingThereError(missing)
    reported_paths: set[str] = set()
    different_sets: list[SchemaFiles] = []
    for schemas in sets:
        paths = {file.path for file in schemas.files if file.is_reported}
        if not paths <= reported_paths:
            reported_paths |= paths
            different_sets.append(schemas)
    return OpenedSets(tuple(different_sets), tuple(notes))


def _skipped(paths: Sequence[str]) -> str:
    """`package.json is JSON, but not a message definition (it has no validVersions)`, of any number of paths."""
    if len(paths) == 1:
        return f"{paths[0]} is JSON, but not a message definition (it has no validVersions)"
    return f"{first_of(paths, 5)} are JSON, but not message definitions (they have no validVersions)"


def _resolve(
    names: Iterable[str], includes: Includes, repository: Repository
) -> tuple[list[FileTree], list[Callable[[Includes], tuple[SchemaFiles, list[str]]]]]:
    """The trees that names stand for; and for the named files of each directory, the function that reads their set."""
    trees: list[FileTree] = []
    files_by_directory: dict[str, dict[str, bytes | None]] = defaultdict(dict)
    trees_by_prefix: dict[str, FileTree] = {}
    files_by_prefix: dict[str, list[str]] = defaultdict(list)
    for name in {os.path.abspath(name): name for name in names}.values():  # one of all spellings of a path
        exists = os.path.lexists(name)
        if name == STDIN:
            files_by_directory[""][STDIN_PATH] = read_stdin(MAX_BYTES_READ)
        elif os.path.isdir(name):
            trees.append(directory_tree(name))
        elif exists and not includes(name):
            continue
        elif exists and not name.lower().endswith(ARCHIVES):
            files_by_directory[os.path.dirname(name)][name] = None
        else:
            tree, file = _tree_and_file(name, repository)
            if file:
                trees_by_prefix[tree.shown_prefix] = tree
                files_by_prefix[tree.shown_prefix].append(file)
            else:
                trees.append(tree)
    return trees, [
        *(partial(with_siblings, directory, contents) for directory, contents in files_by_directory.items()),
        *(partial(trees_by_prefix[prefix].named_files, files) for prefix, files in files_by_prefix.items()),
    ]


def _tree_and_file(name: str, repository: Repository) -> tuple[FileTree, str]:
    """The tree that an archive, a path in one, `REV:path` or a release names; of a file, its folder and its name."""
    archive, _, path = name.partition("!/")
    if archive.lower().endswith(ARCHIVES) and os.path.lexists(archive):
        return open_archive(archive, path)
    place = RevisionPath.of(name)
    if place:
        return repository.tree(place)
    if release := find_release(name):
        return release_tree(release), ""
    hint = ""
    with suppress(SourceError):
        hint = f"; for the revision, write {name}:" if repository.is_revision(name) else ""
    if not hint and RELEASE.fullmatch(name):
        first, *_, last = built_in().origins
        hint = f"; the built-in releases of Apache Kafka are {first} to {last}"
    raise SourceError(f"no such file or directory: {name}{hint}")
