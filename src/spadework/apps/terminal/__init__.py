"""The terminal: the live view of a run, the chat, and what is typed there."""
