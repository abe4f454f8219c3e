"""Requests and responses: a half that lags behind, and an API key that is taken."""

from __future__ import annotations

from typing import Final

from kiplint.engine.finding import Fix
from kiplint.fixes.mend import Case, as_json
from kiplint.model.message import Message
from kiplint.model.rpc import FROZEN, Rpc
from kiplint.text.edit_insert import replace_value
from kiplint.versions import VersionRange

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
    return case.unsafe([replace_value(case.document, node, as_json(str(VersionRange.of(half.valid.lowest, highest))))])


def next_api_key(case: Case) -> Fix | None:
    """The API key after all that the set has; the other half of a copied RPC is given the same."""
    message = case.breach.element
    node = case.node
    if not isinstance(message, Message) or node is None or node.key != "apiKey":
        return None
    halves = next((pair for pair in _PAIRS if message.type in pair), (message.type,))
    keys = [one.api_key for one in message.schemas.messages if one.type in halves and one.api_key is not None]
    return case.unsafe([replace_value(case.document, node, str(max(keys) + 1))])
