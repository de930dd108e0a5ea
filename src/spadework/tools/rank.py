"""The public import path of relevance scoring, which is implemented in `ranking/relevance.py`."""

from spadework.tools.ranking.relevance import query_terms, relevance

__all__ = ["query_terms", "relevance"]
