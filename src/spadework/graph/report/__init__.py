"""The report of a run: its body, its sources, what is pruned and what was not found."""
