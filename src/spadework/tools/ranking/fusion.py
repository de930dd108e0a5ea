"""Fuse ranked lists by reciprocal rank (Cormack, Clarke, Büttcher, SIGIR 2009)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from math import fsum
from typing import TypeVar

from spadework.tools.web.urls import canonical_url
from spadework.values import Hit

Key = TypeVar("Key", bound=Hashable)


def rank_scores(
    lists: Sequence[Iterable[Key]], k: int = 60, weights: Sequence[float] | None = None
) -> dict[Key, float]:
    """Return each key's score, the sum of weight / (k + rank) over its lists."""
    parts: dict[Key, list[float]] = {}
    weights = [1.0] * len(lists) if weights is None else weights
    for ranked, weight in zip(lists, weights, strict=True):
        seen: set[Key] = set()
        for rank, key in enumerate(ranked, 1):
            if key not in seen:
                parts.setdefault(key, []).append(weight / (k + rank))
            seen.add(key)
    return {key: fsum(found) for key, found in parts.items()}


def reciprocal_rank_fusion(
    lists: Sequence[Iterable[Hit | str]], k: int = 60, weights: Sequence[float] | None = None
) -> list[Hit]:
    """Return one list, best first, with `rrf` = Σ weight / (k + rank) where ranks start at 1.
    `lists` hold hits or URLs, best first. Variants of a URL are one page, which counts once per
    list, at its best rank. The most relevant copy is kept, with the `found_by` of all copies. Ties
    keep their order of first appearance. `weights` has one number per list, 1 by default.
    """
    copies: dict[str, list[Hit]] = {}
    keys: list[list[str]] = []
    for ranked in lists:
        hits = [Hit(url=item) if isinstance(item, str) else item for item in ranked]
        keys.append([canonical_url(hit.url) for hit in hits])
        for key, hit in zip(keys[-1], hits, strict=True):
            copies.setdefault(key, []).append(hit)
    scores = rank_scores(keys, k, weights)
    fused = [_merge_copies(found, scores[key]) for key, found in copies.items()]
    return sorted(fused, key=lambda hit: -hit.rrf)


def _merge_copies(copies: Sequence[Hit], score: float) -> Hit:
    best = max(copies, key=lambda hit: hit.relevance)
    found_by = tuple(dict.fromkeys(found for copy in copies for found in copy.found_by))
    days = (copy.published_at for copy in (best, *copies) if copy.published_at)
    published_at = next(days, None)
    publisher = next((copy.publisher for copy in (best, *copies) if copy.publisher), "")
    kind = next((copy.kind for copy in (best, *copies) if copy.kind), "")
    known = {"published_at": published_at, "publisher": publisher, "kind": kind}
    return best.model_copy(update={"rrf": score, "found_by": found_by, **known})
