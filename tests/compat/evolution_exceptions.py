"""Where kiplint and the recorded truth about bytes part on purpose, by id of the evolution case: the reason."""

from __future__ import annotations

DROPPED_VERSIONS = (
    "No byte of a version that both definitions have differs, so the bytes are compatible. But records of the dropped "
    "versions lie on disk and can be read no more: that is a break of storage by design section 6 (version-dropped)."
)

EXCEPTIONS: dict[str, str] = {"evo-0764": DROPPED_VERSIONS, "evo-0765": DROPPED_VERSIONS}
