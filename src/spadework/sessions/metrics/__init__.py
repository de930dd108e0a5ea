"""Figures of sessions and of the process."""
