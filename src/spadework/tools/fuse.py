"""Fusion of ranked lists: the public address of `ranking/fusion.py`."""

from spadework.tools.ranking.fusion import reciprocal_rank_fusion

__all__ = ["reciprocal_rank_fusion"]
