"""The public import path for rank fusion from `ranking/relevance.py`."""

from spadework.tools.ranking.relevance import reciprocal_rank_fusion

__all__ = ["reciprocal_rank_fusion"]
