"""The language server: findings, fixes, completion and hover texts while a definition is typed (extra `lsp`)."""
