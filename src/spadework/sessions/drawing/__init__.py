"""The files of a session that people read, drawn from its record."""
