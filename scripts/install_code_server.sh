#!/usr/bin/env bash
# Install code-server, a VS Code that runs in a browser, and the extension's modules, for tests/server/test_vscode.py.
# Everything comes from the npm registry: code-server's own install script also needs GitHub, for a terminal, Kerberos
# and other parts that the test does not use.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../editors"
rg=$(command -v rg) || { echo 'code-server searches the workspace with ripgrep; install it, as with apt-get install ripgrep' >&2; exit 1; }
npm() { command npm --no-audit --no-fund --silent "$@"; }

(cd vscode && npm ci --ignore-scripts)
npm install --no-save --no-package-lock --ignore-scripts code-server@4.96.4 # for Node.js 20
export npm_config_build_from_source=true
npm rebuild argon2
cd node_modules/code-server/lib/vscode
node -e '
  const fs = require("fs");
  const lock = JSON.parse(fs.readFileSync("npm-shrinkwrap.json"));
  for (const locked of Object.values(lock.packages))
    if (locked.resolved?.startsWith("git")) delete locked.resolved, delete locked.integrity; // the registry has it as well
  fs.writeFileSync("npm-shrinkwrap.json", JSON.stringify(lock, null, 2));
'
npm install --omit=dev --ignore-scripts
npm rebuild @vscode/spdlog
mkdir -p node_modules/@vscode/ripgrep/bin
ln -sf "$rg" node_modules/@vscode/ripgrep/bin/rg
