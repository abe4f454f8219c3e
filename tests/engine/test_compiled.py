"""Packs as Python modules: the same as what is compiled in memory, never stale, and made by the build."""

from __future__ import annotations

import ast
import importlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import kiplint.compat.kinds  # noqa: F401 - so that rules about changes are known
from kiplint.engine import rule
from kiplint.engine import ruleset as rulesets
from kiplint.engine.config import Config
from kiplint.engine.finding import Finding
from kiplint.engine.packs import shipped_rules
from kiplint.engine.rule import Rule
from kiplint.engine.ruleset import RuleSet, make_ruleset
from kiplint.engine.run import Input, check_set
from kiplint.engine.translate import module_text
from tools import definition, field

PACKS = {pack: list(rules) for pack, rules in groupby(shipped_rules(), key=lambda rule: rule.pack)}
TOPIC = field("Topic", about="What it is about.")


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory in the place of `kiplint.compiled`, empty at first."""
    package = importlib.import_module("kiplint.compiled")
    monkeypatch.setattr(package, "__path__", [str(tmp_path)])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    modules_by_name = {name: module for name, module in sys.modules.items() if name.startswith("kiplint.compiled.")}
    for name in modules_by_name:
        monkeypatch.delitem(sys.modules, name)
        monkeypatch.delattr(package, name.rpartition(".")[2])
    forget()
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("kiplint.compiled.")]:
        del sys.modules[name]
    forget()


def forget() -> None:
    """Look for modules anew."""
    rulesets._module.cache_clear()
    importlib.invalidate_caches()


def write(folder: Path, pack: str, text: str) -> None:
    (folder / f"{pack.replace('-', '_')}.py").write_text(text, encoding="utf-8")


def ruleset(rules: list[Rule]) -> RuleSet:
    return make_ruleset(Config(select=["all"]), rules)


def findings(rules: RuleSet, files: Iterable[tuple[str, bytes]]) -> list[Finding]:
    return [replace(finding, url="") for finding in check_set([Input(*file) for file in files], rules).findings]


def in_memory(rules: Iterable[Rule]) -> list[Rule]:
    """The same rules, as if no module were theirs."""
    return [replace(rule, stamp="") for rule in rules]


def sets_below(root: Path) -> list[list[tuple[str, bytes]]]:
    folders = sorted({file.parent for file in root.rglob("*.json")})
    return [[(file.name, file.read_bytes()) for file in sorted(folder.glob("*.json"))] for folder in folders]


def module_of(rule: Rule) -> dict[str, Any] | None:
    return rulesets._module(rule.pack, rule.stamp)


@pytest.mark.parametrize("pack", PACKS)
def test_a_module_reads_and_says_what_it_is_of(pack: str) -> None:
    text = module_text(pack, PACKS[pack])
    tree = ast.parse(text)
    assert ast.get_docstring(tree)
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    rows = {f"describe_{rule.spec.id.replace('-', '_')}" for rule in PACKS[pack] if rule.spec.message or rule.spec.says}
    assert functions == rows | {f"walk_{rule.each}" for rule in PACKS[pack]}
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]


def test_modules_find_what_memory_finds(repo: Path, modules: Path) -> None:
    for pack, rules in PACKS.items():
        write(modules, pack, module_text(pack, rules))
    every = [rule for rules in PACKS.values() for rule in rules]
    assert all(module_of(rule) for rule in every)
    module_rules, memory = ruleset(every), ruleset(in_memory(every))
    for files in sets_below(repo / "fixtures"):
        assert findings(module_rules, files) == findings(memory, files)


WRONG = "def walk_field(elements, hit, active):\n    raise ValueError('stale')\nfield_rules = ()\n"


@pytest.mark.parametrize(
    "text",
    [
        WRONG,
        "PACK = 'other'\n" + WRONG,
        "PACK = '{stamp}'\nTRANSLATOR = 'older'\n" + WRONG,
        "PACK = '{stamp}'\n" + WRONG,
        "def half(",
        "import nothing_of_that_name",
        "",
    ],
)
def test_a_stale_module_is_not_used(modules: Path, text: str) -> None:
    rules = PACKS["tags"]
    write(modules, "tags", text.replace("{stamp}", rules[0].stamp))
    assert module_of(rules[0]) is None
    result = findings(ruleset(rules), [("X.json", definition(field("A", tag=1, taggedVersions="0+")))])
    assert "tags/gap" in {finding.rule for finding in result}


def test_a_wheel_asks_for_its_pack_alone(modules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = PACKS["tags"]
    text = module_text("tags", rules).replace(rule.translator_stamp(), "another")
    write(modules, "tags", text)
    assert module_of(rules[0]) is None
    monkeypatch.setattr(rulesets, "in_checkout", lambda: False)
    forget()
    assert module_of(rules[0])


def test_rules_of_users_have_no_module(modules: Path) -> None:
    write(modules, "house", "PACK = ''\nTRANSLATOR = ''\n" + WRONG)
    assert rulesets._module("house", "") is None


def test_an_edited_pack_counts_at_once(repo: Path, tmp_path: Path) -> None:
    """In a copy of the checkout: an edited pack runs before it is compiled again."""
    shutil.copytree(repo / "src", tmp_path / "src")
    shutil.copytree(repo / "rules", tmp_path / "rules")
    shutil.copy(repo / "hatch_build.py", tmp_path)
    (tmp_path / "X.json").write_bytes(definition(TOPIC, field("A", tag=1, taggedVersions="0+"), name="X", type="data"))
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "src")}

    command = ("-m", "kiplint", "check", "X.json", "--isolated", "--select", "tags/gap", "--output-format", "concise")

    def describe_gap() -> tuple[str, bool]:
        """What a check prints, and whether it compiled rules."""
        process = subprocess.run(
            [sys.executable, "-X", "importtime", *command],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        return process.stdout, "kiplint.engine.translate" in process.stderr

    subprocess.run([sys.executable, "hatch_build.py"], cwd=tmp_path, env=env, check=True)
    for file in (tmp_path / "src/kiplint/compiled").glob("*.py"):
        os.utime(file, (1_000_000_000, 1_000_000_000))  # Python takes one of the same second and size for the same
    text, anew = describe_gap()
    assert "comes after a gap" in text
    assert not anew
    pack, original = tmp_path / "rules/tags.json", (repo / "rules/tags.json").read_text("utf-8")
    stat = pack.stat()
    pack.write_text(original.replace("comes after a gap", "COMES AFTER A GAP"), encoding="utf-8")
    os.utime(pack, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    text, anew = describe_gap()
    assert "COMES AFTER A GAP" in text
    assert anew
    pack.write_text(original, encoding="utf-8")
    engine = tmp_path / "src/kiplint/engine/runtime.py"
    engine.write_text(engine.read_text("utf-8") + "\n# edited\n", encoding="utf-8")
    assert describe_gap()[1]
    with ThreadPoolExecutor(4) as pool:
        list(
            pool.map(
                lambda _: subprocess.run([sys.executable, "hatch_build.py"], cwd=tmp_path, env=env, check=True),
                range(4),
            )
        )
    assert not describe_gap()[1]
    assert {file.suffix for file in (tmp_path / "src/kiplint/compiled").iterdir() if file.is_file()} == {".py"}


def test_deselected_rules_do_not_run() -> None:
    gap = next(rule for rule in PACKS["tags"] if rule.id == "tags/gap")
    wrong = definition(field("A", tag=1, taggedVersions="0"))
    every = {finding.rule for finding in check_set([Input("X.json", wrong)], RuleSet(PACKS["tags"], [])).findings}
    alone = [finding.rule for finding in check_set([Input("X.json", wrong)], RuleSet([gap], [])).findings]
    assert "tags/gap" in every
    assert len(every) > 1
    assert alone == ["tags/gap"]


def test_params_and_severities_reach_modules() -> None:
    config = Config(select=["fields/reserved-name"], severity={"fields/reserved-name": "info"})
    (rule,) = make_ruleset(config, shipped_rules()).rules
    rules = RuleSet([replace(rule, params={**rule.params, "names": ["topic"]})], [rule])
    (finding,) = check_set([Input("X.json", definition(TOPIC, field("Class")))], rules).findings
    assert (finding.severity, finding.pointer) == ("info", "/fields/0/name")
