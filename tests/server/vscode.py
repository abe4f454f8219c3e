"""VS Code with kiplint's extension, in a browser: code-server, as `make code-server` installs it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page

from tools import environment

EDITORS = Path(__file__).resolve().parents[2] / "editors"
PROGRAM = EDITORS / "node_modules" / "code-server" / "out" / "node" / "entry.js"
MODULES = EDITORS / "vscode" / "node_modules"
NODE = shutil.which("node")
INSTALLED = bool(NODE) and PROGRAM.is_file() and MODULES.is_dir()
SECONDS = 120


class Editor:
    """VS Code on loopback: it opens folders in a browser, and its log says which extensions were activated."""

    def __init__(self, page: Page, url: str, logs: Path) -> None:
        self.page, self.url, self.logs = page, url, logs

    def open(self, folder: Path, file: str | Path) -> None:
        """Open a folder and a file, by its path or its name there, and wait until what VS Code starts by itself has started."""
        address = f"vscode-remote://{self.url.removeprefix('http://')}{folder / file}"
        self.page.goto(f"{self.url}/?folder={folder}&payload={json.dumps([['openFile', address]])}")
        until(lambda: "Eager extensions activated" in self.log())

    def run(self, command: str) -> None:
        """Run a command, or with a path open a file, as the quick input does it."""
        self.page.keyboard.press("F1")
        box = self.page.locator(".quick-input-box input")
        box.fill(command)
        self.page.locator(".quick-input-list .monaco-list-row").first.wait_for()
        box.press("Enter")
        box.wait_for(state="hidden")

    @property
    def language(self) -> str:
        """The language of the open file, as the status bar names it."""
        return self.page.locator("[id='status.editor.mode']").inner_text()

    def show_problems(self) -> None:
        """Open the panel of problems."""
        self.run(">Problems: Focus on Problems View")

    def problems(self) -> list[str]:
        """What the panel of problems shows, files with their number and findings with their rule."""
        rows = self.page.locator(".markers-panel-container .monaco-list-row").all_inner_texts()
        return [" ".join(row.split()) for row in rows]

    def notifications(self) -> list[str]:
        """The messages of all notifications, also of those that have faded."""
        self.run(">Notifications: Show Notifications")
        center = self.page.locator(".notifications-center.visible")
        center.wait_for()
        return center.locator(".notification-list-item-message").all_inner_texts()

    def log(self) -> str:
        """The log of the process that runs extensions."""
        return "".join(file.read_text("utf-8") for file in self.logs.rglob("remoteexthost.log"))

    def activations(self) -> list[str]:
        """The events that activated kiplint's extension."""
        return re.findall(r"_doActivateExtension kiplint\.kiplint, .*activationEvent: '(\w+(?::jsonc)?)", self.log())


def until(holds: Callable[[], bool]) -> None:
    """Wait for it, at most two minutes."""
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.1)


@contextmanager
def vscode(browser: Browser, home: Path, programs: Sequence[str] = (), **settings: object) -> Iterator[Editor]:
    """VS Code with a new profile below `home`, with these settings, where the PATH has only Node.js and these programs."""
    profile, extension, path = (home / name for name in ("profile", "extensions/kiplint", "bin"))
    subprocess.run(["npm", "run", "--silent", "bundle"], cwd=EDITORS / "vscode", check=True)
    shutil.copytree(EDITORS / "vscode", extension, ignore=shutil.ignore_patterns("node_modules", "*.vsix"))
    path.mkdir()
    for name in ("node", *programs):
        (path / name).symlink_to(shutil.which(name) or name)
    (profile / "User").mkdir(parents=True)
    settings = {"telemetry.telemetryLevel": "off", **settings}
    (profile / "User" / "settings.json").write_text(json.dumps(settings))
    options = {"auth": "none", "bind-addr": "127.0.0.1:0", "user-data-dir": profile, "extensions-dir": extension.parent}
    flags = ("--disable-workspace-trust", "--disable-telemetry", "--disable-update-check")
    command = [str(path / "node"), str(PROGRAM), *(f"--{name}={value}" for name, value in options.items()), *flags]
    env = environment(HOME=str(home), PATH=str(path), VSCODE_CLI="1")  # which keeps it from a shell's PATH
    output = home / "output"
    with output.open("wb") as out, subprocess.Popen(command, env=env, stdout=out, stderr=out, cwd=home) as server:
        try:
            until(lambda: "listening on http:" in output.read_text("utf-8"))
            (url,) = re.findall(r"HTTP server listening on (http:\S+[^/\s])", output.read_text("utf-8"))
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.set_default_timeout(SECONDS * 1000)
            yield Editor(page, url, profile / "logs")
            page.close()
        finally:
            server.terminate()
