"""What every output shares: tables, pages, Markdown, and the formats of findings."""
