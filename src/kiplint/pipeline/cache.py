"""Where the pipeline keeps what it makes once on a machine: the launcher of Java, and the configuration of its log."""

from __future__ import annotations

import os
from pathlib import Path


def cache_directory() -> Path:
    """The directory of kiplint in the user's cache; it need not exist."""
    root = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(root, "kiplint")
