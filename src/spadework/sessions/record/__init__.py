"""The record of a session, and what is folded and drawn from it."""
