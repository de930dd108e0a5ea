"""A session's record, and the files that are derived from it."""
