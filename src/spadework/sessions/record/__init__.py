"""The record of a session, and what is derived from it."""
