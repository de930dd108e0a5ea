"""Rank hits and pages, find copies and contradictions, estimate trust, and search by embeddings."""
