"""An RPC: the request and the response of one schema set that have the same API key."""

from __future__ import annotations

from kiplint.model.fact import fact
from kiplint.model.message import Message
from kiplint.versions import NONE, VersionRange

FROZEN = {"SaslHandshake": VersionRange.of(0, 1)}
"""By RPC: the versions beyond which it must never be bumped (KIP-1313, KAFKA-9577)."""


class Rpc:
    """The pair, or the half that is there. Coordinator keys and values pair in the same way."""

    def __init__(self, api_key: int, request: Message | None, response: Message | None, *, partial: bool) -> None:
        self._api_key = api_key
        self._request = request
        self._response = response
        self._partial = partial

    @fact
    def api_key(self) -> int:
        """The API key."""
        return self._api_key

    @fact
    def request(self) -> Message | None:
        """The request (or coordinator key), None when the set has none."""
        return self._request

    @fact
    def response(self) -> Message | None:
        """The response (or coordinator value), None when the set has none."""
        return self._response

    @fact
    def is_pair(self) -> bool:
        """Whether both halves are there."""
        return self._request is not None and self._response is not None

    @fact
    def is_coordinator(self) -> bool:
        """Whether the pair is a coordinator record's key and value, no RPC."""
        half = self._request or self._response
        return half is not None and half.type.startswith("coordinator")

    @fact
    def may_be_partial(self) -> bool:
        """Whether a missing half means nothing: the set is one lone file, or the half may be in an unread one."""
        return self._partial

    @fact
    def name(self) -> str:
        """The name without Request or Response (Key or Value)."""
        half = self._request or self._response
        return half.base_name if half else ""

    @fact
    def is_dead(self) -> bool:
        """Whether no half has a valid version left."""
        return not any(half.valid for half in (self._request, self._response) if half)

    @fact
    def lagging(self) -> Message | None:
        """The half whose versions end lower; the response when both end alike; None unless both are there."""
        if self._request is None or self._response is None:
            return None
        return self._request if self._request.valid.highest < self._response.valid.highest else self._response

    @fact
    def says_versions(self) -> bool:
        """Whether the valid versions of both halves that are there can be read, and have an end."""
        return not any(half.valid_problem or half.valid.open for half in (self._request, self._response) if half)

    @fact
    def namesake(self) -> Message | None:
        """For one half: the other one by name, where it has another API key; else None."""
        half = None if self.is_pair else self._request or self._response
        return half.schemas.partner_of(half) if half else None

    @fact
    def common(self) -> VersionRange:
        """The versions that are valid in both halves."""
        return self._request.valid & self._response.valid if self._request and self._response else NONE

    @fact
    def has_suffixes(self) -> bool:
        """Whether both halves have the suffix that their type asks for."""
        return all(half is not None and half.name.endswith(half.suffix) for half in (self._request, self._response))

    @fact
    def says_flexible(self) -> bool:
        """Whether both halves are there and give flexible versions that can be read."""
        halves = (self._request, self._response)
        return all(half is not None and half.says_flexible and not half.flexible_problem for half in halves)
