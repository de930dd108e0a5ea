"""Session statistics and process metrics."""
