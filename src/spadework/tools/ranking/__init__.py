"""Rank hits and pages, find duplicates and contradictions, and judge trust."""
