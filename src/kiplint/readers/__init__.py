"""Other readers of the definitions: what each takes, as data, and a replay of how it reads them."""
