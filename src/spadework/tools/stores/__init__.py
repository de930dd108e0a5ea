"""Store a session's journal (answers and their costs), events and pages."""
