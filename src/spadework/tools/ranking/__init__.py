"""Rank hits and pages, find duplicates and contradictions, and estimate trust.
Embed passages and questions, and search for nearest neighbours.
"""
