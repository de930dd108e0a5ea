"""The files of a session for readers, drawn from its record."""
