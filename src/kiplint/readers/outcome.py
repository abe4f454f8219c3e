"""The outcomes of other readers over a set: where each fails, what it misreads, and what it ignores."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kiplint.engine.errors import UsageError
from kiplint.limits import DEFINITION_BYTES, UNFOLDED_FIELDS, UNFOLDED_LEVELS
from kiplint.model.headers import header_of
from kiplint.model.layout import Layout, layout, lines, ranges_of, tokens, unfolded
from kiplint.model.load import Definition, load
from kiplint.model.message import Message
from kiplint.model.problem import ReadingElement
from kiplint.readers.profile import Profile, Reads, profiles
from kiplint.readers.replay import Failure, Object, objects_in, replay
from kiplint.text.lines import decode_text
from kiplint.versions import VersionRange, boundaries

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


class Accepted(NamedTuple):
    """A definition that a reader accepts: the JSON pointers of what it ignores, and what it misreads."""

    ignored: Sequence[str]
    misread: tuple[Misreading, ...]


Known = dict[tuple[str, str], Accepted | Failure | None]
"""By the name of a reader and the text of a definition; None for a definition that it skips because of its API key."""


def outcomes(
    definitions: Iterable[Definition], names: Collection[str] | None = None, known: Known | None = None
) -> Iterator[Outcome]:
    """The outcome of each reader for the definitions of one set; `names` restricts the readers.

    Readers read only the set with requests and responses; a set without any, such as records on disk, has no outcome.
    Pass the same `known` for several sets, and a definition that they share is replayed once.
    """
    known = {} if known is None else known
    definitions = tuple(definitions)
    if not any(item.message is None or item.message.is_rpc for item in definitions):
        definitions = ()
    texts = [(item, decode_text(item.data)) for item in definitions if len(item.data) <= DEFINITION_BYTES]
    served = {
        (item.message.api_key, listener) for item, _ in texts if item.message for listener in item.message.listeners
    }
    for profile in profiles(names):
        read = [(item, text) for item, text in texts if _is_read(item, profile.reads, served)]
        yield _outcome(profile, read, known)


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


def _outcome(profile: Profile, read: list[tuple[Definition, str]], known: Known) -> Outcome:
    readings: list[ReadingElement] = []
    ignored: dict[str, int] = {}
    unstable: list[str] = []
    reads: list[str] = []
    for definition, text in read:
        message = definition.message
        if (profile.name, text) not in known:
            known[profile.name, text] = _accepted(message, text, profile)
        taken = known[profile.name, text]
        if taken is None:
            continue
        reads.append(_name(definition))
        if isinstance(taken, Failure):
            readings.append(_failed(definition, taken, profile, text))
            continue
        for pointer in taken.ignored:
            name = _plain(pointer.rpartition("/")[2])
            ignored[name] = ignored.get(name, 0) + 1
        if message:
            readings += (_misread(message, misreading, profile) for misreading in taken.misread)
            if profile.unstable == "left-out" and message.unstable:
                unstable.append(message.name)
    return Outcome(profile, tuple(reads), tuple(readings), ignored, tuple(unstable))


def _accepted(message: Message | None, text: str, profile: Profile) -> Accepted | Failure | None:
    taken = replay(text, profile)
    if taken is None or isinstance(taken, Failure):
        return taken
    return Accepted(taken.ignored, tuple(misreadings(message, taken.value, profile)) if message else ())


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
    plural = "" if misread.versions.lowest == misread.versions.highest else "s"
    versions = f"version{plural} {misread.versions}"
    text = f"{profile.title} takes {versions} of {message.name} to have {misread.taken}, not {misread.really}"
    return ReadingElement(
        profile.name, "misreads", _plain(text), message.file, message.name, misread.pointer,
        what=misread.what, versions=str(misread.versions), really=misread.really, taken=misread.taken,
    )  # fmt: skip


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


class Misreading(NamedTuple):
    """Versions that a reader misreads: what they really have, what the reader takes them to have, and the pointer.

    `what` is `header` or `layout`.
    """

    what: str
    versions: VersionRange
    really: str
    taken: str
    pointer: str


def misreadings(message: Message, value: Object, profile: Profile) -> Iterator[Misreading]:
    """The misreadings of a message by a reader, from the object that it parsed."""
    if not profile.layouts:
        return
    try:
        written = json.dumps(_view(value, profile))  # which escapes halves of surrogate pairs, and takes any number
    except RecursionError:
        return
    view = load(message.file, written.encode()).message
    if view is None:
        return
    if profile.headers == "derived" and message.is_rpc:
        yield from _headers(message, view)
    yield from _layouts(message, view, profile)


def _headers(message: Message, view: Message) -> Iterator[Misreading]:
    if not message.declares_headers:
        return
    ranges = [view.flexible, VersionRange.of(0, 0), *(entry.versions for entry in message.header_ranges)]
    misread: list[Misreading] = []
    for piece in boundaries(ranges, message.valid):
        really, taken = header_of(message, piece.lowest), header_of(view, piece.lowest)
        if really in (taken, -1):
            continue
        texts = (f"{message.type} header {really}", f"{message.type} header {taken}")
        if misread and misread[-1][2:4] == texts:
            misread[-1] = misread[-1]._replace(versions=misread[-1].versions | piece)
        else:
            misread.append(Misreading("header", piece, *texts, "/headerVersions"))
    yield from misread


def _layouts(message: Message, view: Message, profile: Profile) -> Iterator[Misreading]:
    """The ranges of versions that have other bytes for the reader, each with the first difference."""
    sides = (message, view)
    ranges = [versions for side in sides for part in (side, *side.structs) for versions in ranges_of(part)]
    ranges += [message.flexible, view.flexible]
    misread: list[Misreading] = []
    pieces = list(boundaries(ranges, message.valid & view.valid))
    _require_small(message, len(pieces))
    _require_small(view, len(pieces))
    for piece in pieces:
        bodies = [layout(side, piece.lowest) for side in sides]
        if _same(bodies[0], bodies[1], profile):
            continue
        really, taken, name = _difference(bodies[0], bodies[1])
        if misread and (misread[-1].really, misread[-1].taken) == (really, taken):
            misread[-1] = misread[-1]._replace(versions=misread[-1].versions | piece)
        else:
            pointer = next((field.pointer for field in message.all_fields if field.name == name), "/fields")
            misread.append(Misreading("layout", piece, really, taken, pointer))
    yield from misread


def _require_small(message: Message, times: int) -> None:
    """Raise UsageError where so many layouts of a message unfold into too many fields, or too deep."""
    fields, depth = unfolded(message, UNFOLDED_FIELDS // max(times, 1))
    for limit, number in ((UNFOLDED_FIELDS, fields * times), (UNFOLDED_LEVELS, depth)):
        if number > limit:
            raise UsageError(limit.exceeded(f"{message.file}: the message"))


def _same(real: Layout, view: Layout, profile: Profile) -> bool:
    if tokens(real) != tokens(view):
        return False
    if profile.tags.fields == "skipped" or real.tags is None or view.tags is None:
        return True
    return list(lines(real)) == list(lines(view))


def _difference(real: Layout, view: Layout) -> tuple[str, str, str]:
    """The first difference in words, on both sides, and the name of its field."""
    really, taken = list(lines(real)), list(lines(view))
    at = next((n for n, (a, b) in enumerate(zip(really, taken, strict=False)) if a != b), min(len(really), len(taken)))
    names = [rows[at][1] if at < len(rows) else "" for rows in (really, taken)]
    texts = [f"{rows[at][1]} {rows[at][2]}" if at < len(rows) else "the end" for rows in (really, taken)]
    return texts[0], texts[1], names[0].rpartition(" ")[2] or names[1].rpartition(" ")[2]


def _view(value: Object, profile: Profile) -> Object:
    """The definition from which Kafka would derive what the reader derives."""
    view = {name: item for name, item in value.items() if name in profile.message.properties}
    view |= {name: value[name] for name in ("name", "type", "validVersions") if name in value}
    if profile.headers == "derived":
        view.pop("headerVersions", None)
    if profile.first_flexible and isinstance(view.get("flexibleVersions"), str) and view["flexibleVersions"] != "none":
        view["flexibleVersions"] = view["flexibleVersions"].partition("-")[0].rstrip("+") + "+"
    if "fields" in value:
        view["fields"] = _fields(value, profile)
    if view.get("commonStructs"):
        structs = objects_in(view, "commonStructs")
        view["commonStructs"] = [{**struct, "fields": _fields(struct, profile)} for _, struct in structs]
    return view


def _fields(owner: Object, profile: Profile) -> list[Object]:
    kept = []
    for _, field in objects_in(owner, "fields"):
        tag = field.get("tag")
        lost = isinstance(tag, str) and profile.tags.as_text == "field-lost"
        if not lost and (tag is None or profile.tags.fields == "read"):
            kept.append(_field(field, profile))
    return kept


def _field(field: Object, profile: Profile) -> Object:
    assert profile.field is not None
    view = {name: value for name, value in field.items() if name in profile.field.properties}
    if "versions" not in view and "taggedVersions" in view:
        view["versions"] = view["taggedVersions"]
    if isinstance(view.get("tag"), str) and profile.tags.as_text == "tag-lost":
        del view["tag"]
        view.pop("taggedVersions", None)
    if profile.overrides == "ignored":
        view.pop("flexibleVersions", None)
    alone = isinstance(field.get("type"), str) and field["type"][:1].isupper()
    if profile.nullable == "always" and alone and view.get("nullableVersions", "none") != "none":
        view["nullableVersions"] = view.get("versions", "0+")
    if "fields" in field:
        view["fields"] = _fields(field, profile)
    return view
