"""kiplint: linter and compatibility checker for Apache Kafka message schemas."""

__version__ = "0.1.0"
