"""What every report is made with: colours, tables, Markdown."""
