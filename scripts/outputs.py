"""Write what every command prints over the real schemas into a directory, to compare two states of the code.

    python scripts/outputs.py /tmp/before        # in one state
    python scripts/outputs.py /tmp/after         # in the other
    diff -r /tmp/before /tmp/after

Each file holds the exit code, standard output and standard error of one command line. The commands run beside each
other in a scratch directory, so no path of the checkout is in them. `--only GLOB` runs the cases whose name matches.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("KIPLINT_CORPUS", ROOT.parent / "shared" / "corpus")).resolve().parent

PAIRS = (
    ("2.8.0", "3.0.0"),
    ("3.6.0", "3.7.0"),
    ("3.7.0", "3.8.0"),
    ("3.9.0-rc3", "confluent-8.0.0"),
    ("confluent-8.2.0", "confluent-8.3.0"),
)
FORMATS = ("text", "json")
LISTS = ("concise", "jsonl", "github", "sarif", "rdjson", "junit", "gitlab", "markdown", "html")
SCHEMAS = (
    *("message", "config", "pack", "check", "decode", "diff", "encode", "kip", "matrix", "migrate", "negotiate", "new"),
    *("output", "probe", "readers", "rollout", "show", "upgrade-path", "vectors"),
)
REVISIONS = 20

Case = tuple[str, list[str]]


def cases(history: Path) -> Iterator[Case]:
    """Each case: its name, and the words after `kiplint`."""
    trunk = "trunk"
    sets = sorted(path.name for path in (history.parent / trunk).iterdir())
    at = ["--repo", "history"]
    revisions = git(history, "rev-list", "--first-parent", "trunk").split()
    step = len(revisions) // REVISIONS
    for form in FORMATS:
        to = ["--output-format", form]
        for name in sets:
            yield f"check-{name}.{form}", ["check", f"trunk/{name}", "--select", "all", *to]
        for revision in revisions[::step][:REVISIONS]:
            yield f"check-{revision[:8]}.{form}", ["check", f"{revision}:", *at, *to]
        for old, new in PAIRS:
            for command in ("diff", "rollout"):
                yield f"{command}-{old}-{new}.{form}", [command, f"{old}:", f"{new}:", *at, *to]
            yield f"negotiate-{old}-{new}.{form}", ["negotiate", f"{old}:", f"{new}:", *at, *to]
            yield f"upgrade-path-{old}-{new}.{form}", ["upgrade-path", old, new, "--tags", *at, *to]
        yield f"show-all.{form}", ["show", "--all", "trunk/clients", *to]
        yield f"show-fetch.{form}", ["show", "FetchRequest@10", "trunk/clients", *to]
        yield f"rollout-trunk.{form}", ["rollout", "trunk/clients", *to]
        yield f"readers.{form}", ["readers", "trunk/clients", *to]
        yield f"readers-since.{form}", ["readers", "trunk:", "--since", "3.9.0-rc3", *at, *to]
        yield f"negotiate-matrix.{form}", ["negotiate", "--matrix", "3.0.0:", "3.6.0:", "trunk:", *at, *to]
        for kip in ("kip-35", "kip-78", "kip-511", "kip-1242", "kip-1313"):
            yield f"{kip}.{form}", ["kip", f"kips/{kip}.txt", "--base", "trunk/clients", *to]
        yield f"decode-capture.{form}", ["decode", "bytes/capture.pcapng", "--set", "trunk/clients", *to]
        yield f"bump-fetch.{form}", ["migrate", "bump", "Fetch", "--schemas", "trunk/clients", "--dry-run", *to]
        yield f"new-rpc.{form}", ["new", "rpc", "Sample", "--schemas", "trunk/clients", "--dry-run", *to]
        yield f"migrate.{form}", ["migrate", "kip-1313", "trunk/clients", "--dry-run", *to]
    for old, new in PAIRS:
        yield f"changelog-{old}-{new}.text", ["changelog", f"{old}:", f"{new}:", *at]
    for file in ("java", "kio", "traffic"):
        words = ["--input-format", "jsonl", "--set", "trunk/clients", "--set", "3.9.0-rc3:", *at]
        yield f"decode-{file}", ["decode", f"bytes/{file}.jsonl", *words, "--output-format", "jsonl"]
    for form in LISTS:
        to = ["--output-format", form]
        yield f"list-check.{form}", ["check", "trunk/clients", "--select", "all", *to]
        yield f"list-diff.{form}", ["diff", "3.6.0:", "3.7.0:", *at, *to]
        yield f"list-rollout.{form}", ["rollout", "3.6.0:", "trunk:", *at, *to]
        yield f"list-readers.{form}", ["readers", "trunk/clients", *to]
        yield f"list-kip.{form}", ["kip", "kips/kip-1313.txt", "--base", "trunk/clients", *to]
        yield f"list-decode.{form}", ["decode", "bytes/capture.pcapng", "--set", "trunk/clients", *to]
    yield "show-fetch.html", ["show", "FetchRequest", "trunk/clients", "--output-format", "html"]
    yield "negotiate.html", ["negotiate", "3.6.0:", "trunk:", *at, "--output-format", "html"]
    yield "matrix.html", ["negotiate", "--matrix", "3.0.0:", "3.6.0:", "trunk:", *at, "--output-format", "html"]
    for command in ("check", "diff"):
        words = ["trunk/clients"] if command == "check" else ["3.6.0:", "3.7.0:", *at]
        yield f"{command}-colored", [command, *words, "--color", "always"]
    yield "rules", ["rules"]
    yield "vectors", ["vectors", "trunk/clients", "--message", "FetchRequest"]
    yield "patch", ["check", "trunk/clients", "--fix", "--unsafe-fixes", "--diff"]
    for rule in rules():
        yield f"explain-{rule.replace('/', '.')}", ["explain", rule]
    for name in SCHEMAS:
        yield f"schema-{name}", ["schema", name]
    yield "help", ["--help"]
    for command in HELPED:
        yield f"help-{command.replace(' ', '-')}", [*command.split(), "--help"]


HELPED = (
    *[
        "check",
        "diff",
        "rollout",
        "negotiate",
        "upgrade-path",
        "show",
        "changelog",
        "decode",
        "encode",
        "vectors",
        "probe",
        "kip",
        "readers",
        "rules",
    ],
    *("explain", "schema", "lsp", "migrate kip-1313", "migrate bump", "new rpc"),
    *(f"pipeline {name}" for name in ["run", "blame", "changes", "matrix", "rollout", "report", "query", "optimize"]),
)


def rules() -> list[str]:
    """The ids of all rules."""
    from kiplint.engine.packs import shipped_rules

    return [rule.id for rule in shipped_rules()]


def git(repository: Path, *words: str) -> str:
    """The output of git."""
    done = subprocess.run(["git", "-C", str(repository), *words], check=True, capture_output=True, text=True)
    return done.stdout


def write(case: Case, into: Path, scratch: Path) -> None:
    """Run one case and write its file."""
    name, words = case
    env = {key: value for key, value in os.environ.items() if not key.startswith(("GITHUB_", "CI"))}
    env |= {"COLUMNS": "120", "NO_COLOR": "", "PYTHONPATH": str(ROOT / "src")}
    call = [sys.executable, "-P", "-m", "kiplint", *words]
    done = subprocess.run(call, cwd=scratch, capture_output=True, env=env, check=False, stdin=subprocess.DEVNULL)
    head = f"$ kiplint {' '.join(words)}\nexit code {done.returncode}\n--- stderr\n".encode()
    (into / name).write_bytes(head + done.stderr + b"--- stdout\n" + done.stdout)


def main() -> None:
    """Write all cases, two at a time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("into", type=Path, help="the directory to write to")
    parser.add_argument("--only", metavar="GLOB", default="*", help="only cases of such names")
    options = parser.parse_args()
    options.into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        scratch = Path(directory)
        (scratch / "trunk").symlink_to(SHARED / "corpus" / "kafka-trunk-2026-08")
        for name in ("bytes", "kips"):
            (scratch / name).symlink_to(SHARED / name)
        history = scratch / "history"
        bundle = SHARED / "corpus" / "kafka-schema-history.bundle"
        subprocess.run(["git", "clone", "--quiet", str(bundle), str(history)], check=True)
        chosen = [case for case in cases(history) if fnmatch(case[0], options.only)]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda case: write(case, options.into, scratch), chosen))
    print(f"{len(chosen)} outputs in {options.into}")


if __name__ == "__main__":
    main()
