// Starts `kiplint lsp` and hands it the files that may be definitions. All else is the server's.
"use strict";

const fs = require("fs");
const vscode = require("vscode");
const { CloseAction, ErrorAction, LanguageClient, RevealOutputChannelOn } = require("vscode-languageclient/node");
const { findProgram, advice, install, reportedOnce } = require("./program");

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

/** A client that leaves it to `tell` to say that the server does not start. */
class Client extends LanguageClient {
  runs = false;

  error(message, data, notify) {
    super.error(message, data, this.runs && notify);
  }
}

/** Say once what is missing, with the command that installs it; `output` is what a program that failed has written. */
async function tell(message, output) {
  if (told) {
    return;
  }
  told = true;
  const actions = {
    [`Copy: ${install}`]: () => vscode.env.clipboard.writeText(install),
    "Open settings": () => vscode.commands.executeCommand("workbench.action.openSettings", "kiplint.command"),
    ...(output && { "Show output": () => output.show() }),
  };
  await actions[await vscode.window.showWarningMessage(message, ...Object.keys(actions))]?.();
}

async function start() {
  const settings = vscode.workspace.getConfiguration("kiplint");
  const found = await program(settings);
  if (!found) {
    tell(advice());
    return;
  }
  const pattern = settings.get("files");
  const starting = new Client("kiplint", "kiplint", found, {
    documentSelector: ["json", "jsonc"].map((language) => ({ scheme: "file", language, pattern })),
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    initializationFailedHandler: () => false,
    middleware: {
      handleDiagnostics: (uri, diagnostics, next) => {
        const isValidated = vscode.extensions.getExtension("vscode.json-language-features") && vscode.workspace.getConfiguration("json").get("validate.enable");
        next(uri, reportedOnce(diagnostics, isValidated));
      },
    },
    errorHandler: {
      error: (...problem) => (starting.runs ? usual.error(...problem) : { action: ErrorAction.Shutdown }),
      closed: () => (starting.runs ? usual.closed() : { action: CloseAction.DoNotRestart }),
    },
  });
  const usual = starting.createDefaultErrorHandler();
  client = starting;
  try {
    await starting.start();
    starting.runs = true;
  } catch (error) {
    tell(advice(found, error.message), starting.outputChannel);
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

/** Whether a file lies where Apache Kafka keeps definitions, whatever folder is open. */
function isDefinition({ contributes }, document) {
  const patterns = contributes.languages.flatMap((language) => language.filenamePatterns);
  return patterns.some((pattern) => vscode.languages.match({ scheme: "file", pattern }, document));
}

/** Whether the workspace has a file that its `workspaceContains` events name. */
async function hasDefinitions({ activationEvents }) {
  const event = "workspaceContains:";
  const patterns = activationEvents.filter((written) => written.startsWith(event)).map((written) => written.slice(event.length));
  return (await vscode.workspace.findFiles(`{${patterns.join(",")}}`, undefined, 1)).length > 0;
}

/** Start in a workspace of definitions, or with the first of them: other JSON with comments activates this too. */
async function activate(context) {
  const { packageJSON } = context.extension;
  let begun = false;
  async function begin() {
    if (!begun) {
      begun = true;
      context.subscriptions.push(
        vscode.workspace.onDidGrantWorkspaceTrust(restart),
        vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("kiplint") && restart())
      );
      await restart();
    }
  }
  context.subscriptions.push(
    vscode.commands.registerCommand("kiplint.restart", restart),
    vscode.workspace.onDidOpenTextDocument((document) => isDefinition(packageJSON, document) && begin())
  );
  const isOpen = vscode.workspace.textDocuments.some((document) => isDefinition(packageJSON, document));
  if (isOpen || (await hasDefinitions(packageJSON))) {
    await begin();
  }
}

module.exports = { activate, deactivate: stop };
