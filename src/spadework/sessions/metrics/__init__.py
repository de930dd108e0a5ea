"""Statistics of sessions, and metrics of this process."""
