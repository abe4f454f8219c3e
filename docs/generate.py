"""Write the generated pages of the documentation; with `--check`, only say which are out of date."""

from __future__ import annotations

import sys
from pathlib import Path

from generator import cli, facts, formats, rules, schemas
from generator.markdown import splice

ROOT = Path(__file__).resolve().parent.parent


def pages() -> dict[Path, str]:
    """Every generated file with what it should hold."""
    made = {
        "docs/reference/rules.md": rules.make(),
        "docs/reference/facts.md": facts.make(),
        "docs/reference/cli.md": cli.make(),
        "docs/reference/schemas.md": schemas.make(),
        "docs/reference/formats.md": formats.make(),
        **{f"docs/{file}": text for file, text in schemas.files().items()},
        "README.md": _with("README.md", "packs", rules.overview()),
        "docs/guide/configuration.md": _with("docs/guide/configuration.md", "keys", schemas.config_keys()),
    }
    return {ROOT / file: text for file, text in made.items()}


def _with(file: str, part: str, text: str) -> str:
    return splice((ROOT / file).read_text("utf-8"), part, text)


def main() -> int:
    """Write what is out of date, or name it; 1 when something is and only a check was asked for."""
    stale = [file for file, text in pages().items() if not file.is_file() or file.read_text("utf-8") != text]
    if "--check" in sys.argv[1:]:
        for file in stale:
            print(f"{file.relative_to(ROOT)} is out of date; run `make docs`")
        return 1 if stale else 0
    for file in stale:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(pages()[file], encoding="utf-8", newline="\n")
        print(f"wrote {file.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
