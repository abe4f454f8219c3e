"""The language server: it checks the definitions that an editor has open."""
