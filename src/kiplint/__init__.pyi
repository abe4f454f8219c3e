from kiplint.api import *  # noqa: F403

__version__: str
__all__: list[str]
