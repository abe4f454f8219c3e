"""Make the built-in releases, src/kiplint/sources/releases.json.xz, from Kafka's tags and the jars of its releases.

    python scripts/make_releases.py REPOSITORY [--jars DIRECTORY]

REPOSITORY is a clone or a bundle with the tags of Apache Kafka; DIRECTORY has jars as Maven names them, such as
`kafka-clients-4.1.0.jar`. The definitions of a release come from its tag, or else from its jars; where there are both,
they have to agree. The file has facts alone: names, types, versions, tags, defaults and entity types, but no texts.
The same definitions give the same bytes.
"""

from __future__ import annotations

import argparse
import lzma
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from hashlib import sha256
from operator import or_, sub
from pathlib import Path
from subprocess import run
from tempfile import TemporaryDirectory
from typing import NamedTuple

import msgspec
from make_corpus import PLACES, SETS

from kiplint.compat.tree import load
from kiplint.model.message import Message
from kiplint.sources.built_in import BuiltIn, BuiltInDefinition, Since
from kiplint.sources.repository import open_repository
from kiplint.sources.schema_files import NothingThereError
from kiplint.versions import VersionRange, uniform_parts

OUT = Path(__file__).resolve().parent.parent / "src" / "kiplint" / "sources" / "releases.json.xz"
JAR = re.compile(r"kafka-(?P<module>[a-z-]+)-(?P<release>[0-9.]+)\.jar|kafka_[0-9.]+-(?P<core_release>[0-9.]+)\.jar")
CORE = "core/src/main/resources/common/message"
"""Where the records of transactions were before 3.9, which are in the jar of the broker."""


FILTER: dict[str, int] = {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 20}
"""A reader needs as much memory as the dictionary: 1 MiB holds all of the text."""


class Release(NamedTuple):
    """A release: where its definitions come from, and its messages by path in Kafka's repository."""

    origin: str
    messages: dict[str, Message]


def main() -> None:
    """Write the file, and say what it has."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", help="a clone or a bundle with the tags of releases")
    parser.add_argument("--jars", type=Path, help="a directory with the jars of releases")
    parser.add_argument("--leave-out", metavar="RELEASE", default="", help="a release to leave out")
    parser.add_argument("--out", type=Path, default=OUT, help="the file to write")
    options = parser.parse_args()
    releases = read_tags(options.repository)
    for name, release in (read_jars(options.jars) if options.jars else {}).items():
        if facts(release) != facts(releases.setdefault(name, release)):
            sys.exit(f"{name}: the tag and the jars differ")
        print(f"{name}: {release.origin}")
    releases.pop(options.leave_out, None)
    text = msgspec.json.encode(make(releases)).replace(b'{"path":', b'\n{"path":')
    options.out.write_bytes(lzma.compress(text, filters=[FILTER]))
    print(f"{len(releases)} releases: {len(text):,} bytes, packed {options.out.stat().st_size:,}")


def read_tags(repository: str) -> dict[str, Release]:
    """The releases that a repository has tags of."""
    releases: dict[str, Release] = {}
    with TemporaryDirectory() as clone:
        run(["git", "clone", "--quiet", "--mirror", repository, clone], check=True)
        command = [
            "git",
            "-C",
            clone,
            "for-each-ref",
            "--format=%(refname:lstrip=2) %(*objectname)%(objectname) %(subject)",
            "refs/tags",
        ]
        for line in run(command, check=True, capture_output=True, text=True).stdout.splitlines():
            tag, commit, subject = line.split(" ", 2)
            if not re.fullmatch(r"[0-9]+(\.[0-9]+)+", tag):
                continue
            tree = load(f"{tag}:", open_repository(clone))
            messages = {message.file.removeprefix(f"{tag}:"): message for message in tree.messages}
            # The corpus is no clone of Kafka: the subjects of its commits say where the definitions were read.
            _, is_corpus, origin = subject.partition(f"Apache Kafka {tag}: ")
            releases[tag] = Release(
                origin if is_corpus else f"tag {tag}, commit {commit[:40]}",
                {path: message for path, message in messages.items() if path.startswith(PLACES)},
            )
    return releases


def read_jars(directory: Path) -> dict[str, Release]:
    """The releases that a directory has jars of."""
    messages: defaultdict[str, dict[str, Message]] = defaultdict(dict)
    origins: defaultdict[str, list[str]] = defaultdict(list)
    for jar in sorted(directory.glob("*.jar")):
        match = JAR.fullmatch(jar.name)
        if match is None:
            continue
        release = match["release"] or match["core_release"]
        origins[release].append(f"{jar.name} with SHA-256 {sha256(jar.read_bytes()).hexdigest()}")
        place = SETS[match["module"]] if match["module"] else CORE
        with suppress(NothingThereError):
            messages[release] |= {f"{place}/{message.file_name}": message for message in load(jar).messages}
    return {release: Release(", ".join(origins[release]), messages[release]) for release in messages}


def make(releases: Mapping[str, Release]) -> BuiltIn:
    """The content of the file: each definition once, with the releases that have it."""
    names = sorted(releases, key=lambda name: [int(number) for number in name.split(".")])
    releases_by_definition: defaultdict[tuple[str, bytes, bool], list[str]] = defaultdict(list)
    for name in names:
        for path, text in facts(releases[name]).items():
            in_flux = releases[name].messages[path].is_in_flux
            releases_by_definition[path, text, in_flux].append(name)
    definitions = [
        BuiltInDefinition(path, tuple(holders), msgspec.Raw(text), in_flux)
        for (path, text, in_flux), holders in sorted(releases_by_definition.items())
    ]
    origins = {name: releases[name].origin for name in names}
    return BuiltIn(origins, since([releases[name] for name in names], names), tuple(definitions))


def facts(release: Release) -> dict[str, bytes]:
    """By path: what a definition says, as JSON without texts, and with its properties in kiplint's order."""
    return {path: msgspec.json.encode(without_texts(message.spec)) for path, message in release.messages.items()}


def without_texts(spec: msgspec.Struct) -> msgspec.Struct:
    """The part of a definition without `about`."""
    values = {name: getattr(spec, name) for name in spec.__struct_fields__ if name != "about"}
    for name, value in values.items():
        if isinstance(value, list):
            values[name] = [without_texts(item) if isinstance(item, msgspec.Struct) else item for item in value]
    return type(spec)(**values)


def since(releases: Sequence[Release], names: Sequence[str]) -> dict[str, tuple[Since, ...]]:
    """By name of a message: when its versions came. The releases are given with their names, the lowest first.

    An RPC that was renamed has one history, under each of its names.
    """
    firsts: defaultdict[tuple[str, int | str], list[tuple[VersionRange, str, bool]]] = defaultdict(list)
    identities: dict[str, tuple[str, int | str]] = {}
    for name, release in zip(names, releases, strict=True):
        for message in release.messages.values():
            identity: tuple[str, int | str] = "", message.name
            if message.is_rpc and message.api_key is not None:
                identity = message.type, message.api_key
            identities[message.name] = identity
            earlier = firsts[identity]
            stable_versions = message.valid - message.unstable_version
            for versions, is_stable in ((message.valid, False), (stable_versions, True)):
                earlier_versions = [first for first, _, was_stable in earlier if was_stable == is_stable]
                new_versions = reduce(sub, earlier_versions, versions)
                if new_versions:
                    earlier.append((new_versions, name, is_stable))
    return {name: tuple(_since(firsts[identities[name]])) for name in sorted(identities) if firsts[identities[name]]}


def _since(firsts: Sequence[tuple[VersionRange, str, bool]]) -> Iterator[Since]:
    """The rows of a message, from the new versions of each release: all of them, and those that became stable."""
    all_versions = reduce(or_, (versions for versions, _, _ in firsts))
    for part in uniform_parts([versions for versions, _, _ in firsts], all_versions):
        release = {is_stable: name for versions, name, is_stable in firsts if part <= versions}
        yield Since(str(part), release[False], release.get(True, ""))


if __name__ == "__main__":
    main()
