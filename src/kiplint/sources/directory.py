"""The former place of `open_sets`, which is now in `kiplint.sources.open`."""

from kiplint.sources.open import STDIN, open_sets

__all__ = ["STDIN", "open_sets"]
