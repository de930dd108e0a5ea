"""Implement the roles of the research loop, one per module."""
