"""What changed between two versions of one message as a whole: versions, key, type, headers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kiplint.compat.changes.attributes import compare_attributes
from kiplint.compat.changes.change import Change, Place
from kiplint.compat.changes.fields import Context, compare_fields
from kiplint.compat.changes.slots import shown_layout
from kiplint.compat.limits import Budget
from kiplint.model.header_map import header_of
from kiplint.model.layout import layout, tokens
from kiplint.model.message import Message
from kiplint.model.notes import is_in_flux
from kiplint.versions import NONE, VersionRange, boundaries


def released_versions(old: Message) -> VersionRange:
    """The versions that are out: all that the base has, without its highest while that is unstable."""
    return old.valid - VersionRange.of(old.valid.highest, old.valid.highest) if old.unstable else old.valid


def compare_messages(old: Message, new: Message, *, old_unstable: bool = False) -> Iterator[Change]:
    """All changes of a message that both sets have. `old_unstable` says that its request's latest version is."""
    context = Context(old, new, is_in_flux(old.data))
    for side in (old, new):
        Budget(side).spend(side)
    if _was_version(old, new):
        yield from _moved_type(context)
        return
    unstable = old.unstable or old_unstable
    released = old.valid - VersionRange.of(old.valid.highest, old.valid.highest) if unstable else old.valid
    common = released & new.valid
    yield from _identity(context)
    yield from _versions(context, released)
    yield from _flexible(context, common)
    yield from compare_fields(context, common)
    yield from compare_attributes(context, old, new, released, set())
    if new.is_rpc and old.is_rpc:
        yield from _headers(context, common)


def _flexible(context: Context, common: VersionRange) -> Iterator[Change]:
    old, new = context.old, context.new
    moves = ((new.flexible - old.flexible, "flexible now"), (old.flexible - new.flexible, "flexible no more"))
    for moved, now in moves:
        if versions := moved & common:
            proof = [
                {"flexibleVersions": str(side.flexible), "layout": shown_layout(body, empty_tags=True)}
                for side, body in ((side, layout(side, versions.lowest)) for side in (old, new))
            ]
            said = f"{named(versions)} {_verb(versions, 'is', 'are')} {now}"
            yield _of_message(context, "flexible-changed", versions, said, "flexibleVersions", *proof)


def named(versions: VersionRange) -> str:
    """`version 3`, `versions 0-2`."""
    return f"{_verb(versions, 'version', 'versions')} {versions}"


def _verb(versions: VersionRange, one: str, several: str) -> str:
    return one if versions.lowest == versions.highest else several


def _was_version(old: Message, new: Message) -> bool:
    """Whether the number of a coordinator's record type was the key's version and is its API key now (KAFKA-17593).

    On disk the number stands in the same place, in front of the key.
    """
    number = new.api_key
    return new.type == "coordinator-key" and old.type == "data" and number is not None and old.valid.covers(number)


def _moved_type(context: Context) -> Iterator[Change]:
    old, new = context.old, context.new
    number = new.api_key or 0
    before, after = layout(old, number), layout(new, new.valid.lowest)
    proof = ({"layout": shown_layout(before)}, {"layout": shown_layout(after)})
    said = f"record type {number} was the key's version, and is its API key now"
    yield _of_message(context, "record-type-moved", VersionRange.of(number, number), said, "apiKey", *proof)
    if tokens(before) != tokens(after):
        said = f"the key of record type {number} has other bytes"
        yield _of_message(context, "layout-changed", VersionRange.of(number, number), said, "fields", *proof)


def _identity(context: Context) -> Iterator[Change]:
    old, new = context.old, context.new
    if old.name != new.name:
        said = f"{old.name} is called {new.name} now"
        yield _of_message(context, "message-renamed", new.valid, said, "name", {"name": old.name}, {"name": new.name})
    if old.type != new.type and not (old.is_record and new.is_record):
        said = f"{new.name} was of type {old.type} and is of type {new.type}"
        yield _of_message(context, "type-changed", old.valid, said, "type", {"type": old.type}, {"type": new.type})
    if old.api_key is not None and old.api_key != new.api_key:
        said = f"the API key was {old.api_key} and is {'gone' if new.api_key is None else new.api_key}"
        keys = ({"apiKey": old.api_key}, {"apiKey": new.api_key})
        yield _of_message(context, "api-key-changed", old.valid, said, "apiKey", *keys)


def _versions(context: Context, released: VersionRange) -> Iterator[Change]:
    old, new = context.old, context.new
    ranges = ({"validVersions": str(old.valid)}, {"validVersions": str(new.valid)})
    dropped = released - new.valid
    if dropped:
        said = f"{named(dropped)} {_verb(dropped, 'is', 'are')} no longer valid"
        yield _of_message(context, "version-dropped", dropped, said, "validVersions", *ranges)
    added = new.valid - old.valid
    back = added & VersionRange.of(0, old.valid.highest)
    for one, what in ((back, "valid again"), (added - back, "new")):
        if one:
            said = f"{named(one)} {_verb(one, 'is', 'are')} {what}"
            yield _of_message(context, "new-version", one, said, "validVersions", *ranges)
    skipped = VersionRange.of(old.valid.highest + 1, new.valid.lowest - 1) if old.valid and new.valid else NONE
    if skipped:
        said = f"{named(skipped)} {_verb(skipped, 'was', 'were')} never valid: the new ones start at {new.valid.lowest}"
        yield _of_message(context, "gap-in-versions", skipped, said, "validVersions", *ranges)
    if new.unstable and not old.unstable and old.valid.highest >= new.valid.highest and old.valid:
        said = f"version {new.valid.highest} is released, and cannot become unstable again"
        latest = VersionRange.of(new.valid.highest, new.valid.highest)
        yield _of_message(context, "released-unstable", latest, said, "latestVersionUnstable")


def _headers(context: Context, common: VersionRange) -> Iterator[Change]:
    old, new = context.old, context.new
    entries = [entry.versions for side in (old, new) for entry in side.header_ranges]
    for piece in boundaries([old.flexible, new.flexible, VersionRange.of(0, 0), *entries], common):
        was, now = header_of(old, piece.lowest), header_of(new, piece.lowest)
        derived = not old.says_headers and not new.says_headers
        if was != now and min(was, now) >= 0 and not derived:
            said = f"{named(piece)} had {old.type} header {was} and {_verb(piece, 'has', 'have')} {now}"
            headers = ({"header": was}, {"header": now})
            yield _of_message(context, "header-changed", piece, said, "headerVersions", *headers)


def _of_message(
    context: Context,
    name: str,
    versions: VersionRange,
    detail: str,
    wanted: str,
    old: Mapping[str, object] | None = None,
    new: Mapping[str, object] | None = None,
) -> Change:
    return Change(
        name,
        name,
        context.new,
        versions=versions,
        detail=detail,
        old=old,
        new=new,
        place=Place(context.new.file, "", wanted),
        before=Place(context.old.file, "", wanted),
        early=context.early,
    )
