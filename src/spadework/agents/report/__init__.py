"""Parse and check a report's text."""
