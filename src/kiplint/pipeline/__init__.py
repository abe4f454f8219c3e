"""Histories of many repositories and forks on Spark: tables, the stages that fill them, and views that query them."""

import os

# delta-rs would warn of each binary column, which has no statistics. It reads this when it is imported.
os.environ.setdefault("RUST_LOG", "error")
