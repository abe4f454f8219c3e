"""kiplint: linter and compatibility checker for Apache Kafka message schemas."""

try:
    from kiplint._version import __version__ as __version__
except ImportError:  # a copy of the source that nothing has built or installed
    __version__ = "0.0.0+unknown"
