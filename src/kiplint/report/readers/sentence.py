"""What befalls readers, in a sentence and in groups: hundreds of definitions often have one and the same trouble."""

from __future__ import annotations

from collections.abc import Iterator

from kiplint.runs.readers import Befallen, ReaderRow, ReadersResult
from kiplint.text.words import listed, plural


def sentence(result: ReadersResult) -> str:
    """`This change makes kafka-protocol-rs fail (202 definitions) and kio take the wrong header (95 messages).`"""
    parts = [part for row in result.rows for part in _parts(row)]
    about = f"The change since {result.since}" if result.since else "The set"
    if not parts:
        return f"{about} makes no reader fail or read anything else than Kafka."
    return f"{about} makes {listed(parts)}."


def _parts(row: ReaderRow) -> Iterator[str]:
    said = []
    if row.fails:
        said.append(f"fail ({plural(len(row.fails), 'definition')})")
    for what, verb in (("header", "take the wrong header"), ("layout", "read other bytes")):
        messages = {one.finding.message_name for one in row.misreads if one.reading.what == what}
        if messages:
            said.append(f"{verb} ({plural(len(messages), 'message')})")
    if said:
        yield f"{row.profile.title} {listed(said)}"


def groups(some: tuple[Befallen, ...]) -> list[tuple[str, list[Befallen]]]:
    """What befalls a reader, by what is said of it, the most frequent first."""
    found: dict[str, list[Befallen]] = {}
    for one in some:
        reading = one.reading
        said = reading.why or f"{reading.taken}, not {reading.really}"
        found.setdefault(said, []).append(one)
    return sorted(found.items(), key=lambda pair: -len(pair[1]))


def ignored(row: ReaderRow) -> str:
    """`headerVersions (190), zeroCopy (5)`, and the messages whose latest version is left out."""
    if not row.profile.layouts:
        return f"all but {listed(row.profile.message.properties)}"
    parts = [f"{name} ({count:,})" for name, count in sorted(row.ignores.items(), key=lambda pair: (-pair[1], pair[0]))]
    if row.leaves_out:
        parts.append(f"unstable versions ({len(row.leaves_out):,})")
    return ", ".join(parts)
