"""The public import path of `ranking/relevance.py`."""

from spadework.tools.ranking.relevance import query_terms, relevance

__all__ = ["query_terms", "relevance"]
