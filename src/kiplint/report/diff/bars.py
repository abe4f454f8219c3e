"""The versions of a message in two sets as one bar: which there are, flexible, unstable, new, changed, dropped."""

from __future__ import annotations

from collections.abc import Sequence

from kiplint.model.message import Message
from kiplint.report.kit.strip import Strip, strip
from kiplint.versions import NONE, VersionRange


def bar(old: Message | None, new: Message | None, changed: Sequence[VersionRange]) -> Strip:
    """The bar of a message; `changed` are the versions whose bytes changed."""
    was, now = (one.valid if one else NONE for one in (old, new))
    flexible = (old.flexible if old else NONE) & (was - now) | (new.flexible if new else NONE) & now
    unstable = _unstable(new) if new else NONE

    def tell(version: int) -> tuple[str, str]:
        looks = []
        if not was.covers(version):
            looks.append("new")
        elif not now.covers(version):
            looks.append("dropped")
        elif any(one.covers(version) for one in changed):
            looks.append("changed")
        looks += ["flexible"] * flexible.covers(version) + ["unstable"] * unstable.covers(version)
        return " ".join(looks), ", ".join(looks)

    return strip([was, now, flexible, unstable, *changed], was | now, tell)


def _unstable(message: Message) -> VersionRange:
    return VersionRange.of(message.valid.highest, message.valid.highest) if message.unstable and message.valid else NONE
