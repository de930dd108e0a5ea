"""A result for a calling model: the report, three sources in full, three as key points, the rest as
references, in so many tokens (S11).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

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

#: The least tokens that an answer can be asked to fit in: what is always there takes about half of
#: them.
LEAST_TOKENS = 500
#: Left-out sources that are named one by one.
MOST_NAMED = 12
#: A longer path is not shown: half of it would be wrong.
LONGEST_PATH = 300


@dataclass(frozen=True)
class Levels:
    """How many sources stand in full, as key points and as references, and how many characters of
    the report are shown.
    """

    full: int
    key: int
    references: int
    report: int


@dataclass(frozen=True)
class Material:
    """What an answer is composed of: the sources, weightiest first, the ledger by page, the texts
    by hash, the fence for them.
    """

    result: Result
    sources: Sequence[Source]
    evidence: Mapping[str, Sequence[Evidence]]
    texts: Mapping[str, str]
    fenced: Callable[[str], str]
    where: str
    #: What is shown of sources in full, by their numbers: cutting long pages takes time, and levels
    #: are tried one after another.
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
    for rung in _ladder(len(material.sources), len(result.report)):
        if count(_composed(material, replace(rung, references=0))) <= limit:
            return _with_references(material, rung, limit)
    # Not even the report fits: its numbers still lead to addresses.
    references = largest(
        len(material.sources), lambda n: _fits(material, Levels(0, 0, n, 0), limit // 3)
    )
    shown = largest(
        len(result.report), lambda n: _fits(material, Levels(0, 0, references, n), limit)
    )
    return _composed(material, Levels(0, 0, references, shown))


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
    """Ever less, each time with all references that are left: fewer sources in full, then fewer key
    points.
    """
    for full in range(FULL, -1, -1):
        yield _levels(full, FULL + KEY - full, sources, report)
    for key in range(FULL + KEY - 1, -1, -1):
        yield _levels(0, key, sources, report)


def _levels(full: int, key: int, sources: int, report: int) -> Levels:
    full = min(full, sources)
    key = min(key, sources - full)
    return Levels(full, key, sources - full - key, report)


def _with_references(material: Material, levels: Levels, limit: int) -> str:
    """As many of its references as fit."""
    best = largest(
        levels.references, lambda n: _fits(material, replace(levels, references=n), limit)
    )
    return _composed(material, replace(levels, references=best))


def _fits(material: Material, levels: Levels, limit: int) -> bool:
    return count(_composed(material, levels)) <= limit


def _composed(material: Material, levels: Levels) -> str:
    full, key, references, dropped = _shared_out(material.sources, levels)
    parts = [shorten_report(material.result.report, levels.report).rstrip()]
    missing: list[str] = []
    if len(parts[0]) < len(material.result.report.rstrip()):
        missing.append(
            f"The end of the report: {len(parts[0])} of {len(material.result.report)} characters"
            " are shown."
        )
    for heading, sources, shown in (
        ("Sources in full", full, _in_full),
        ("Key points of further sources", key, _key_points),
    ):
        bodies = [(source, *shown(material, source)) for source in sources]
        if bodies:
            parts += [
                f"# {heading}",
                *(
                    f"[{source.n}]\n" + material.fenced(f"{_head(source)}\n\n{body}")
                    for source, body, _ in bodies
                    if body
                ),
            ]
            missing += [f"[{source.n}]: {note}" for source, _, note in bodies if note]
    if references:
        listed = "\n".join(_reference(source) for source in references)
        parts += ["# Further sources", material.fenced(listed)]
    if dropped:
        more = f" and {len(dropped) - MOST_NAMED} more" if len(dropped) > MOST_NAMED else ""
        missing.append(
            f"Sources {', '.join(f'[{source.n}]' for source in dropped[:MOST_NAMED])}{more}."
        )
    if missing:
        parts += ["# Left out of this answer", "\n".join(f"- {line}" for line in missing)]
    return visible("\n\n".join(part for part in [*parts, _pointer(material)] if part)) + "\n"


def _shared_out(
    sources: Sequence[Source], levels: Levels
) -> tuple[Sequence[Source], Sequence[Source], Sequence[Source], Sequence[Source]]:
    """The sources in full, as key points, as references, and those left out."""
    key, references = levels.full + levels.key, levels.full + levels.key + levels.references
    return (
        sources[: levels.full],
        sources[levels.full : key],
        sources[key:references],
        sources[references:],
    )


def _in_full(material: Material, source: Source) -> tuple[str, str]:
    """The text of a source around its evidence, and what is missing of it."""
    if source.n not in material.cut:
        material.cut[source.n] = _cut_to_size(material, source)
    return material.cut[source.n]


def _cut_to_size(material: Material, source: Source) -> tuple[str, str]:
    text = material.texts.get(source.content_hash, "")
    spans = [
        (e.start, e.end)
        for e in material.evidence.get(source.url, ())
        if e.content_hash == source.content_hash
    ]
    shown = text if len(text) <= FULL_CHARS else around(text, spans, FULL_CHARS)
    if not shown:
        return _key_points(material, source)
    return shown, "" if shown == text else f"{len(shown)} of {len(text)} characters are shown."


def _key_points(material: Material, source: Source) -> tuple[str, str]:
    """The quotes from a source, as many whole ones as fit; of a first one that is longer, its
    beginning.
    """
    quotes = [f"- {e.quote.strip()}" for e in material.evidence.get(source.url, ())]
    if not quotes:
        return one_line(material.texts.get(source.content_hash, ""), KEY_CHARS), ""
    shown: list[str] = []
    for quote in quotes:
        if sum(map(len, shown)) + len(shown) + len(quote) > KEY_CHARS:
            break
        shown.append(quote)
    body = "\n".join(shown) or one_line(quotes[0], KEY_CHARS)
    return body, (
        "" if len(shown) == len(quotes) else f"{len(shown)} of {len(quotes)} quotes are shown."
    )


def _head(source: Source) -> str:
    date = f", {source.published_at.date().isoformat()}" if source.published_at else ""
    title, domain = (
        escape_markdown(one_line(source.title or source.domain, 120)),
        escape_markdown(one_line(source.place, 160)),
    )
    return f"{title} ({domain}{date})\n{_url(source)}"


def _url(source: Source) -> str:
    """The address of a source as it is asked for; white space could break out of its line."""
    return "".join(source.url.split())


def _reference(source: Source) -> str:
    """One line: number, title and address; an address too long for it is left to the list of
    sources.
    """
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
    files = (
        f" All files are in {material.where}." if 0 < len(material.where) <= LONGEST_PATH else ""
    )
    return (
        f"---\nEverything of this session can be read with get_session_data(session_id={id_!r},"
        " part=…): report, sources, evidence, conflicts, problems, and page (the whole text of a"
        f" source by its number).{files}"
    )
