"""Write the generated pages of the documentation.

With `--check`, only say which of them are out of date.
"""

from __future__ import annotations

import sys
from pathlib import Path

from generator import (
    action,
    bounds,
    cli,
    facts,
    formats,
    hooks,
    kips,
    precision,
    rules,
    schemas,
    tables,
)
from generator.markdown import splice

ROOT = Path(__file__).resolve().parent.parent
ACTION = ROOT / "action.yml"


def pages() -> dict[Path, str]:
    """The text of every generated file."""
    texts = {
        **{f"docs/{file}": text for file, text in rules.make().items()},
        "docs/reference/cli.md": cli.make(),
        "docs/reference/facts.md": facts.make(),
        "docs/reference/formats.md": formats.make(),
        "docs/reference/tables.md": tables.make(),
        "docs/reference/kips.md": kips.make(),
        "docs/reference/precision.md": precision.make(),
        **{f"docs/{file}": text for file, text in schemas.published().items()},
        ".pre-commit-hooks.yaml": hooks.make(),
        "SECURITY.md": _with("SECURITY.md", limits=bounds.make()),
        "docs/index.md": _with("docs/index.md", packs=_in_docs(rules.overview()), commands=_in_docs(cli.overview())),
        "docs/guide/configuration.md": _with("docs/guide/configuration.md", keys=schemas.config_keys()),
        "docs/guide/ci.md": _with("docs/guide/ci.md", inputs=action.inputs(ACTION), outputs=action.outputs(ACTION)),
        "docs/guide/pre-commit.md": _with("docs/guide/pre-commit.md", hooks=hooks.overview()),
    }
    return {ROOT / file: text for file, text in texts.items()}


def _in_docs(text: str) -> str:
    """Text of the README as a page in docs/ has it."""
    return text.replace("](docs/", "](")


def _with(file: str, **parts: str) -> str:
    """A page written by hand, with its generated parts."""
    page = (ROOT / file).read_text("utf-8")
    for name, text in parts.items():
        page = splice(page, name, text)
    return page


def main() -> int:
    """Write what is out of date, or name it; 1 when something is and only a check was asked for."""
    stale = {
        file: text for file, text in pages().items() if not file.is_file() or file.read_text(encoding="utf-8") != text
    }
    if "--check" in sys.argv[1:]:
        for file in stale:
            print(f"{file.relative_to(ROOT)} is out of date; run `make docs`")
        return 1 if stale else 0
    for file, text in stale.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
        print(f"wrote {file.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
