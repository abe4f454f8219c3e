"""The profile of a reader, as data: what it reads from a definition and how. Each is a JSON5 file in `profiles/`."""

from __future__ import annotations

import os
from collections.abc import Collection
from functools import cache
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from kiplint.text.decode import blank_text
from kiplint.text.files import read_text


class _ProfileStruct(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    pass


class Evidence(_ProfileStruct, frozen=True, kw_only=True):
    """A place in the reader's code that proves something in the profile."""

    file: str
    commit: Annotated[str, Meta(description="The commit, or the release of the package.")]
    shows: str


class Reads(_ProfileStruct, frozen=True, kw_only=True):
    """The definitions that the reader reads; properties that are left out do not restrict them."""

    types: Annotated[list[str], Meta(description="Only these types of messages.")] = []
    names: Annotated[list[str], Meta(description="Only messages of these names.")] = []
    ending: Annotated[str, Meta(description="Only files whose name, without .json, ends so.")] = ""
    listener: Annotated[str, Meta(description="Only RPCs that this listener serves.")] = ""
    dead: Annotated[bool, Meta(description="Whether messages without a valid version are among them.")] = True
    but_keys: Annotated[list[int], Meta(description="Not these API keys.")] = []


class StripStep(_ProfileStruct, frozen=True, kw_only=True):
    """One step by which the reader strips the text; each step sets one property."""

    cut: Annotated[str, Meta(description="Each line ends before the first of these, in strings too.")] = ""
    ended: Annotated[bool, Meta(description="With `cut`: only of lines that a line end follows.")] = False
    drop_with: Annotated[list[str], Meta(description="Lines that have one of these, anywhere, are dropped.")] = []
    drop_beginning: Annotated[str, Meta(description="Lines that begin so, after blanks, are dropped.")] = ""
    comments: Annotated[list[Literal["//", "/*", "#"]], Meta(description="Comments outside of strings.")] = []
    join: Annotated[bool, Meta(description="Line ends are left out, so that a string may go over several lines.")] = (
        False
    )
    replace: Annotated[dict[str, str], Meta(description="A text gives way to another, in strings too.")] = {}


Kind = Literal[
    "any", "text", "integer", "int16", "int32", "count", "number", "boolean", "scalar", "textOrInteger",
    "looseInteger", "looseBoolean", "looseText", "versions", "type", "texts", "list", "fields", "structs",
]  # fmt: skip
Nullable = Annotated[str, Meta(pattern="^[a-zA-Z0-9]+[?]?$")]


class Parts(_ProfileStruct, frozen=True, kw_only=True):
    """The properties of an object: the kind of value that each takes (with `?` also null), and which are required."""

    properties: dict[str, Nullable]
    required: list[str] = []
    filled: Annotated[list[str], Meta(description="The lists that may not be empty.")] = []
    words: Annotated[dict[str, list[str]], Meta(description="By property: the only values that it takes.")] = {}


class Types(_ProfileStruct, frozen=True, kw_only=True):
    """The types of fields."""

    primitives: list[str]
    structs: Annotated[list[str], Meta(description="Only structs of these names; any when empty.")] = []
    alone: Annotated[bool, Meta(description="Whether a struct may stand outside of an array.")] = True
    references: Annotated[
        Literal["any", "later", "none"],
        Meta(description="Which common structs a common struct may use: any, those that come after it, or none."),
    ] = "any"


class Tags(_ProfileStruct, frozen=True, kw_only=True):
    """Tagged fields (KIP-482)."""

    fields: Annotated[Literal["read", "skipped"], Meta(description="Whether they are read at all.")] = "read"
    as_text: Annotated[
        Literal["refused", "taken", "taken-in-fields", "field-lost", "tag-lost"],
        Meta(
            description="What becomes of a tag in quotes: it is refused, taken (perhaps not in common structs), or the "
            "field is never found by it, or is taken for one without tag."
        ),
    ] = "refused"


class Defaults(_ProfileStruct, frozen=True, kw_only=True):
    """The defaults that the reader accepts."""

    refused: Annotated[list[str], Meta(description="Types of fields that take none, or only null.")] = []
    needed: Annotated[
        list[str], Meta(description="Types of fields that must have one where a version of their struct lacks them.")
    ] = []
    null_throughout: Annotated[bool, Meta(description="Null only where all versions may be null.")] = False


class Profile(_ProfileStruct, frozen=True, kw_only=True):
    """A reader, and how it reads."""

    name: Annotated[str, Meta(description="The name of its rule.", pattern="^[a-z0-9]+(-[a-z0-9]+)*$")]
    title: Annotated[str, Meta(description="What it is called.")]
    repository: Annotated[str, Meta(description="owner/name on GitHub.")]
    seen: list[Evidence]
    verified: Annotated[str, Meta(description="What was verified, how, and against which sets.")]
    fails: Annotated[str, Meta(description='What a failure is, as in "its build panics".')]
    reads: Reads = Reads()
    strips: list[StripStep]
    syntax: Literal["strict", "json5"] = "strict"
    unknown: Annotated[Literal["refused", "ignored"], Meta(description="What becomes of other properties.")]
    message: Parts
    field: Parts | None = None
    struct: Parts | None = None
    none: Annotated[list[str] | None, Meta(description='The ranges that may be "none"; all when left out.')] = None
    versions: Annotated[
        Literal["pattern", "int", "any"],
        Meta(description='Ranges: exactly "3", "0-2", "3+"; what is an int in Python; or any text.'),
    ] = "pattern"
    flexible_within_valid: Annotated[bool, Meta(description="flexibleVersions may not begin below validVersions.")] = (
        False
    )
    types: Types | None = None
    tags: Tags = Tags()
    defaults: Defaults = Defaults()
    names_ending: Annotated[
        dict[str, list[str]], Meta(description="By ending: the only names of fields that may have it.")
    ] = {}
    bytes_fields: Annotated[
        list[str], Meta(description="Message.Struct.Field: the only fields of type bytes there may be; any when empty.")
    ] = []
    versions_fallback: Annotated[bool, Meta(description="Without `versions`, taggedVersions count.")] = False
    nullable: Annotated[
        Literal["by-version", "always"], Meta(description="Whether nullableVersions, if given, stand for all versions.")
    ] = "by-version"
    overrides: Annotated[Literal["heeded", "ignored"], Meta(description="The flexibleVersions of a field.")] = "heeded"
    first_flexible: Annotated[bool, Meta(description="All versions from the first flexible one on are flexible.")] = (
        False
    )
    headers: Annotated[
        Literal["derived", "none"],
        Meta(description="Header versions: derived from flexibleVersions, or not its concern."),
    ] = "derived"
    unstable: Annotated[Literal["read", "left-out"], Meta(description="An unstable latest version.")] = "read"
    layouts: Annotated[bool, Meta(description="Whether it makes anything of the fields.")] = True


FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "profiles")
"""The directory of the profiles."""


@cache
def _all() -> tuple[Profile, ...]:
    names = sorted(name for name in os.listdir(FOLDER) if name.endswith(".json"))
    return tuple(read_profile(os.path.join(FOLDER, name)) for name in names)


def profiles(names: Collection[str] | None = None) -> list[Profile]:
    """The profiles in the order of their names, restricted to `names` if set."""
    return [profile for profile in _all() if names is None or profile.name in names]


def read_profile(file: str) -> Profile:
    """Read a profile from its file; raises ValueError for an invalid profile."""
    try:
        return msgspec.json.decode(blank_text(read_text(file)), type=Profile)
    except (ValueError, OSError) as error:
        raise ValueError(f"{file}: {error}") from None
