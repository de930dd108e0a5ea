"""Shortening text by whole blocks, or by whole pieces around what matters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spadework.tools.text.markdown import blocks
from spadework.tools.text.passages import cut

#: Characters per piece of a page.
PIECE_CHARS = 1_500
_GAP = "[…]"


def shorten_report(report: str, chars: int) -> str:
    """Return at most `chars` of a Markdown text in whole blocks, else the start of the first."""
    if len(report) <= chars:
        return report
    ends = [block.end for block in blocks(report) if block.end <= chars]
    return report[: ends[-1] if ends else chars].rstrip()


def around(text: str, spans: Sequence[tuple[int, int]], most: int) -> str:
    """Return pieces of a page, at most `most` characters: those with `spans` in order, then
    neighbours.
    """
    pieces = cut(text, PIECE_CHARS)
    numbered = [*enumerate(pieces)]
    holding = [n for start, end in spans for n, (at, to) in numbered if at < end and start < to]
    # Distance of each piece from the nearest one with a span.
    away = {n: min(abs(n - held) for held in holding or [0]) for n, _ in numbered}
    taken: set[int] = set()
    room = most
    for n in [*holding, *sorted(away, key=away.__getitem__)]:
        size = pieces[n][1] - (pieces[n - 1][1] if n else 0) + len(_GAP) + 4
        if n not in taken and size <= room:
            taken.add(n)
            room -= size
    return _joined(text, pieces, sorted(taken))


def _joined(text: str, pieces: Sequence[tuple[int, int]], taken: Sequence[int]) -> str:
    """Join the chosen pieces, marking gaps before, between and after them."""
    parts = [_GAP] if taken and taken[0] > 0 else []
    first: int | None = None
    for n, following in zip(taken, [*taken[1:], None], strict=False):
        first = n if first is None else first
        if following == n + 1:
            continue
        parts.append(text[pieces[first][0] : pieces[n][1]])
        if n < len(pieces) - 1:
            parts.append(_GAP)
        first = None
    return "\n\n".join(parts)


def largest(top: int, fits: Callable[[int], bool]) -> int:
    """Return the greatest number up to `top` that fits, given that all smaller ones fit; 0 if
    none.
    """
    if fits(top):
        return top
    low, high = 0, top
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
