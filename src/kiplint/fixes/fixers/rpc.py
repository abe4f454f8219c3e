"""Requests and responses: a half that lags behind, one that must not change, and an API key that is taken."""

from __future__ import annotations

from typing import Final

from kiplint.engine.finding import Fix
from kiplint.fixes.header_maps import map_text
from kiplint.fixes.mend import Case, as_json
from kiplint.fixes.version_notes import note_edit
from kiplint.model.header_map import derived_map
from kiplint.model.message import Message
from kiplint.model.rpc import FROZEN, Rpc
from kiplint.text.edit_insert import replace_value
from kiplint.versions import NONE, VersionRange

_PAIRS: Final = (("request", "response"), ("coordinator-key", "coordinator-value"))


def lagging_half(case: Case) -> Fix | None:
    """Let the half whose versions end first go as far as the other."""
    rpc = case.breach.element
    node = case.node
    half = rpc.lagging if isinstance(rpc, Rpc) and rpc.name not in FROZEN else None
    if half is None or node is None or node.key != "validVersions" or half.file != case.file or not half.valid:
        return None
    highest = max(one.valid.highest for one in (rpc.request, rpc.response) if one)
    if highest <= half.valid.highest or len(half.valid.parts) > 1:
        return None
    edits = [replace_value(case.document, node, as_json(str(VersionRange.of(half.valid.lowest, highest))))]
    missing = VersionRange.of(half.valid.highest + 1, highest)
    words = f"Versions {missing.lowest} to {highest} come" if missing.lowest < highest else f"Version {highest} comes"
    note = note_edit(case.document, f"{words} with the {'response' if half is rpc.request else 'request'}.")
    return case.unsafe([*edits, note] if note else edits)


def frozen(case: Case) -> Fix | None:
    """The versions that a frozen request or response has, none of them flexible, and the header that it has."""
    message = case.breach.element
    if not isinstance(message, Message) or message.base_name not in FROZEN:
        return None
    versions = FROZEN[message.base_name]
    wanted = {"validVersions": as_json(str(versions)), "flexibleVersions": '"none"'}
    if message.says_headers:
        wanted["headerVersions"] = map_text(derived_map(message, NONE), case.document.indent_unit)
    edits = []
    for key, value in wanted.items():
        node = case.document.find(f"/{key}")
        if node is not None and node.key is not None:
            inner = value.replace("\n", "\n" + case.document.indent(node.key_start))
            edits.append(replace_value(case.document, node, inner))
    return case.unsafe(edits)


def next_api_key(case: Case) -> Fix | None:
    """The API key after all that the set has; the other half of a copied RPC is given the same."""
    message = case.breach.element
    node = case.node
    if not isinstance(message, Message) or node is None or node.key != "apiKey":
        return None
    halves = next((pair for pair in _PAIRS if message.type in pair), (message.type,))
    keys = [one.api_key for one in message.schemas.messages if one.type in halves and one.api_key is not None]
    return case.unsafe([replace_value(case.document, node, str(max(keys) + 1))])
