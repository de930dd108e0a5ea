"""Store a session's journal, record and pages."""
