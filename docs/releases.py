"""Print, as Markdown, what breaks between consecutive releases of a repository: one process for all of them.

Usage: python docs/releases.py REPOSITORY > docs/reference/releases.md
"""

from __future__ import annotations

import gc
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from kiplint.compat.compare import compare_trees
from kiplint.compat.judge import BREAKS, Judged, judge
from kiplint.compat.tree import Tree, load
from kiplint.engine.config import Config
from kiplint.engine.ruleset import load_rules, make_ruleset

HEAD = """# What broke between releases

For each release of the repository and the release before it: how many changes break what. Made by
`python docs/releases.py REPOSITORY`, which compares the definitions of all consecutive tags.

"""


def main(repository: str) -> None:
    """Write the page to standard output."""
    gc.disable()
    rules = make_ruleset(Config(), load_rules(Config(), ""))
    grave: list[tuple[str, Judged]] = []
    print(HEAD + "| from | to | " + " | ".join(BREAKS) + " |\n|" + " --- |" * (2 + len(BREAKS)))
    for old, new in pairwise(trees(repository)):
        changes = judge(compare_trees(old, new), rules, old.sources, new.sources)
        counts = Counter(change.breaks for change in changes)
        names = (old.name.rstrip(":"), new.name.rstrip(":"))
        print(f"| {names[0]} | {names[1]} | " + " | ".join(str(counts[what] or "") for what in BREAKS) + " |")
        grave += [(f"{names[0]} to {names[1]}", change) for change in changes if change.breaks in ("wire", "storage")]
    for what, title in (("wire", "Breaks on the wire"), ("storage", "Breaks storage")):
        print(f"\n## {title}\n")
        for pair, change in grave:
            if change.breaks == what:
                print(f"- {pair}: `{change.rule}` {change.message}")


def trees(repository: str) -> Iterator[Tree]:
    """The trees of all release tags, oldest first."""
    listing = ["git", "-C", repository, "tag", "--sort=version:refname"]
    for tag in subprocess.run(listing, check=True, capture_output=True, text=True).stdout.split():
        yield load(f"{tag}:", repository)


if __name__ == "__main__":
    main(sys.argv[1])
