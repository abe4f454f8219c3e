"""The parts that all outputs share: tables, pages, Markdown, and the formats of findings."""
