"""A result within a token limit for a calling model: report, full sources, key points (S11)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple

from spadework.tools.export.fitted_text import around, largest, shorten_report
from spadework.tools.text.markdown import one_line
from spadework.values import Evidence, Result, Source

#: Sources at each level, and maximum characters of each.
FULL, FULL_CHARS = 3, 8_000
KEY, KEY_CHARS = 3, 800
REFERENCE_CHARS = 200
#: Omitted sources that are listed individually.
MOST_NAMED = 12


class Excerpt(NamedTuple):
    """The part of a source's text that is shown."""

    source: Source
    content: str


@dataclass(frozen=True)
class Compressed:
    """The report and its most important sources that fit; `left_out` lists the rest in
    sentences.
    """

    report: str = ""
    excerpts: tuple[Excerpt, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Levels:
    """Numbers of sources in full, as key points and as references, and characters of the report."""

    full: int
    key: int
    references: int
    report: int


@dataclass(frozen=True)
class _Material:
    """The sources, most important first, the ledger by page, and the texts by hash."""

    result: Result
    sources: Sequence[Source]
    evidence: Mapping[str, Sequence[Evidence]]
    texts: Mapping[str, str]
    #: Cached excerpts of full sources by number: cutting is slow, and many levels are tried.
    cut: dict[int, tuple[str, str]] = field(default_factory=dict)


def compress_result(
    result: Result,
    texts: Mapping[str, str],
    size: Callable[[Compressed], int],
    limit: int,
) -> Compressed:
    """Return as much of a result as has a `size` of at most `limit` tokens.

    `texts` holds the stored pages by content hash, as far as available. What does not fit is
    dropped in the order of S11: references, length of full sources, key points, end of the report.
    If not even a source without its text fits, the result is empty.
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
    # Not even the report fits; its numbers still lead to addresses.
    bare = size(Compressed())
    none = _Levels(0, 0, len(material.sources), 0)
    listed = most_references(none, bare + (limit - bare) // 3)
    shown = largest(len(result.report), lambda n: fits(replace(listed, report=n)))
    return _compose(material, replace(listed, report=shown))


def _material(result: Result, texts: Mapping[str, str]) -> _Material:
    """Sort the sources by the number of sentences that cite them, then by their numbers."""
    ledger = {e.id: e for topic in result.topics for e in topic.evidence}
    cited = [ledger[c.evidence_id].url for c in result.citations if c.evidence_id in ledger]
    weights = {source.url: cited.count(source.url) for source in result.sources}
    by_page: dict[str, list[Evidence]] = {}
    for entry in ledger.values():
        by_page.setdefault(entry.url, []).append(entry)
    sources = sorted(result.sources, key=lambda source: (-weights[source.url], source.n))
    return _Material(result, sources, by_page, texts)


def _ladder(sources: int, report: int) -> Iterator[_Levels]:
    """Yield ever smaller levels with all references: fewer full sources, then fewer key points."""
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
        left_out.append(
            f"The end of the report: {len(report)} of {len(whole)} characters are shown."
        )
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
    """Return a source's text around its evidence, and a note of what is missing."""
    if source.n in material.cut:
        return material.cut[source.n]
    text = material.texts.get(source.content_hash, "")
    evidence = material.evidence.get(source.url, ())
    spans = [(e.start, e.end) for e in evidence if e.content_hash == source.content_hash]
    shown = text if len(text) <= FULL_CHARS else around(text, spans, FULL_CHARS)
    note = "" if shown == text else f"{len(shown)} of {len(text)} characters are shown."
    made = (shown, note) if shown else _key_points(material, source)
    material.cut[source.n] = made
    return made


def _key_points(material: _Material, source: Source) -> tuple[str, str]:
    """Return as many whole quotes of a source as fit, else the beginning of the first."""
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
    said = quote or material.texts.get(source.content_hash, "")
    return one_line(said, REFERENCE_CHARS), ""
