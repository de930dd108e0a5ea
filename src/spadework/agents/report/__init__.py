"""Parse and check the text of a report."""
