"""Write the generated pages of the documentation, and the outputs that README and guide show.

With `--check`, only say which generated pages are out of date.
"""

from __future__ import annotations

import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from generator import (
    action,
    api,
    bounds,
    cli,
    facts,
    formats,
    hooks,
    kips,
    precision,
    ranges,
    rules,
    schemas,
    stub,
    tables,
)
from generator.console import play, refreshed
from generator.markdown import splice

ROOT = Path(__file__).resolve().parent.parent
ACTION = ROOT / "action.yml"


def pages() -> dict[Path, str]:
    """Every generated file with what it should hold."""
    made = {
        **{f"docs/{file}": text for file, text in rules.make().items()},
        "docs/reference/ranges.md": ranges.make(),
        "docs/reference/facts.md": facts.make(),
        "docs/reference/cli.md": cli.make(),
        "docs/reference/api.md": api.make(),
        "docs/reference/schemas.md": schemas.make(),
        "docs/reference/formats.md": formats.make(),
        "docs/reference/tables.md": tables.make(),
        "docs/reference/kips.md": kips.make(),
        "docs/reference/precision.md": precision.make(),
        **{f"docs/{file}": text for file, text in schemas.files().items()},
        ".pre-commit-hooks.yaml": hooks.make(),
        "src/kiplint/__init__.pyi": stub.make((ROOT / "src/kiplint/__init__.pyi").read_text("utf-8")),
        "SECURITY.md": _with("SECURITY.md", limits=bounds.make()),
        "docs/index.md": _with("docs/index.md", packs=_in_docs(rules.overview()), commands=_in_docs(cli.overview())),
        "docs/guide/configuration.md": _with("docs/guide/configuration.md", keys=schemas.config_keys()),
        "docs/guide/ci.md": _with("docs/guide/ci.md", inputs=action.inputs(ACTION), outputs=action.outputs(ACTION)),
        "docs/guide/pre-commit.md": _with("docs/guide/pre-commit.md", hooks=hooks.overview(), folders=hooks.folders()),
    }
    return {ROOT / file: text for file, text in made.items()}


def _in_docs(text: str) -> str:
    """Text of the README as a page in docs/ has it."""
    return text.replace("](docs/", "](")


def _with(file: str, **parts: str) -> str:
    """A page written by hand, with its generated parts."""
    page = (ROOT / file).read_text("utf-8")
    for name, text in parts.items():
        page = splice(page, name, text)
    return page


def with_outputs(file: Path) -> str:
    """A page with the outputs of its commands as they are now."""
    page = file.read_text("utf-8")
    with tempfile.TemporaryDirectory() as session:
        return refreshed(page, play(page, ROOT, Path(session)))


def written_by_hand() -> list[Path]:
    """The pages whose commands are run."""
    return [ROOT / "README.md", *sorted((ROOT / "docs/guide").glob("*.md"))]


def main() -> int:
    """Write what is out of date, or name it; 1 when something is and only a check was asked for."""
    stale = _stale(pages())
    if "--check" in sys.argv[1:]:
        for file in stale:
            print(f"{file.relative_to(ROOT)} is out of date; run `make docs`")
        return 1 if stale else 0
    _write(stale)
    by_hand = written_by_hand()
    with ThreadPoolExecutor() as pool:
        _write(_stale(dict(zip(by_hand, pool.map(with_outputs, by_hand), strict=True))))
    return 0


def _stale(made: dict[Path, str]) -> dict[Path, str]:
    return {file: text for file, text in made.items() if not file.is_file() or file.read_text("utf-8") != text}


def _write(made: dict[Path, str]) -> None:
    for file, text in made.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
        print(f"wrote {file.relative_to(ROOT)}")


if __name__ == "__main__":
    sys.exit(main())
