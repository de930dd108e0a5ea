"""A session's record, and the files derived from it."""
