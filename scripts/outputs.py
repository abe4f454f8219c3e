"""Compare what every command prints over the real schemas at a revision of kiplint and in the work tree.

    python scripts/outputs.py main /tmp/outputs

A file below `before` and `after` holds the exit code, standard output and standard error of one command line, and
the script prints the names of those that differ. A directory that is there already is kept: remove `after` to write
it again. The commands run in a scratch directory, so no path of the checkout is in their output.
"""

from __future__ import annotations

import argparse
import filecmp
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path

from kiplint.cli.app import all_commands
from kiplint.commands.schema import NAMES
from kiplint.engine.packs import shipped_rules

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("KIPLINT_CORPUS", ROOT.parent / "shared" / "corpus")).resolve().parent

PAIRS = (
    ("2.8.0", "3.0.0"),
    ("3.6.0", "3.7.0"),
    ("3.7.0", "3.8.0"),
    ("3.9.0-rc3", "confluent-8.0.0"),
    ("confluent-8.2.0", "confluent-8.3.0"),
)
FORMATS = ("text", "json")
LISTS = ("concise", "jsonl", "github", "sarif", "junit", "gitlab", "markdown")
REVISIONS = 20
MISTAKES = {
    "check": ["none.json", "--baseline none.json trunk/clients"],
    "diff": ["a", "trunk/clients none", "--message Fe trunk/clients trunk/clients", "--fail-on-breaks wires a b"],
    "show": ["", "Fetc trunk/clients", "Fetch@99 trunk/clients", "Fetch a b"],
    "negotiate": ["", "trunk/clients"],
    "migrate": ["bump Fetc --set trunk/clients", "kip-1313 none"],
    "rollout": ["a b c", "--header 0 trunk/clients"],
    "kip": ["none", "bytes/java.jsonl"],
    "review": ["--base none trunk", "--base nosuch"],
    "rules": ["nosuch"],
    "explain": ["nosuch", "gap"],
    "schema": ["nosuch"],
}
"""Words after a command that it refuses, or that are seldom written."""


BOTH = {
    "check-all": "check trunk --select all",
    "check-base": "check --base 3.9.0-rc3 . IN history",
    "review": "review --base 3.9.0-rc3 --rollout always IN history",
    "review-auto": "review --base HEAD~20 IN history",
    "show-fetch": "show FetchRequest@10 trunk/clients",
    "rollout-trunk": "rollout trunk/clients",
    "kip-base": "kip kips/kip-1313.txt --base 3.9.0-rc3: --repo history",
    "bump": "migrate bump Fetch --set trunk/clients --dry-run",
    "migrate": "migrate kip-1313 trunk/clients --dry-run",
}
"""Command lines whose text and JSON are written; `IN DIRECTORY` is where they run."""
LIST_COMMANDS = {
    "list-check": "check trunk/clients --select all",
    "list-diff": "diff 3.6.0: 3.7.0: --repo history",
    "list-rollout": "rollout 3.6.0: trunk: --repo history",
    "list-kip": "kip kips/kip-1313.txt --base trunk/clients",
    "list-review": "review --base 3.9.0-rc3 IN history",
    "list-migrate": "migrate kip-1313 trunk/clients --dry-run",
}
"""Command lines that are written in all other formats."""
ONCE = {
    "diff.html": "diff 3.6.0: 3.7.0: --repo history --output-format html",
    "rules": "rules",
    "rules-some": "rules kip-1313 tags/*",
    "patch": "check trunk/clients --fix --unsafe-fixes --diff",
    "bump-patch": "migrate bump Fetch --set trunk/clients --diff",
}
BYTES = "--input-format jsonl --set trunk/clients --set 3.9.0-rc3: --repo history --output-format jsonl"


def cases(history: Path) -> Iterator[tuple[str, str]]:
    """The name of each case, and its words after `kiplint`."""
    both = {**BOTH}
    both |= {
        f"check-{path.name}": f"check trunk/{path.name} --select all" for path in (history.parent / "trunk").iterdir()
    }
    revisions = git(history, "rev-list", "--first-parent", "trunk").split()
    for revision in revisions[:: len(revisions) // REVISIONS][:REVISIONS]:
        both[f"check-{revision[:8]}"] = f"check {revision}: --repo history"
    for old, new in PAIRS:
        for command in ("diff", "rollout", "negotiate"):
            both[f"{command}-{old}-{new}"] = f"{command} {old}: {new}: --repo history"
    for kip in ("kip-35", "kip-78", "kip-511", "kip-1242", "kip-1313"):
        both[kip] = f"kip kips/{kip}.txt --base trunk/clients"
    for name, words in both.items():
        yield from ((f"{name}.{form}", f"{words} --output-format {form}") for form in FORMATS)
    for name, words in LIST_COMMANDS.items():
        yield from ((f"{name}.{form}", f"{words} --output-format {form}") for form in LISTS)
    yield from ONCE.items()
    for file in ("java", "kio", "traffic"):
        yield f"decode-{file}", f"decode bytes/{file}.jsonl {BYTES}"
    for rule in shipped_rules():
        yield f"explain-{rule.id.replace('/', '.')}", f"explain {rule.id}"
    for name in NAMES:
        yield f"schema-{name}", f"schema {name}"
    for words, _ in all_commands():
        yield f"help-{words.replace(' ', '-')}", f"{words} --help".lstrip()
    for name, mistakes in MISTAKES.items():
        yield from ((f"mistake-{name}-{number}", f"{name} {words}") for number, words in enumerate(mistakes))


def git(repository: Path, *words: str) -> str:
    """The output of git."""
    process = subprocess.run(["git", "-C", str(repository), *words], check=True, capture_output=True, text=True)
    return process.stdout


def write(name: str, text: str, into: Path, scratch: Path, source: Path) -> None:
    """Run one case with the kiplint of a source directory, and write its file."""
    place = re.search(r" IN (\S+)", text)
    words = text.replace(place[0], "").split() if place else text.split()
    env = {key: value for key, value in os.environ.items() if not key.startswith(("GITHUB_", "CI"))}
    env |= {"COLUMNS": "120", "NO_COLOR": "", "SOURCE_DATE_EPOCH": "1", "PYTHONPATH": str(source)}
    process = subprocess.run(
        [sys.executable, "-P", "-m", "kiplint", *words],
        check=False,
        cwd=scratch / place[1] if place else scratch,
        capture_output=True,
        env=env,
        stdin=subprocess.DEVNULL,
    )
    head = f"$ kiplint {' '.join(words)}\nexit code {process.returncode}\n--- stderr\n".encode()
    (into / name).write_bytes(head + process.stderr + b"--- stdout\n" + process.stdout)


def write_all(into: Path, source: Path, only: str) -> None:
    """Write the cases of matching names, two at a time."""
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        scratch = Path(directory)
        (scratch / "trunk").symlink_to(DATA / "corpus" / "kafka-trunk-2026-08")
        for name in ("bytes", "kips"):
            (scratch / name).symlink_to(DATA / name)
        history = scratch / "history"
        bundle = DATA / "corpus" / "kafka-schema-history.bundle"
        subprocess.run(["git", "clone", "--quiet", str(bundle), str(history)], check=True)
        selection = [case for case in cases(history) if fnmatch(case[0], only)]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda case: write(case[0], case[1], into, scratch, source), selection))


def write_before(into: Path, revision: str, only: str) -> None:
    """Write the cases with the kiplint of a revision."""
    with tempfile.TemporaryDirectory() as directory:
        archive = subprocess.run(["git", "-C", ROOT, "archive", revision], check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", directory], check=True, input=archive)
        write_all(into, Path(directory, "src"), only)


def main() -> None:
    """Write all cases of both states, and compare them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", help="the revision to compare with")
    parser.add_argument("into", type=Path, help="the directory to write to")
    parser.add_argument("--only", metavar="GLOB", default="*", help="only cases of such names")
    options = parser.parse_args()
    before, after = options.into / "before", options.into / "after"
    if not before.exists():
        write_before(before, options.revision, options.only)
    if not after.exists():
        write_all(after, ROOT / "src", options.only)
    names = sorted({path.name for place in (before, after) for path in place.glob(options.only)})
    match, *others = filecmp.cmpfiles(before, after, names, shallow=False)
    print(f"{len(match)} of {len(names)} outputs are equal", *sorted(name for group in others for name in group))
    sys.exit(len(match) != len(names))


if __name__ == "__main__":
    main()
