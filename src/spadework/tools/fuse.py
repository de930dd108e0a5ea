"""The public import path of rank fusion, implemented in `ranking/fusion.py`."""

from spadework.tools.ranking.fusion import reciprocal_rank_fusion

__all__ = ["reciprocal_rank_fusion"]
