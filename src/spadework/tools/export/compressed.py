"""A result for a calling model in so many tokens: report, sources in full, key points (S11)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice

from spadework.tools.export.fitting import around, largest, shorten_report
from spadework.tools.export.markdown_report import escape_markdown
from spadework.tools.text.markdown_marks import one_line
from spadework.tools.text.tokens import count
from spadework.values import Evidence, Result, Source
from spadework.visible import visible

#: Sources at each level, and the characters of each source there.
FULL, FULL_CHARS = 3, 8_000
KEY, KEY_CHARS = 3, 800
REFERENCE_CHARS = 200
#: The least tokens to fit in: what is always there takes about half of them.
LEAST_TOKENS = 500
#: Left-out sources that are named one by one.
MOST_NAMED = 12
#: A longer path is not shown: half of it would be wrong.
LONGEST_PATH = 300


@dataclass(frozen=True)
class Levels:
    """Sources in full, as key points and as references, and characters of the report."""

    full: int
    key: int
    references: int
    report: int


@dataclass(frozen=True)
class Material:
    """The sources, weightiest first, the ledger by page, texts by hash, the fence for them."""

    result: Result
    sources: Sequence[Source]
    evidence: Mapping[str, Sequence[Evidence]]
    texts: Mapping[str, str]
    fenced: Callable[[str], str]
    where: str
    #: Sources in full as cut, by number: cutting takes time, and many levels are tried.
    cut: dict[int, tuple[str, str]] = field(default_factory=dict)


def compress_result(
    result: Result,
    texts: Mapping[str, str],
    *,
    limit: int,
    fenced: Callable[[str], str],
    where: str = "",
) -> str:
    """The answer as Markdown, at most `limit` tokens; the same for the same result.

    `texts` are the stored pages by content hash, as far as they are at hand; `fenced` encloses text
    from pages; `where` says where the files of the session are. What does not fit is left out in
    the order of S11: references, the length of sources in full, key points, the end of the report.
    What is left out is named. Raises ValueError for a limit under LEAST_TOKENS.
    """
    if limit < LEAST_TOKENS:
        raise ValueError(f"An answer cannot fit in {limit} tokens: {LEAST_TOKENS} are the least.")
    material = _material(result, texts, fenced, where)

    def fits(levels: Levels, references: int, most: int = limit) -> bool:
        return count(_composed(material, replace(levels, references=references))) <= most

    for rung in _ladder(len(material.sources), len(result.report)):
        if fits(rung, 0):
            best = largest(rung.references, partial(fits, rung))
            return _composed(material, replace(rung, references=best))
    # Not even the report fits: its numbers still lead to addresses.
    none = Levels(0, 0, 0, 0)
    listed = largest(len(material.sources), lambda n: fits(none, n, limit // 3))
    shown = largest(len(result.report), lambda n: fits(replace(none, report=n), listed))
    return _composed(material, Levels(0, 0, listed, shown))


def _material(
    result: Result, texts: Mapping[str, str], fenced: Callable[[str], str], where: str
) -> Material:
    """The sources by how many sentences of the report rest on them, then by their numbers."""
    ledger = {e.id: e for topic in result.topics for e in topic.evidence}
    cited = [ledger[c.evidence_id].url for c in result.citations if c.evidence_id in ledger]
    weights = {source.url: cited.count(source.url) for source in result.sources}
    by_page: dict[str, list[Evidence]] = {}
    for entry in ledger.values():
        by_page.setdefault(entry.url, []).append(entry)
    sources = sorted(result.sources, key=lambda source: (-weights[source.url], source.n))
    return Material(result, sources, by_page, texts, fenced, where)


def _ladder(sources: int, report: int) -> Iterator[Levels]:
    """Ever less, with all references left: fewer sources in full, then fewer key points."""
    every = FULL + KEY
    fewer = [(full, every - full) for full in range(FULL, -1, -1)]
    for full, key in [*fewer, *((0, key) for key in range(every - 1, -1, -1))]:
        shown = min(full, sources)
        points = min(key, sources - shown)
        yield Levels(shown, points, sources - shown - points, report)


def _composed(material: Material, levels: Levels) -> str:
    report, ends = material.result.report, (levels.full, levels.key, levels.references)
    left = iter(material.sources)
    full, key, references = (list(islice(left, most)) for most in ends)
    dropped = list(left)
    parts = [shorten_report(report, levels.report).rstrip()]
    missing: list[str] = []
    if len(parts[0]) < len(report.rstrip()):
        shown_of = f"{len(parts[0])} of {len(report)} characters are shown"
        missing.append(f"The end of the report: {shown_of}.")
    for heading, sources, shown in (
        ("Sources in full", full, _in_full),
        ("Key points of further sources", key, _key_points),
    ):
        bodies = [(source, *shown(material, source)) for source in sources]
        parts += [f"# {heading}"] if bodies else []
        for source, body, note in bodies:
            fenced = material.fenced(f"{_head(source)}\n\n{body}") if body else ""
            parts += [f"[{source.n}]\n{fenced}"] if body else []
            missing += [f"[{source.n}]: {note}"] if note else []
    if references:
        listed = "\n".join(_reference(source) for source in references)
        parts += ["# Further sources", material.fenced(listed)]
    if dropped:
        more = f" and {len(dropped) - MOST_NAMED} more" if len(dropped) > MOST_NAMED else ""
        named = ", ".join(f"[{source.n}]" for source in dropped[:MOST_NAMED])
        missing.append(f"Sources {named}{more}.")
    if missing:
        parts += ["# Left out of this answer", "\n".join(f"- {line}" for line in missing)]
    return visible("\n\n".join(part for part in [*parts, _pointer(material)] if part)) + "\n"


def _in_full(material: Material, source: Source) -> tuple[str, str]:
    """The text of a source around its evidence, and what is missing of it."""
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


def _key_points(material: Material, source: Source) -> tuple[str, str]:
    """The quotes from a source, as many whole ones as fit, else the beginning of the first."""
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


def _head(source: Source) -> str:
    date = f", {source.published_at.date().isoformat()}" if source.published_at else ""
    title = escape_markdown(one_line(source.title or source.domain, 120))
    domain = escape_markdown(one_line(source.place, 160))
    return f"{title} ({domain}{date})\n{_url(source)}"


def _url(source: Source) -> str:
    """The address of a source as it is asked for; white space could break out of its line."""
    return "".join(source.url.split())


def _reference(source: Source) -> str:
    """Number, title and address; a long address is left to the list of sources."""
    url, lead = _url(source), f"- [{source.n}] "
    room = REFERENCE_CHARS - len(lead)
    if len(url) + 2 > room:
        title, domain = escape_markdown(one_line(source.title, 80)), escape_markdown(source.domain)
        return lead + one_line(f"{title} ({domain}; its address is in the list of sources)", room)
    title = one_line(escape_markdown(source.title), room - len(url) - 1)
    return f"{lead}{title} {url}" if title else lead + url


def _pointer(material: Material) -> str:
    """Where everything is."""
    id_ = material.result.session_id
    named = 0 < len(material.where) <= LONGEST_PATH
    files = f" All files are in {material.where}." if named else ""
    parts = "report, sources, evidence, conflicts, problems, and page (the whole text of a source"
    call = f"get_session_data(session_id={id_!r}, part=…)"
    return (
        f"---\nEverything of this session can be read with {call}: {parts} by its number).{files}"
    )
