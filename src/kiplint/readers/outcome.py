"""The outcomes of other readers over a set: where each fails, what it misreads, and what it ignores."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kiplint.model.load import Definition
from kiplint.model.message import Message
from kiplint.model.problem import ReadingElement
from kiplint.readers.profile import Profile, Reads, profiles
from kiplint.readers.replay import Failure, replay
from kiplint.readers.views import Misreading, misreadings
from kiplint.text.decode import MAX_BYTES
from kiplint.text.lines import decode_text
from kiplint.versions import VersionRange

if TYPE_CHECKING:
    from kiplint.engine.rule import Rule
    from kiplint.engine.ruleset import Readings


class Outcome(NamedTuple):
    """A reader's outcome for a set: the names of the messages that it reads, and where it fails or misreads.

    `ignored` counts by name the properties that it does not know. `unstable` are the messages whose latest version it
    leaves out.
    """

    profile: Profile
    reads: tuple[str, ...]
    readings: tuple[ReadingElement, ...]
    ignored: dict[str, int]
    unstable: tuple[str, ...]


def outcomes(definitions: Iterable[Definition], names: Collection[str] | None = None) -> Iterator[Outcome]:
    """The outcome of each reader for the definitions of one set; `names` restricts the readers.

    Readers read only the set with requests and responses; a set without any, such as records on disk, has no outcome.
    """
    definitions = tuple(definitions)
    if not any(item.message is None or item.message.is_rpc for item in definitions):
        definitions = ()
    texts = [(item, decode_text(item.data)) for item in definitions if len(item.data) <= MAX_BYTES]
    served = {
        (item.message.api_key, listener) for item, _ in texts if item.message for listener in item.message.listeners
    }
    for profile in profiles(names):
        yield _outcome(profile, [(item, text) for item, text in texts if _is_read(item, profile.reads, served)])


def readings(definitions: Iterable[Definition], names: Collection[str] | None = None) -> list[ReadingElement]:
    """Where readers fail or misread the definitions of one set, as elements for rules."""
    return [reading for outcome in outcomes(definitions, names) for reading in outcome.readings]


def _is_read(definition: Definition, reads: Reads, served: set[tuple[int | None, str]]) -> bool:
    message = definition.message
    stem = definition.file.replace("\\", "/").rpartition("/")[2].rpartition(":")[2].removesuffix(".json")
    name = _name(definition)
    if reads.ending and not stem.endswith(reads.ending):
        return False
    if reads.names and name not in reads.names:
        return False
    if message is None:
        return not reads.types or any(name.lower().endswith(kind) for kind in reads.types)
    if (reads.types and message.type not in reads.types) or (message.is_dead and not reads.dead):
        return False
    return not reads.listener or (message.api_key, reads.listener) in served


def _outcome(profile: Profile, read: list[tuple[Definition, str]]) -> Outcome:
    readings: list[ReadingElement] = []
    ignored: dict[str, int] = {}
    unstable: list[str] = []
    reads: list[str] = []
    for definition, text in read:
        taken = replay(text, profile)
        if taken is None:
            continue
        reads.append(_name(definition))
        if isinstance(taken, Failure):
            readings.append(_failed(definition, taken, profile, text))
            continue
        for pointer in taken.ignored:
            name = _plain(pointer.rpartition("/")[2])
            ignored[name] = ignored.get(name, 0) + 1
        message = definition.message
        if message:
            readings += (_misread(message, misread, profile) for misread in misreadings(message, taken.value, profile))
            if profile.unstable == "left-out" and message.unstable:
                unstable.append(message.name)
    return Outcome(profile, tuple(reads), tuple(readings), ignored, tuple(unstable))


def _failed(definition: Definition, failure: Failure, profile: Profile, text: str) -> ReadingElement:
    name = _name(definition)
    start, end = _character(text, failure.offset)
    why = _plain(failure.why)
    text = f"{profile.title} fails, {profile.fails}: {why}"
    pointer = _plain(failure.pointer)
    return ReadingElement(profile.name, "fails", text, definition.file, name, pointer, start, end, why=why)


def _name(definition: Definition) -> str:
    return definition.message.name if definition.message else definition.likely_names[-1]


def _plain(text: str) -> str:
    """The text with a question mark for each lone surrogate, which JSON can escape, and UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode()


def _character(text: str, offset: int) -> tuple[int, int]:
    """The span of the character at an offset; where a line or the text ends there, of the last character before it."""
    if offset < 0 or not text:
        return -1, -1
    at = min(offset, len(text) - 1)
    while at and text[at] in "\r\n":
        at -= 1
    return at, at + 1


def _misread(message: Message, misread: Misreading, profile: Profile) -> ReadingElement:
    misread = misread._replace(really=_plain(misread.really), taken=_plain(misread.taken))
    versions = f"version {misread.versions}" if _single(misread.versions) else f"versions {misread.versions}"
    text = f"{profile.title} takes {versions} of {message.name} to have {misread.taken}, not {misread.really}"
    return ReadingElement(
        profile.name, "misreads", _plain(text), message.file, message.name, misread.pointer,
        what=misread.what, versions=str(misread.versions), really=misread.really, taken=misread.taken,
    )  # fmt: skip


def _single(versions: VersionRange) -> bool:
    return versions.lowest == versions.highest


PACK = "readers"
"""The pack whose rules have the names of the readers that they are about."""


def readings_of(*rules: Rule) -> Readings | None:
    """A function that returns the readings that rules are about; None without such rules."""
    about = [rule for rule in rules if rule.each == "reading"]
    if not about:
        return None
    names = None if any(rule.pack != PACK for rule in about) else frozenset(rule.spec.id for rule in about)

    def read(definitions: Sequence[Definition]) -> Iterable[ReadingElement]:
        return readings(definitions, names)

    return read
