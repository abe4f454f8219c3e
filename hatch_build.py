"""Compiles the rule packs into Python modules, when the wheel is built and, for a checkout, by `make`.

As a script it writes the modules into `src/kiplint/compiled`, and with `--examples` lists the fixtures that the wheel
carries for `kiplint explain`. The build runs it in a process of its own, because it imports kiplint out of `src`. Two
of them at once do no harm: each module is put in place whole.
"""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
TARGET = ROOT / "src/kiplint/compiled"


def compile_packs() -> None:
    """Write a module for each pack in `rules/`, and remove those of packs that are gone."""
    sys.path.insert(0, str(ROOT / "src"))
    import kiplint.compat.kinds  # noqa: F401 - so that rules about changes are known
    from kiplint.engine.packs import shipped_rules
    from kiplint.engine.translate import module_text

    texts = {
        f"{pack.replace('-', '_')}.py": module_text(pack, rules)
        for pack, rules in groupby(shipped_rules(), key=lambda rule: rule.pack)
    }
    for old in TARGET.glob("*.py"):
        if old.name != "__init__.py" and old.name not in texts:
            old.unlink()
    for name, text in texts.items():
        file = TARGET / name
        if file.is_file() and file.read_text(encoding="utf-8") == text:
            continue
        temporary = file.with_suffix(f".{os.getpid()}")
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(file)


def list_examples() -> None:
    """Print the files in `fixtures/` that `kiplint explain` prints, relative to the checkout."""
    from kiplint.engine.examples import printed_examples
    from kiplint.engine.packs import shipped_rules

    for rule in shipped_rules():
        for files in printed_examples(rule, ROOT / "fixtures").values():
            print(*(file.relative_to(ROOT).as_posix() for file in files), sep="\n")


if __name__ == "__main__":
    compile_packs()
    if "--examples" in sys.argv:
        list_examples()
else:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

    class CompilePacks(BuildHookInterface[Any]):
        """Runs this file before a wheel is put together, an editable one too."""

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            """Compile the packs; add the modules, although git ignores them, and the examples of `kiplint explain`."""
            listing = subprocess.run(
                [sys.executable, __file__, "--examples"], check=True, stdout=subprocess.PIPE, text=True
            )
            build_data["artifacts"].append("/src/kiplint/compiled/*.py")
            build_data["force_include"] |= {file: f"kiplint/{file}" for file in listing.stdout.splitlines()}
