"""What can be done about findings, as edits and commands."""

from pathlib import Path

from lsprotocol import types

from kiplint.server import actions
from kiplint.server.buffer import Buffer
from kiplint.server.workspace import Workspace
from tools import definition, field


def test_all_findings_of_a_rule_are_fixed_together(tmp_path: Path) -> None:
    fields = [field(name, "string[]", about="Some.") for name in ("First", "Second")]
    text = definition(*fields, name="Thing", type="data", validVersions="0", flexibleVersions="0+").decode()
    workspace, buffer = Workspace(), Buffer(str(tmp_path / "Thing.json"), text, 1, "utf-16")
    workspace.put(buffer)
    workspace.check(str(tmp_path))
    findings = workspace.fixed(buffer.path)
    first = next(finding for finding in findings if finding.rule == "fields/unknown-type")
    where = buffer.range_of_span(first.span)
    actions_by_title = {item.title: item for item in actions.quick_fixes(workspace, buffer, where, findings, str)}
    together = actions_by_title["Fix all findings of fields/unknown-type in this file"].edit
    assert together is not None
    assert together.changes is not None
    ((path, edits),) = together.changes.items()
    assert (path, [edit.new_text for edit in edits]) == (buffer.path, ['"[]string"'] * 2)
    titles = [item.title for item in actions.quick_fixes(workspace, buffer, buffer.range(0, len(text)), findings, str)]
    assert titles.count("Fix all findings of fields/unknown-type in this file") == 1


def test_a_suppression_is_a_comment_that_check_accepts(tmp_path: Path) -> None:
    text = (
        definition(field("First", "sting"), name="Thing", type="data", validVersions="0").decode().replace("\n", "\r\n")
    )
    workspace, buffer = Workspace(), Buffer(str(tmp_path / "Thing.json"), text, 1, "utf-16")
    workspace.put(buffer)
    findings = workspace.check(str(tmp_path)).findings[buffer.path]
    wrong = next(finding for finding in findings if finding.rule == "fields/unknown-type")
    where = buffer.range_of_span(wrong.span)
    (action,) = actions.more(buffer, where, [wrong], {}, (), "uri")
    assert action.edit is not None
    assert action.edit.changes is not None
    (edit,) = action.edit.changes["uri"]
    change = types.TextDocumentContentChangePartial(range=edit.range, text=edit.new_text)
    workspace.put(buffer.changed([change], 2))
    rules = {finding.rule for finding in workspace.check(str(tmp_path)).findings[buffer.path]}
    assert rules == {finding.rule for finding in findings} - {"fields/unknown-type"}
    assert [*actions.more(buffer, where, [wrong], {}, {wrong.fingerprint}, "uri")] == []
