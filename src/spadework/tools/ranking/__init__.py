"""Rank hits and pages, find duplicates and contradictions, estimate trust, and search by
embeddings.
"""
