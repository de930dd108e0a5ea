"""Store a session: its journal, its record and its pages."""
