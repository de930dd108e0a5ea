"""A session's files."""
