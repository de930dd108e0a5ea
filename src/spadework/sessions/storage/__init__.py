"""What a session stores on disk."""
