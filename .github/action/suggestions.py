"""What kiplint would write instead, on the page of the job summary: the patch that `kiplint check --fix` makes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence

LIMIT = 1 << 16
"""How many characters of a patch are shown; a whole page has room for sixteen times as many."""


def show_patch(words: Sequence[str], environment: Mapping[str, str]) -> None:
    """Append to the job summary what `kiplint check --fix` would change, with options and paths as they are checked."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "kiplint", "check", "--diff", *words],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if done.returncode == 1 and (summary := os.environ.get("GITHUB_STEP_SUMMARY")):
        with open(summary, "a", encoding="utf-8") as out:
            out.write(page(done.stdout.decode(errors="replace")))


def page(patch: str) -> str:
    """The patch as Markdown, folded; nothing when there is none. Whatever is in it, nothing of it ends the fence."""
    if not patch:
        return ""
    shown = patch if len(patch) <= LIMIT else patch[: patch.rfind("\n", 0, LIMIT) + 1]
    left_out = patch.count("\n") - shown.count("\n")
    fence = "`" * (max(map(len, re.findall("`+", shown)), default=2) + 1)
    fence = fence if len(fence) > 3 else "```"
    rest = f"{left_out:,} more lines left out.\n\n" if left_out else ""
    title = "What <code>kiplint check --fix</code> would change"
    return f"<details><summary>{title}</summary>\n\n{fence}diff\n{shown}{fence}\n\n{rest}</details>\n\n"
