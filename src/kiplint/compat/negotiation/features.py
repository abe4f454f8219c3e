"""Features of a client, and the RPC versions they need: the scenario of KIP-35, "A client developer wants to add
support for a new feature".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from kiplint.compat.negotiation.result import FeatureRpc, FeatureUse
from kiplint.compat.negotiation.rows import usable_range
from kiplint.compat.negotiation.sides import Side
from kiplint.engine.errors import UsageError
from kiplint.text.suggest import did_you_mean
from kiplint.versions import InvalidRange, VersionRange

Needs = Mapping[str, VersionRange]
"""The versions that a feature can work with, by the name of an RPC or its API key."""

SHAPE = 'write {"feature": {"Fetch": "4-11", "Produce": "3+"}}'


def read_features(file: str, data: bytes) -> dict[str, Needs]:
    """The features of a file, JSON, JSON5 or (by its name) TOML; raises UsageError that says what to write."""
    try:
        found = _parse(file, data.decode())
    except UnicodeDecodeError:
        raise UsageError(f"{file}: it is not UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file}: cannot be read: {str(error) or 'it is nested too deeply'}") from None
    if not isinstance(found, dict) or not found:
        raise UsageError(f"{file}: it names no feature; {SHAPE}")
    return {str(name): _needs(file, str(name), needs) for name, needs in found.items()}


def use_of(name: str, needs: Needs, client: Side, brokers: Sequence[Side]) -> FeatureUse:
    """Whether the feature is usable: client and all brokers share, for every RPC, a version that it can work with."""
    rpcs = tuple(_judge_rpc(rpc, versions, client, brokers) for rpc, versions in needs.items())
    return FeatureUse(name, all(one.version is not None for one in rpcs), rpcs)


def _judge_rpc(name: str, needed: VersionRange, client: Side, brokers: Sequence[Side]) -> FeatureRpc:
    sides = (client, *brokers)
    names = {offer.name: key for side in reversed(sides) for key, offer in side.rpcs.items()}
    key = names.get(name, names.get(name.removesuffix("Request")))
    if key is None and re.fullmatch("[0-9]{1,5}", name):
        key = int(name)
    if key is None or not any(key in side.rpcs for side in sides):
        return FeatureRpc(name, str(needed), None, None, f"neither side has {name}{did_you_mean(name, names)}")
    usable = usable_range(key, client, brokers)
    shared = needed & usable if usable else None
    if shared:
        return FeatureRpc(name, str(needed), str(usable), shared.highest)
    lacking = [text for side in sides if (text := _lacking(key, needed, side, side is client))]
    message = "; ".join(lacking) or f"together they have {usable if usable else 'no version'}"
    return FeatureRpc(name, str(needed), None if usable is None else str(usable), None, message)


def _lacking(key: int, needed: VersionRange, side: Side, is_client: bool) -> str:
    offer = side.offers.get(key)
    if offer and offer.versions & needed:
        return ""
    return f"{'the client' if is_client else side.name} has {offer.versions if offer else 'none of it'}"


def _parse(file: str, text: str) -> object:
    if file.endswith(".toml"):
        import tomllib

        return tomllib.loads(text)
    import json

    try:
        return json.loads(text)
    except ValueError:
        import json5

        value: object = json5.loads(text)
        return value


def _needs(file: str, feature: str, needs: object) -> Needs:
    if not isinstance(needs, dict) or not needs:
        raise UsageError(f"{file}: {feature} names no RPC; {SHAPE}")
    return {str(rpc): _range(f"{file}: {feature}: {rpc}", text) for rpc, text in needs.items()}


def _range(place: str, text: object) -> VersionRange:
    if isinstance(text, int) and not isinstance(text, bool):
        text = str(text)
    if not isinstance(text, str):
        raise UsageError(f'{place}: not a version range; write "3", "0-2" or "3+"')
    try:
        return VersionRange.parse(text)
    except InvalidRange as error:
        raise UsageError(f'{place}: "{text}" {error}; write "3", "0-2" or "3+"') from None
