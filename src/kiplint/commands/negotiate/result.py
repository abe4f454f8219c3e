"""The JSON document of negotiate: the result itself; fields are stable, and only ever added to."""

from __future__ import annotations

from kiplint.commands.negotiate.run import NegotiationResult
from kiplint.compat.negotiation.result import Negotiation

DOCUMENTS = {"negotiate": Negotiation}


def document(result: NegotiationResult) -> Negotiation:
    """The document of a result."""
    return result.negotiation
