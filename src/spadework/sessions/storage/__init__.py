"""The files of a session."""
