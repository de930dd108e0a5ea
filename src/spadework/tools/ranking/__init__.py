"""Rank hits and pages, find duplicates and contradictions, and estimate trust."""
