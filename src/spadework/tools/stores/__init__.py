"""Storage: the journal of a session, its pages, and file access."""
