"""The terminal interface: the live view of a run, the chat, and input."""
