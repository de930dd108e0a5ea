"""Store a session's journal (its answers and their costs), its events and its pages."""
