"""The report of a run: body, sources, pruning, and what was not found."""
