"""What a baseline does to a check: recorded findings stay out of its result, and the file is rewritten when asked."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import asdict

from kiplint.commands.check.result import StaleObject
from kiplint.engine.baseline import (
    Baseline,
    BaselineEntry,
    Stale,
    compare,
    extended,
    read_baseline,
    without,
    write_baseline,
)
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding
from kiplint.engine.ruleset import RuleSet
from kiplint.sources.open import STDIN
from kiplint.sources.tree import home_of
from kiplint.text.show import encodable, printable
from kiplint.text.words import plural

MOST_LISTED = 20
UNREAD = ("syntax/", "shape/")  # what such rules find, when it belongs to no message, hides whatever else is wrong


class Asked(NamedTuple):
    """What was asked for: a file, else the configured one, what to do with it, and the sets of the run."""

    file: str
    configured: str
    update: bool
    allow_new: bool
    sets: tuple[str, ...]
    stdin_filename: str


class Held(NamedTuple):
    """The findings that are not recorded, the entries that are paid, and what there is to say of the baseline."""

    findings: tuple[Finding, ...]
    stale: tuple[StaleObject, ...]
    notes: tuple[str, ...]


def hold_against(
    findings: tuple[Finding, ...], everything: tuple[Finding, ...], rules: RuleSet, asked: Asked, tree: str = ""
) -> Held:
    """The findings without what is recorded; `everything` are these and the older ones, whose entries are not stale.

    `tree` is the directory of the configuration; outside its work tree a configured file is not written. An entry is
    stale when this run would have found what it records: when its rule ran, on a file that could be read, and
    everything was checked that the baseline is about. Raises UsageError for options that do not go together, when the
    file cannot be read or written, and when its stale entries should go but not all of it was checked.
    """
    file = _file(asked)
    before = _read(file, asked)
    paths = [asked.stdin_filename or one if one == STDIN else one for one in asked.sets]
    checked = [_shown(path, file) for path in paths]
    missing = [one for one in before.checked if not _covered(one, checked, file)]
    stale = compare(before, everything, (lambda entry: False) if missing else _judge(everything, rules)).stale
    new = compare(before, findings, lambda entry: False).new
    if not asked.update:
        return Held(new, tuple(map(_object, stale)), tuple(_told(file, before, stale)))
    if missing and not asked.allow_new:
        raise UsageError(f"{file} is about {missing[0]} too: nothing can be dropped from it without checking that")
    after, added = without(before, stale), new if asked.allow_new else ()
    if asked.allow_new:
        after, new = extended(after, added, checked), ()
    write_baseline(after, file, None if asked.file else home_of(tree) or tree)
    told = f"{plural(after.total, 'finding')}: {len(added):,} new, {_mended(stale):,} dropped"
    return Held(new, (), (f"{printable(file)} holds {told}",))


def recorded(asked: Asked) -> dict[str, int]:
    """How often each finding is recorded, by fingerprint; raises UsageError as `hold_against` does for the file."""
    return {one.fingerprint: one.count for one in _read(_file(asked), asked).findings}


def _file(asked: Asked) -> str:
    if asked.allow_new and not asked.update:
        raise UsageError("new findings are recorded only in an update of the baseline", kind="allow-new")
    if asked.file:
        return asked.file
    if not asked.configured:
        raise UsageError("no baseline to update: none is named or configured", kind="no-baseline")
    inside = os.path.realpath(asked.configured).startswith(os.path.join(os.getcwd(), ""))
    return os.path.relpath(asked.configured) if inside else asked.configured


def _read(file: str, asked: Asked) -> Baseline:
    found = read_baseline(file)
    if found is not None:
        return found
    if asked.update and asked.allow_new:
        return Baseline()
    kind = "missing-baseline-of-update" if asked.update else "missing-baseline"
    raise UsageError(f"there is no baseline {file}", kind=kind)


def _shown(path: str, file: str) -> str:
    """A path as a baseline names it: relative to the file where it is on disk, else as given."""
    if os.path.lexists(path):
        path = os.path.relpath(os.path.realpath(path), _folder(file)).replace(os.sep, "/")
    return encodable(path)


def _covered(recorded: str, checked: Sequence[str], file: str) -> bool:
    """Whether all is checked that a recorded path has; one that is no longer there has nothing."""
    folder = _folder(file)
    inner, *outer = (os.path.normpath(os.path.join(folder, one)) for one in (recorded, *checked))
    gone = ":" not in recorded and not os.path.lexists(inner)
    return gone or any(inner == one or inner.startswith(os.path.join(one, "")) for one in outer)


def _folder(file: str) -> str:
    return os.path.dirname(os.path.realpath(file))


def _judge(findings: Sequence[Finding], rules: RuleSet) -> Callable[[BaselineEntry], bool]:
    """The test whether a run over everything would have found what an entry records, if it were still there."""
    asleep = {rule.id for rule in rules.known} - {rule.id for rule in rules.rules}
    unread = {_plain(one.path) for one in findings if not one.message_name and one.rule.startswith(UNREAD)}
    return lambda entry: entry.rule not in asleep and _plain(entry.message_name) not in unread


def _plain(name: str) -> str:
    """The name of a message, or of the file that it is in, in one spelling: `fetch_request.json` has FetchRequest."""
    return os.path.basename(name).removesuffix(".json").replace("_", "").lower()


def _told(file: str, baseline: Baseline, stale: Sequence[Stale]) -> Iterator[str]:
    if not stale:
        return
    number = _mended(stale)
    verb, them = ("is", "it") if number == 1 else ("are", "them")
    recorded = plural(baseline.total, "recorded finding")
    yield f"warning: {printable(file)}: {number:,} of {recorded} {verb} stale, --update-baseline drops {them}"
    for one, left in stale[:MOST_LISTED]:
        yield f"  stale: {one.where}" + (f" ({left:,} of {one.count:,} left)" if left else "")
    if len(stale) > MOST_LISTED:
        yield f"  ... and {len(stale) - MOST_LISTED:,} more"


def _object(stale: Stale) -> StaleObject:
    return StaleObject(**asdict(stale.entry), left=stale.left)


def _mended(stale: Sequence[Stale]) -> int:
    return sum(one.entry.count - one.left for one in stale)
