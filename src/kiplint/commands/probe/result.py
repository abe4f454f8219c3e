"""The answers of brokers as JSON; the fields are stable, and only ever added to."""

from __future__ import annotations

from typing import Any

import msgspec

from kiplint.codec.exchange import problem_rows
from kiplint.commands.probe.broker import Broker
from kiplint.commands.probe.run import ProbeResult


def document(result: ProbeResult) -> dict[str, Any]:
    """What `kiplint probe --output-format json` writes."""
    failed = sum(one.error is not None for one in result.brokers)
    return {
        "version": 1,
        "brokers": [_broker(one) for one in result.brokers],
        "summary": {"brokers": len(result.brokers), "failed": failed},
    }


def _broker(one: Broker) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(one)
    return found | {"problems": problem_rows(one.problems)}
