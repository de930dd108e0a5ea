"""Numbered lists among quotes, if the numbers drawn would match the page's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

from spadework.values import Evidence, Sentence


def step_items(
    told: Sequence[Sentence], ledger: Mapping[str, Evidence]
) -> dict[int, tuple[tuple[Sentence, ...], ...]]:
    """Return the items of each numbered list, by the index of its first sentence. Its steps start
    with the first and are complete; only code may stand between two, and joins the step before.
    """
    lists: dict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
    for n, one in enumerate(told):
        cited = ledger.get(one.evidence_ids[0]) if len(one.evidence_ids) == 1 else None
        if cited and cited.step is not None and cited.steps is not None:
            lists[cited.content_hash, cited.steps].append((n, cited.step))
    found = {}
    for own in lists.values():
        places, numbers = zip(*own, strict=True)
        between = [one for a, b in pairwise(places) for one in told[a + 1 : b]]
        counts_up = list(numbers) == list(range(1, len(own) + 1))
        if len(own) > 1 and counts_up and all(one.code for one in between):
            ends = (*places[1:], places[-1] + 1)
            found[places[0]] = tuple(tuple(told[a:b]) for a, b in zip(places, ends, strict=True))
    return found
