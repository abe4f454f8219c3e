// Starts `kiplint lsp` and hands it the files that may be definitions. All else is the server's.
"use strict";

const path = require("path");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function command() {
  const [program, ...args] = vscode.workspace.getConfiguration("kiplint").get("command");
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const isPath = program.includes("/") || program.includes("\\");
  const found = isPath && folder && !path.isAbsolute(program) ? path.join(folder, program) : program;
  return { command: found, args };
}

async function start() {
  const pattern = vscode.workspace.getConfiguration("kiplint").get("files");
  client = new LanguageClient("kiplint", "kiplint", command(), {
    documentSelector: ["json", "jsonc"].map((language) => ({ scheme: "file", language, pattern })),
  });
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(
      `kiplint does not start (${error.message}). It comes with: pip install 'kiplint[lsp]'; the setting kiplint.command names another.`
    );
  }
}

async function stop() {
  const stopping = client;
  client = undefined;
  await stopping?.stop().catch(() => undefined); // it may never have started
}

async function restart() {
  await stop();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("kiplint.restart", restart),
    vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("kiplint") && restart())
  );
  await start();
}

module.exports = { activate, deactivate: stop };
