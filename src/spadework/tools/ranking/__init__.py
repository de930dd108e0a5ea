"""Ranking of hits and pages, duplicates, and trust."""
