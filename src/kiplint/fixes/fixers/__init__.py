"""The fixers: small functions from a broken rule to edits, by the names that rules give them."""
