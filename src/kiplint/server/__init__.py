"""The language server: what kiplint knows, said while a definition is typed (extra `lsp`)."""
