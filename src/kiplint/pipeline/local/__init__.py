"""What the stages use of Spark's DataFrames, done by DuckDB in this process: for a few revisions, without a JVM."""
