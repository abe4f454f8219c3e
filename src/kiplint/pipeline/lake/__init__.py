"""The lake: Delta tables below one place, read and written without a JVM."""
