// Finds the program that is the server. No VS Code in here: what it needs to know is passed in.
"use strict";

const LSP = "kiplint[lsp]";

/**
 * The command of the server and its arguments; undefined where there is none.
 *
 * `configured` is the setting; `folder` the first folder of the workspace; `interpreter` what the Python extension has
 * chosen; `trusted` whether programs of the workspace may run; `path` the PATH; `isFile` tells whether a path is a file.
 */
function findProgram({ configured, folder, interpreter, trusted, path, windows, isFile }) {
  const { dirname, isAbsolute, join, relative } = require("path")[windows ? "win32" : "posix"];
  const suffix = windows ? ".exe" : "";
  if (configured?.length) {
    const [program, ...args] = configured;
    const isPath = program.includes("/") || program.includes("\\");
    return { command: isPath && folder && !isAbsolute(program) ? join(folder, program) : program, args };
  }
  const isInside = (file) => folder && !isAbsolute(relative(folder, file)) && !relative(folder, file).startsWith("..");
  const environments = [".venv", "venv"].map((name) => folder && join(folder, name, windows ? "Scripts" : "bin"));
  const own = [interpreter && dirname(interpreter), ...environments].filter(Boolean);
  const shared = (path ?? "").split(windows ? ";" : ":").filter(isAbsolute);
  const find = (name, directories) =>
    directories.map((directory) => join(directory, name + suffix)).find((file) => (trusted || !isInside(file)) && isFile(file));
  const kiplint = find("kiplint", [...own, ...shared]);
  if (kiplint) {
    return { command: kiplint, args: ["lsp"] };
  }
  const uvx = find("uvx", shared);
  return uvx && { command: uvx, args: ["--from", LSP, "kiplint", "lsp"] };
}

/** What to tell the user, with the command that helps. */
function advice(program, reason) {
  const install = `pip install '${LSP}'`;
  const problem = program ? `${program.command} does not start as a language server (${reason})` : "kiplint is not installed";
  return `${problem}. Run ${install} in the Python environment of the workspace, or install uv; the setting kiplint.command names another program.`;
}

/** The findings without what VS Code itself reports about JSON, where it does; their fixes are still offered. */
function reportedOnce(diagnostics, isValidated) {
  const own = ["invalid-json", "json5-only", "trailing-comma", "trailing-content", "duplicate-key"].map((name) => `syntax/${name}`);
  return isValidated ? diagnostics.filter(({ code }) => !own.includes(code?.value ?? code)) : diagnostics;
}

module.exports = { findProgram, advice, reportedOnce, install: `pip install '${LSP}'` };
