"""Research sessions and their files."""
