"""The built-in releases: what the definitions of Apache Kafka's releases say, without their texts and comments.

`scripts/make_releases.py` writes the file that is read here. NOTICE says where the facts come from.
"""

import lzma
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import groupby

import msgspec

from kiplint.sources.schema_files import FileTree, by_folder

IN_FLUX = "This message may change incompatibly."
"""The only comment of a definition, if one of Kafka's says so: kiplint reads it there, as in any definition."""


RELEASE = re.compile(r"[0-9]+\.[0-9]+(\.[0-9]+)?")
"""How releases are named: `4.1`, which is the newest patch release, or `4.1.0`."""

REQUEST = "Request.json"


class BuiltInDefinition(msgspec.Struct, frozen=True):
    """A definition, the releases that have it, and its path in Kafka's repository."""

    path: str
    releases: tuple[str, ...]
    facts: msgspec.Raw
    in_flux: bool = False


class Since(msgspec.Struct, frozen=True, array_like=True):
    """The versions of a message that came with one release, and the first release in which they were stable."""

    versions: str
    since: str
    stable_since: str
    """Empty where no release has them as stable versions."""


class BuiltIn(msgspec.Struct, frozen=True):
    """The content of the file."""

    origins: dict[str, str]
    """By release, the lowest version first: where its definitions were read."""
    since: dict[str, tuple[Since, ...]]
    """By name of a message: when its versions came."""
    definitions: tuple[BuiltInDefinition, ...]


@cache
def built_in() -> BuiltIn:
    """All built-in releases, which are unpacked once in a process."""
    data = files("kiplint").joinpath("sources", "releases.json.xz").read_bytes()
    return msgspec.json.decode(lzma.decompress(data), type=BuiltIn)


def find_release(name: str) -> str:
    """The built-in release of a name: `4.1` is the newest patch release of 4.1; empty if there is none."""
    if not RELEASE.fullmatch(name):
        return ""
    return next((release for release in reversed(built_in().origins) if f"{release}.".startswith(f"{name}.")), "")


def release_names() -> Iterator[str]:
    """The names by which the built-in releases are found, the lowest version first: `4.1`, `4.1.0`, `4.1.1`."""
    for minor, releases in groupby(built_in().origins, key=lambda release: release.rpartition(".")[0]):
        yield minor
        yield from releases


def title(release: str) -> str:
    """How a built-in release is called in reports."""
    return f"Apache Kafka {release} (built in)"


def release_tree(release: str) -> FileTree:
    """The definitions of a built-in release, in the directories of Kafka's repository."""
    definitions = {item.path: item for item in built_in().definitions if release in item.releases}
    return FileTree(title(release), f"{release}:", "", by_folder(definitions), read=_definition)


def api_keys() -> dict[str, int]:
    """The API keys of the RPCs of all releases by their names, without `Request`; some have had two names."""
    paths = (item for item in built_in().definitions if item.path.endswith(REQUEST))
    requests = {item.path.rpartition("/")[2].removesuffix(REQUEST): item.facts for item in paths}
    return {name: msgspec.json.decode(facts, type=_Request).api_key for name, facts in requests.items()}


class _Request(msgspec.Struct, rename="camel"):
    api_key: int


def _definition(definition: BuiltInDefinition) -> bytes:
    comment = f"// {IN_FLUX}\n".encode() if definition.in_flux else b""
    return comment + msgspec.json.format(bytes(definition.facts), indent=2)
