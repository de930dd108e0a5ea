"""Export formats of the report."""
