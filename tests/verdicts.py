"""The verdicts of Kafka's own generator on mutations of real definitions, replayed through the engine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonpatch

from kiplint.engine.config import Config, RuleTable
from kiplint.engine.finding import Finding
from kiplint.engine.run import check_set
from kiplint.sources.schema_files import SchemaFile
from kiplint.text.decode import blank_comments
from tools import rules_of

TRUNK = "kafka-trunk-2026-08"


@dataclass(frozen=True)
class Case:
    """One mutation: its row, and the files that the checker sees, by path."""

    row: dict[str, Any]
    files: dict[str, bytes]
    single_file: bool
    require: bool

    @property
    def errors(self) -> list[str]:
        return sorted({finding.rule for finding in self.findings if finding.severity == "error"})

    @property
    def findings(self) -> list[Finding]:
        inputs = [SchemaFile(path, data) for path, data in sorted(self.files.items())]
        required = {"kip-1313/header-missing": RuleTable(params={"require": True})} if self.require else {}
        return check_set(inputs, rules_of(Config(rules=required)), single_file=self.single_file).findings


def cases(verdicts: Path, corpus: Path, name: str) -> Iterator[Case]:
    """The cases of one verdict file. What compiles to no Java is refused, and amendments replace the verdict."""
    amendments = json.loads((verdicts / "header-amended.json").read_text(encoding="utf-8"))
    for line in (verdicts / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        row |= amendments.get(row["id"], {})
        if row.get("javac") == "error":
            row |= {"verdict": "reject", "reason": "the generated Java does not compile"}
        yield _MAKERS[name](row, corpus / TRUNK)


def undo_mutation(case: Case, corpus: Path, name: str) -> Case:
    """The case as it was before its mutation, of the same verdict file; in the same layout, without comments."""
    row = {**case.row, "patch": [], "remove": [], "copies": []}
    row["patches"] = dict.fromkeys(row.get("patches", {}), [])
    if "text_edit" in row:
        row["text_edit"] = {**row["text_edit"], "replace": row["text_edit"]["find"]}
    return _MAKERS[name](row, corpus / TRUNK)


def _single(row: dict[str, Any], trunk: Path) -> Case:
    return Case(row, {row["base"]: _mutate(row, trunk / row["base"])}, True, False)


def _header(row: dict[str, Any], trunk: Path) -> Case:
    files = {row["base"]: _mutate(row, trunk / row["base"])}
    for name in row.get("with_files", []):
        files[name] = _dump(_add_headers(_json(trunk / name)))
    return Case(row, files, row["scope"] == "single", row["mode"] == "mandatory")


def _set(row: dict[str, Any], trunk: Path) -> Case:
    files = {f"{row['set']}/{file.name}": file.read_bytes() for file in (trunk / row["set"]).glob("*.json")}
    for name, patch in row.get("patches", {}).items():
        files[name] = _dump(jsonpatch.apply_patch(_json(trunk / name), patch))
    for name in row.get("remove", []):
        del files[name]
    for copy in row.get("copies", []):
        files[copy["to"]] = _dump(jsonpatch.apply_patch(_json(trunk / copy["from"]), copy["patch"]))
    return Case(row, files, False, False)


_MAKERS = {"single": _single, "header": _header, "set": _set}


def _mutate(row: dict[str, Any], file: Path) -> bytes:
    if "text_edit" in row:
        text = file.read_text()
        assert text.count(row["text_edit"]["find"]) >= 1, row["id"]
        return text.replace(row["text_edit"]["find"], row["text_edit"]["replace"], 1).encode()
    return _dump(jsonpatch.apply_patch(_json(file), row.get("patch") or []))


def _add_headers(document: dict[str, Any]) -> dict[str, Any]:
    """A request or response with headerVersions derived from its flexible versions."""
    if document["type"] not in ("request", "response") or document["validVersions"] == "none":
        return document
    old, new = ("1", "2") if document["type"] == "request" else ("0", "1")
    start = document["flexibleVersions"].removesuffix("+")
    if document["name"] == "ApiVersionsResponse" or start == "none":
        ranges = {"0+": old}
    elif start == "0":
        ranges = {"0+": new}
    else:
        last = int(start) - 1
        ranges = {"0" if last == 0 else f"0-{last}": old, f"{start}+": new}
    return {**document, "headerVersions": ranges}


def _json(file: Path) -> Any:
    return json.loads(blank_comments(file.read_bytes()))


def _dump(document: Any) -> bytes:
    return json.dumps(document, indent=2, ensure_ascii=False).encode()
