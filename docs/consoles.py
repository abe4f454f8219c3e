"""Write the outputs of the commands that README and guide show, as they are now."""

from __future__ import annotations

import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from generator.console import play, refreshed

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Run every command of the pages, and write those pages whose outputs have changed; say where one fails now."""
    code = 0
    pages = [ROOT / "README.md", ROOT / "docs/index.md", *sorted((ROOT / "docs/guide").glob("*.md"))]
    with ThreadPoolExecutor() as pool:
        for page, run in [(page, pool.submit(with_outputs, page)) for page in pages]:
            try:
                text = run.result()
            except ValueError as error:
                code = 1
                print(f"{page.relative_to(ROOT)}: not written, as this fails now\n{error}", file=sys.stderr)
                continue
            if page.read_text("utf-8") != text:
                page.write_text(text, encoding="utf-8", newline="\n")
                print(f"wrote {page.relative_to(ROOT)}")
    return code


def with_outputs(page: Path) -> str:
    """The text of a page with the outputs of its commands as they are now."""
    text = page.read_text("utf-8")
    with tempfile.TemporaryDirectory() as session:
        return refreshed(text, play(text, ROOT, Path(session)))


if __name__ == "__main__":
    sys.exit(main())
