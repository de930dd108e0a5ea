"""Build a run's report: its body, its sources, and what was not found."""
