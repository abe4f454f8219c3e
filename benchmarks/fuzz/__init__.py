"""Input that nobody wrote: damaged, grown and spliced, for every surface that reads what strangers send."""
