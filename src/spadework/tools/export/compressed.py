"""Shorten a result to fit a model's token limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple

from spadework.tools.text.markdown import blocks
from spadework.tools.text.passages import cut
from spadework.values import Evidence, Result, Source
from spadework.visible import one_line

#: Maximum characters of each piece into which `around` cuts a page.
PIECE_CHARS = 1_500
_GAP = "[…]"


def shorten_report(report: str, chars: int) -> str:
    """Cut Markdown to at most `chars` characters, at the end of a block if possible."""
    if len(report) <= chars:
        return report
    ends = [block.end for block in blocks(report) if block.end <= chars]
    return report[: ends[-1] if ends else chars].rstrip()


def around(text: str, spans: Sequence[tuple[int, int]], most: int) -> str:
    """Return up to `most` characters of a page, preferably near `spans`."""
    pieces = cut(text, PIECE_CHARS)
    numbered = [*enumerate(pieces)]
    holding = [n for start, end in spans for n, (at, to) in numbered if at < end and start < to]
    away = {n: min(abs(n - held) for held in holding or [0]) for n, _ in numbered}
    taken, room = set[int](), most
    for n in [*holding, *sorted(away, key=away.__getitem__)]:
        size = pieces[n][1] - (pieces[n - 1][1] if n else 0) + len(_GAP) + 4
        if n not in taken and size <= room:
            taken.add(n)
            room -= size
    return _joined(text, pieces, sorted(taken))


def _joined(text: str, pieces: Sequence[tuple[int, int]], taken: Sequence[int]) -> str:
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
    """Return the largest number up to `top` for which `fits` is true, or 0. If `fits` is true for
    a number, it must be true for all smaller numbers.
    """
    if fits(top):
        return top
    low, high = 0, top
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


#: Number of sources shown in full, and the number of characters to which longer ones are cut.
FULL, FULL_CHARS = 3, 8_000
#: Number of sources shown as key points, and maximum characters of each.
KEY, KEY_CHARS = 3, 800
REFERENCE_CHARS = 200
#: Maximum number of omitted sources that are listed by their numbers.
MOST_NAMED = 12


class Excerpt(NamedTuple):
    """A source and the part of its text that is shown."""

    source: Source
    content: str


@dataclass(frozen=True)
class Compressed:
    """The part of a result that fits the limit. `left_out` says what is missing."""

    report: str = ""
    excerpts: tuple[Excerpt, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Levels:
    full: int
    key: int
    references: int
    report: int


@dataclass(frozen=True)
class _Material:
    result: Result
    sources: Sequence[Source]
    evidence: Mapping[str, Sequence[Evidence]]
    texts: Mapping[str, str]
    #: Cached excerpts of sources shown in full, keyed by source number.
    cut: dict[int, tuple[str, str]] = field(default_factory=dict)


def compress_result(
    result: Result, texts: Mapping[str, str], size: Callable[[Compressed], int], limit: int
) -> Compressed:
    """Return as much of a result as fits into `limit` tokens, as measured by `size`. `texts` maps
    content hashes to page texts. The report itself is cut last.
    """
    material = _material(result, texts)

    def fits(levels: _Levels, most: int = limit) -> bool:
        return size(_compose(material, levels)) <= most

    def most_references(levels: _Levels, most: int = limit) -> _Levels:
        found = largest(levels.references, lambda n: fits(replace(levels, references=n), most))
        return replace(levels, references=found)

    for rung in _ladder(len(material.sources), len(result.report)):
        if fits(replace(rung, references=0)):
            return _compose(material, most_references(rung))
    # If the report alone is too long, cut it, but still list sources.
    bare = size(Compressed())
    none = _Levels(0, 0, len(material.sources), 0)
    listed = most_references(none, bare + (limit - bare) // 3)
    shown = largest(len(result.report), lambda n: fits(replace(listed, report=n)))
    return _compose(material, replace(listed, report=shown))


def _material(result: Result, texts: Mapping[str, str]) -> _Material:
    ledger = {e.id: e for topic in result.topics for e in topic.evidence}
    cited = [ledger[c.evidence_id].url for c in result.citations if c.evidence_id in ledger]
    weights = {source.url: cited.count(source.url) for source in result.sources}
    by_page: dict[str, list[Evidence]] = {}
    for entry in ledger.values():
        by_page.setdefault(entry.url, []).append(entry)
    sources = sorted(result.sources, key=lambda source: (-weights[source.url], source.n))
    return _Material(result, sources, by_page, texts)


def _ladder(sources: int, report: int) -> Iterator[_Levels]:
    every = FULL + KEY
    fewer = [(full, every - full) for full in range(FULL, -1, -1)]
    for full, key in [*fewer, *((0, key) for key in range(every - 1, -1, -1))]:
        shown = min(full, sources)
        points = min(key, sources - shown)
        yield _Levels(shown, points, sources - shown - points, report)


def _compose(material: _Material, levels: _Levels) -> Compressed:
    whole = material.result.report
    report, left_out = shorten_report(whole, levels.report), []
    if len(report.rstrip()) < len(whole.rstrip()):
        said = f"{len(report)} of {len(whole)} characters are shown."
        left_out.append(f"The end of the report: {said}")
    left, excerpts = iter(material.sources), []
    for most, show in (
        (levels.full, _in_full),
        (levels.key, _key_points),
        (levels.references, _reference),
    ):
        for source in islice(left, most):
            content, note = show(material, source)
            excerpts.append(Excerpt(source, content))
            left_out += [f"[{source.n}]: {note}"] if note else []
    if dropped := list(left):
        more = f" and {len(dropped) - MOST_NAMED} more" if len(dropped) > MOST_NAMED else ""
        named = ", ".join(f"[{source.n}]" for source in dropped[:MOST_NAMED])
        left_out.append(f"Sources {named}{more}.")
    return Compressed(report, tuple(excerpts), tuple(left_out))


def _in_full(material: _Material, source: Source) -> tuple[str, str]:
    if source.n in material.cut:
        return material.cut[source.n]
    text = material.texts.get(source.content_hash, "")
    evidence = material.evidence.get(source.url, ())
    spans = [(e.start, e.end) for e in evidence if e.content_hash == source.content_hash]
    shown = text if len(text) <= FULL_CHARS else around(text, spans, FULL_CHARS)
    note = "" if shown == text else f"{len(shown)} of {len(text)} characters are shown."
    material.cut[source.n] = (shown, note) if shown else _key_points(material, source)
    return material.cut[source.n]


def _key_points(material: _Material, source: Source) -> tuple[str, str]:
    quotes = [f"- {e.quote.strip()}" for e in material.evidence.get(source.url, ())]
    if not quotes:
        return one_line(material.texts.get(source.content_hash, ""), KEY_CHARS), ""
    shown: list[str] = []
    for quote in quotes:
        if sum(map(len, shown)) + len(shown) + len(quote) > KEY_CHARS:
            break
        shown.append(quote)
    body = "\n".join(shown) or one_line(quotes[0], KEY_CHARS)
    whole = len(shown) == len(quotes)
    return body, "" if whole else f"{len(shown)} of {len(quotes)} quotes are shown."


def _reference(material: _Material, source: Source) -> tuple[str, str]:
    quote = next((e.quote for e in material.evidence.get(source.url, ())), "")
    return one_line(quote or material.texts.get(source.content_hash, ""), REFERENCE_CHARS), ""
