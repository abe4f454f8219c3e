"""Where the missing half of an RPC is: often in the next directory, which is a set of its own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from kiplint.engine.finding import Finding
from kiplint.text.show import printable

MISSING: Final = frozenset({"rpc/request-missing", "rpc/response-missing", "rpc/coordinator-pair-missing"})
OTHER: Final = {"Request": "Response", "Response": "Request", "Key": "Value", "Value": "Key"}


def located(findings: tuple[Finding, ...], paths: Iterable[str]) -> tuple[Finding, ...]:
    """The findings; one about a missing half says which of the files, or of those in directories beside, has it."""
    if not any(one.rule in MISSING for one in findings):
        return findings
    known: dict[str, str] = {}
    for path in paths:
        known.setdefault(os.path.basename(path), path)
    return tuple(_located(one, known) if one.rule in MISSING else one for one in findings)


def _located(one: Finding, known: dict[str, str]) -> Finding:
    suffix = next((word for word in OTHER if one.message_name.endswith(word)), "")
    file = f"{one.message_name.removesuffix(suffix)}{OTHER.get(suffix, '')}.json"
    place = (known.get(file) or next(_beside(one.path, file), "")) if suffix else ""
    if not place or os.path.dirname(place) == os.path.dirname(one.path):
        return one
    said = f"{one.message}; {printable(file.removesuffix('.json'))} is in {printable(place)}, which is another set"
    return replace(one, message=said)


def _beside(path: str, file: str) -> Iterator[str]:
    """The files of that name in the directories beside a file's own, and above and below it."""
    folder = os.path.dirname(path) or os.curdir
    for place in (os.path.dirname(folder) or os.curdir if folder != os.curdir else os.pardir, folder):
        try:
            names = sorted(os.listdir(place))
        except OSError:
            continue
        for name in (os.curdir, *names):
            found = os.path.normpath(os.path.join(place, name, file))
            if os.path.isfile(found):
                yield found
