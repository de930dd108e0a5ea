"""The terminal: live view of a run, chat, and input."""
