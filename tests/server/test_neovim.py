"""The language server in a real editor: Neovim shows findings, follows edits, and answers hovers."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools import definition, environment, field

pytestmark = pytest.mark.skipif(not shutil.which("nvim"), reason="needs Neovim 0.8 or newer: apt-get install neovim")
SCRIPT = """
local client = vim.lsp.start_client({ name = "kiplint", cmd = vim.split(vim.env.SERVER, "\\n"), root_dir = vim.fn.getcwd() })
vim.cmd("edit XRequest.json")
local buffer = vim.api.nvim_get_current_buf()
vim.lsp.buf_attach_client(buffer, client)
local function codes(count)
  vim.wait(20000, function() return #vim.diagnostic.get(buffer) == count end, 20)
  local shown = {}
  for _, found in ipairs(vim.diagnostic.get(buffer)) do table.insert(shown, { found.lnum, found.code }) end
  return shown
end
local result = { before = codes(1) }
local line = result.before[1][1]
local text = vim.api.nvim_buf_get_lines(buffer, line, line + 1, true)[1]
local hover = vim.lsp.buf_request_sync(buffer, "textDocument/hover",
  { textDocument = { uri = vim.uri_from_bufnr(buffer) }, position = { line = line, character = text:find("type") } }, 20000)
for _, answer in pairs(hover) do result.hover = answer.result.contents.value end
vim.api.nvim_buf_set_lines(buffer, line, line + 1, true, { (text:gsub("int23", "int32")) })
result.after = codes(0)
io.stdout:write(vim.fn.json_encode(result))
vim.cmd("qall!")
"""


def test_findings_follow_edits_and_hovers_are_answered(tmp_path: Path) -> None:
    text = definition(field("Count", "int23", about="The number of things."))
    (tmp_path / "XRequest.json").write_text(json.dumps(json.loads(text), indent=1))
    (tmp_path / "kiplint.toml").write_text('select = ["fields"]\n')
    (tmp_path / "run.lua").write_text(SCRIPT)
    command = ["nvim", "--headless", "--clean", "-c", "luafile run.lua", "-c", "cquit"]
    homes = {f"XDG_{name}_HOME": str(tmp_path / "home") for name in ("CACHE", "CONFIG", "DATA", "STATE")}
    env = {**environment(), **homes, "SERVER": "\n".join((sys.executable, "-m", "kiplint", "lsp"))}
    process = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=100, check=False)
    result = json.loads(process.stdout)
    assert [code for _, code in result["before"]] == ["fields/unknown-type"]
    assert result["hover"].startswith("**`Count`** `int23` in `XRequest`")
    assert result["after"] == []
