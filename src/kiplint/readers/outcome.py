"""A set as readers take it: by reader and definition, what fails, what is taken for something else, what is ignored."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kiplint.model.load import Definition
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
    """What a reader makes of a set: how many definitions it reads, what befalls it, and how often it ignores what.

    `ignored` counts by name the properties that it does not know, and `unstable` are the messages whose latest version
    it leaves out.
    """

    profile: Profile
    reads: int
    readings: tuple[ReadingElement, ...]
    ignored: dict[str, int]
    unstable: tuple[str, ...]


def outcomes(definitions: Iterable[Definition], names: Collection[str] | None = None) -> Iterator[Outcome]:
    """What each reader makes of the definitions of one set; only the readers of these `names`, if given.

    They read the set with the requests and responses; of one that has none, such as records on disk, they know nothing.
    """
    definitions = tuple(definitions)
    if not any(one.message is None or one.message.is_rpc for one in definitions):
        definitions = ()
    texts = [(one, decode_text(one.data)) for one in definitions if len(one.data) <= MAX_BYTES]
    served = {(one.message.api_key, listener) for one, _ in texts if one.message for listener in one.message.listeners}
    for profile in profiles(names):
        yield _outcome(profile, [(one, text) for one, text in texts if _is_read(one, profile.reads, served)])


def readings(definitions: Iterable[Definition], names: Collection[str] | None = None) -> list[ReadingElement]:
    """What befalls the readers at definitions of one set, as elements that rules judge."""
    return [reading for outcome in outcomes(definitions, names) for reading in outcome.readings]


def _is_read(one: Definition, reads: Reads, served: set[tuple[int | None, str]]) -> bool:
    message = one.message
    stem = one.file.replace("\\", "/").rpartition("/")[2].rpartition(":")[2].removesuffix(".json")
    name = message.name if message else one.likely_names[-1]
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
    found: list[ReadingElement] = []
    ignored: dict[str, int] = {}
    unstable: list[str] = []
    reads = 0
    for one, text in read:
        taken = replay(text, profile)
        if taken is None:
            continue
        reads += 1
        if isinstance(taken, Failure):
            found.append(_failed(one, taken, profile, text))
            continue
        for pointer in taken.ignored:
            name = _plain(pointer.rpartition("/")[2])
            ignored[name] = ignored.get(name, 0) + 1
        if one.message:
            found += (_misread(one, misread, profile) for misread in misreadings(one.message, taken.value, profile))
            if profile.unstable == "left-out" and one.message.unstable:
                unstable.append(one.message.name)
    return Outcome(profile, reads, tuple(found), ignored, tuple(unstable))


def _failed(one: Definition, failure: Failure, profile: Profile, text: str) -> ReadingElement:
    name = one.message.name if one.message else one.likely_names[-1]
    start, end = _character(text, failure.offset)
    why = _plain(failure.why)
    said = f"{profile.title} fails, {profile.fails}: {why}"
    return ReadingElement(profile.name, "fails", said, one.file, name, _plain(failure.pointer), start, end, why=why)


def _plain(text: str) -> str:
    """The text with a question mark for each half of a surrogate pair, which can be written in JSON, but not shown."""
    return text.encode("utf-8", "replace").decode()


def _character(text: str, offset: int) -> tuple[int, int]:
    """The character to point to: the one at an offset, or the last before it where a line or the text ends there."""
    if offset < 0 or not text:
        return -1, -1
    at = min(offset, len(text) - 1)
    while at and text[at] in "\r\n":
        at -= 1
    return at, at + 1


def _misread(one: Definition, misread: Misreading, profile: Profile) -> ReadingElement:
    assert one.message is not None
    misread = misread._replace(really=_plain(misread.really), taken=_plain(misread.taken))
    versions = f"version {misread.versions}" if _single(misread.versions) else f"versions {misread.versions}"
    said = f"{profile.title} takes {versions} of {one.message.name} to have {misread.taken}, not {misread.really}"
    return ReadingElement(
        profile.name, "misreads", _plain(said), one.file, one.message.name, misread.pointer,
        what=misread.what, versions=str(misread.versions), really=misread.really, taken=misread.taken,
    )  # fmt: skip


def _single(versions: VersionRange) -> bool:
    return versions.lowest == versions.highest


PACK = "readers"
"""The pack whose rules are called like the readers that they are about."""


def readings_of(*rules: Rule) -> Readings | None:
    """What befalls the readers that rules are about; None where none is about any."""
    about = [rule for rule in rules if rule.each == "reading"]
    if not about:
        return None
    names = None if any(rule.pack != PACK for rule in about) else frozenset(rule.spec.id for rule in about)

    def read(definitions: Sequence[Definition]) -> Iterable[ReadingElement]:
        return readings(definitions, names)

    return read
