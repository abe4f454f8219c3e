"""Histories of many repositories and forks, on Spark: tables, the stages that fill them, and views that answer."""
