"""Figures of sessions and of this process."""
