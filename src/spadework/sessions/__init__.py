"""Research sessions: run, stop, resume, and the files they leave."""
