"""Take the pictures of the guide: each report, terminals, and the editor, in light and in dark.

What they show is made of fixtures/, of the examples of the guide, and of the sample history. A picture is taken anew
only when what it shows has changed, as no two machines draw letters alike. Without Chromium it says so, and takes none;
without code-server it keeps that of the editor.
"""

from __future__ import annotations

import hashlib
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "guide" / "pictures"
LIKENESSES = PICTURES / "made.json"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LARGEST = 150_000
"""Bytes that a picture may have."""
COLORS = {"1": "b", "2": "d", "31": "r", "33": "y", "34": "n", "36": "c", "32": "g"}
"""The codes of kiplint's text, each with a class of the picture's style."""
TERMINAL = """<!doctype html><meta charset="utf-8"><style>
:root { color-scheme: light dark; }
body { margin: 0; padding: 22px 26px; background: light-dark(#fbfbf9, #14181b); color: light-dark(#1b2125, #dfe3e6); }
pre { margin: 0; font: 13.5px/1.5 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre-wrap; }
.b { font-weight: 700; } .d { color: light-dark(#6b747b, #8d979f); } .g { color: light-dark(#1b6637, #77c996); }
.r { color: light-dark(#a31f19, #ff9087); } .y { color: light-dark(#7c4f00, #eab65f); }
.n, .c { color: light-dark(#28559c, #8fb6f0); }
</style><pre>"""


_NEGOTIATING = (
    *(f"telemetry/{name}" for name in ("old-client", "old-broker", "new-client", "new-broker")),
    *(f"refused/{name}" for name in ("client", "broker")),
    *(f"kip-35/{name}" for name in ("client", "B1", "B2")),
)


GUIDE = ("kips", "reading-a-diff")
"""The pages of the guide whose examples are shown."""
WITNESS = "00000000000000000000000000000000000003e8"
"""A PauseFetchRequest of version 0 as hexadecimal digits. On the page about diffs, `example/new` cannot read it."""


class Picture(NamedTuple):
    """What is shown: a command that writes a page, or with `--color` text; where in the page, how high, run where.

    Instead of a name in the page, `*` opens its first entry. The folder is in `fixtures`, or an absolute path.
    """

    name: str
    words: tuple[str, ...]
    anchor: str = ""
    height: int = 720
    folder: str = "."


def pictures(history: Path, lake: Path, guide: Path) -> list[Picture]:
    """All but that of the editor. The lake is of the history; `guide` has a folder with the examples of each page."""
    repo = ("--repo", str(history))
    color = ("--color", "always")
    examples = {page: str(guide / page) for page in GUIDE}
    return [
        Picture(
            "terminal",
            ("check", "kip-1313/DeleteGroupsResponse.json", "tags/gap/bad", "--isolated", *color),
            height=430,
        ),
        Picture(
            "decode",
            ("decode", "--set", "example/new", "--body", "PauseFetchRequest@0", WITNESS, *color),
            height=170,
            folder=examples["reading-a-diff"],
        ),
        Picture(
            "kip",
            ("kip", "example/KIP-9012.txt", "--against", "example/released", *color),
            height=760,
            folder=examples["kips"],
        ),
        Picture("check", ("check", "tags", "versions", "rpc", "--isolated"), "*"),
        Picture("diff", ("diff", "compat/layout-changed/old", "compat/layout-changed/new"), "ListMoves", 860),
        Picture("rollout", ("rollout", "1.0.0:", "main:", *repo)),
        Picture("negotiate", ("negotiate", "2.0.0:", "1.0.0:", "1.2.0:", *repo)),
        Picture("matrix", ("negotiate", "--matrix", *_NEGOTIATING), height=900, folder="negotiate"),
        Picture("lake", ("pipeline", "report", str(lake)), height=1000),
        Picture("show", ("show", "--all", "sets/broker"), "Metadata?search=MetadataRequest", 900),
    ]


def make_page(picture: Picture) -> str:
    """The page that is photographed."""
    terminal = "--color" in picture.words
    form = () if terminal else ("--output-format", "html")
    command = [sys.executable, "-P", "-m", "kiplint", *picture.words, *form]
    env = {**os.environ, "COLUMNS": "96"}
    out = subprocess.run(
        command, cwd=ROOT / "fixtures" / picture.folder, env=env, stdout=subprocess.PIPE, text=True, check=False
    ).stdout
    if not terminal:
        return out
    line = " ".join(word for word in picture.words[:-2] if word != "--isolated")
    return TERMINAL + _to_html(f"$ kiplint {line}\n{out}")


def _to_html(text: str) -> str:
    """Text with escape sequences for colours as HTML."""
    parts = re.split("\x1b\\[([0-9;]*)m", text)
    spans = [html.escape(parts[0])]
    for codes, piece in zip(parts[1::2], parts[2::2], strict=True):
        classes = " ".join(COLORS[code] for code in codes.split(";") if code in COLORS)
        spans.append(f'<span class="{classes}">{html.escape(piece)}</span>' if classes else html.escape(piece))
    return "".join(spans)


def _likeness(page: str, picture: Picture) -> str:
    """The same for pages that look the same, whatever version of kiplint made them, and when."""
    plain = re.sub(r"kiplint [0-9][^\s<\"]*|(?s:<footer.*</footer>)", "kiplint", page)
    return hashlib.sha256(f"{plain}{picture}".encode()).hexdigest()[:16]


def _shots(browser: Any, page: str, picture: Picture, folder: Path) -> Iterator[tuple[str, bytes]]:
    file = folder / f"{picture.name}.html"
    file.write_text(page, "utf-8")
    for scheme in ("light", "dark"):
        view = {"width": 1120, "height": picture.height}
        context = browser.new_context(viewport=view, color_scheme=scheme, reduced_motion="reduce")
        tab = context.new_page()
        tab.goto(file.as_uri() + (f"#{picture.anchor}" if picture.anchor not in ("", "*") else ""))
        if picture.anchor == "*":
            tab.locator("details[data-item] > summary").first.click()
        tab.wait_for_timeout(100)
        tab.evaluate("() => { document.activeElement.blur(); scrollTo(0, 0); }")
        yield f"{picture.name}-{scheme}.png", tab.screenshot(animations="disabled")
        context.close()


def _write_examples(page: str, folder: Path) -> None:
    """Write the files that a page of the guide shows."""
    text = (ROOT / "docs" / "guide" / f"{page}.md").read_text("utf-8")
    for name, content in re.findall(r'^```\w+ title="(example/[^"]+)"\n(.*?)^```', text, re.DOTALL | re.MULTILINE):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            file.write_text(content, "utf-8")


def _editor_shots(browser: Any, diff: Path, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Pictures of VS Code. It shows a definition; one field has another type than in the last release."""
    from server.vscode import vscode

    name = "clients/src/main/resources/common/message/PauseFetchRequest.json"
    for scheme in ("light", "dark"):
        home = folder / scheme
        file = home / "kafka" / name
        for side in ("old", "new"):
            file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(diff / "example" / side / "PauseFetchRequest.json", file)
            if side == "old":
                author = ("-c", "user.name=a", "-c", "user.email=a@b")
                for words in (("init", "-q"), ("add", "."), (*author, "commit", "-qm", "1.0.0"), ("tag", "1.0.0")):
                    subprocess.run(["git", *words], cwd=home / "kafka", check=True)
        settings = {
            "workbench.colorTheme": f"Default {scheme.title()} Modern",
            "editor.minimap.enabled": False,
            "window.commandCenter": False,
            "kiplint.command": [sys.executable, "-P", "-m", "kiplint", "lsp"],
        }
        with vscode(browser, home, ("git",), **settings) as editor:
            editor.page.set_viewport_size({"width": 1120, "height": 480})
            editor.open(home / "kafka", name)
            editor.run(">View: Close Primary Side Bar")
            editor.page.locator(".squiggly-error").first.wait_for()
            editor.page.locator(".view-line span span", has_text="int64").first.hover()
            editor.page.locator(".monaco-hover:visible", has_text="old writes").first.wait_for()
            yield f"editor-{scheme}.png", editor.page.screenshot(animations="disabled")


def _make_lake(lake: Path, history: Path) -> None:
    words = ("pipeline", "run", "--quiet", "--out", str(lake), "--source", f"sample={history}")
    subprocess.run([sys.executable, "-P", "-m", "kiplint", *words], check=True)


def main() -> int:
    """Take those that are missing or out of date; the exit code is 1 when one is too large."""
    chromium = os.environ.get("KIPLINT_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if chromium is None:
        print("no pictures taken: there is no Chromium (apt-get install chromium)")
        return 0
    from benchmarks.sample import make_history
    from playwright.sync_api import sync_playwright

    from server.vscode import INSTALLED

    PICTURES.mkdir(exist_ok=True)
    likenesses: dict[str, str] = json.loads(LIKENESSES.read_text("utf-8")) if LIKENESSES.is_file() else {}
    too_large = []

    def save(name: str, likeness: str, shots: Iterable[tuple[str, bytes]]) -> None:
        if likenesses.get(name) == likeness:
            return
        for file, data in shots:
            (PICTURES / file).write_bytes(data)
            too_large.extend([f"{file}: {len(data)} bytes"] if len(data) > LARGEST else [])
            print(f"{file}: {len(data):,} bytes")
        likenesses[name] = likeness

    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = Path(temporary)
        make_history(folder / "history")
        sandbox = [] if os.getuid() else ["--no-sandbox"]
        browser = playwright.chromium.launch(executable_path=chromium, args=["--disable-gpu", *sandbox])
        _make_lake(folder / "lake", folder / "history")
        for name in GUIDE:
            _write_examples(name, folder / name)
        for picture in pictures(folder / "history", folder / "lake", folder):
            page = make_page(picture).replace(str(folder), "")
            likeness = _likeness(page, picture._replace(words=(), folder=""))
            save(picture.name, likeness, _shots(browser, page, picture, folder))
        diff = folder / "reading-a-diff"
        texts = [file.read_text("utf-8") for file in sorted(diff.rglob("PauseFetchRequest.json"))]
        if INSTALLED:
            save("editor", _likeness("".join(texts), Picture("editor", ())), _editor_shots(browser, diff, folder))
        browser.close()
    LIKENESSES.write_text(json.dumps(likenesses, indent=2, sort_keys=True) + "\n", "utf-8")
    for line in too_large:
        print(f"too large: {line}", file=sys.stderr)
    return bool(too_large)


if __name__ == "__main__":
    sys.path[:0] = map(str, (ROOT, ROOT / "tests"))
    sys.exit(main())
