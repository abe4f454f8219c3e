"""The fixture of real bytes, as the tests of the codec have it."""

from codec.conftest import shared_bytes

__all__ = ["shared_bytes"]
