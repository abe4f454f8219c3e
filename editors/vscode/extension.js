// Starts `kiplint lsp` and hands it the files that may be definitions. All else is the server's.
"use strict";

const fs = require("fs");
const vscode = require("vscode");
const { CloseAction, ErrorAction, LanguageClient, RevealOutputChannelOn } = require("vscode-languageclient/node");
const { findProgram, advice, install } = require("./program");

let client;
let told = false;

/** The interpreter that the Python extension has chosen, if there is one. */
async function interpreter(folder) {
  try {
    const python = vscode.extensions.getExtension("ms-python.python");
    const environments = (await python?.activate(), python?.exports?.environments);
    const chosen = await environments?.resolveEnvironment(environments.getActiveEnvironmentPath(folder));
    return chosen?.executable.uri?.fsPath;
  } catch {
    return undefined; // another version of the extension, or an environment that is gone
  }
}

function isFile(file) {
  return fs.statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
}

async function program(settings) {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  return findProgram({
    configured: settings.get("command"),
    folder: folder?.fsPath,
    interpreter: await interpreter(folder),
    trusted: vscode.workspace.isTrusted,
    path: process.env.PATH,
    windows: process.platform === "win32",
    isFile,
  });
}

/** Say once what is missing, with the command that installs it. */
async function tell(message) {
  if (told) {
    return;
  }
  told = true;
  const copy = `Copy: ${install}`;
  const settings = "Open settings";
  const choice = await vscode.window.showWarningMessage(`kiplint: ${message}`, copy, settings);
  if (choice === copy) {
    await vscode.env.clipboard.writeText(install);
  } else if (choice === settings) {
    await vscode.commands.executeCommand("workbench.action.openSettings", "kiplint.command");
  }
}

async function start() {
  const settings = vscode.workspace.getConfiguration("kiplint");
  const found = await program(settings);
  if (!found) {
    tell(advice());
    return;
  }
  let runs = false;
  const pattern = settings.get("files");
  const languages = ["json", "jsonc"];
  const failed = (action) => ({ action, handled: true }); // said below, once
  const starting = new LanguageClient("kiplint", "kiplint", found, {
    documentSelector: [
      ...languages.map((language) => ({ scheme: "file", language, pattern })),
      ...languages.map((language) => ({ scheme: "untitled", language })),
    ],
    initializationOptions: { base: settings.get("base") },
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    initializationFailedHandler: () => false,
    errorHandler: {
      error: (...problem) => (runs ? usual.error(...problem) : failed(ErrorAction.Shutdown)),
      closed: () => (runs ? usual.closed() : failed(CloseAction.DoNotRestart)),
    },
  });
  const usual = starting.createDefaultErrorHandler();
  client = starting;
  try {
    await starting.start();
    runs = true;
  } catch (error) {
    tell(advice(found, error.message));
  }
}

async function stop() {
  const stopping = client;
  client = undefined;
  await stopping?.stop().catch(() => undefined); // it may never have started
}

async function restart() {
  told = false;
  await stop();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("kiplint.restart", restart),
    vscode.workspace.onDidGrantWorkspaceTrust(restart),
    vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("kiplint") && restart())
  );
  await start();
}

module.exports = { activate, deactivate: stop };
