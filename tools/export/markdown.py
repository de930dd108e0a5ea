"""The report as Markdown: sentences with `[n]`, code in fences, numbered sources whose links lead to the quoted words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote as percent

from spadework.tools.inline import scan
from spadework.values import Evidence, Report, Section, Sentence, Source

#: Words of a quote that a text-fragment link begins and ends with.
FRAGMENT_WORDS = 5

_SPECIAL = re.compile(r"[\[\]<>]|(?<![^\W_])[*_]|[*_](?![^\W_])|&(?=#?\w+;)")
_LEADING = re.compile(r"^(?:#{1,6}(?=\s)|[-+](?=\s)|\d+(?=[.)]\s)|=+$|-+$|~{3,}|>)")


def to_markdown(report: Report, ledger: Mapping[str, Evidence], sources: Sequence[Source]) -> str:
    """The report with its numbered sources. `sources` must hold the page of every evidence that is cited."""
    numbers = {source.url: source.n for source in sources}
    parts = [f"# {escaped(report.title)}"]
    for section in report.sections:
        parts += [f"## {escaped(section.heading)}", *_paragraphs(section, ledger, numbers)]
    cited = {ledger[id_].url for s in report.sections for sentence in s.sentences for id_ in sentence.evidence_ids}
    if cited:
        parts += ["## Sources", "\n".join(_source(source, ledger) for source in sources if source.url in cited)]
    return "\n\n".join(parts) + "\n"


def sentence_markdown(sentence: Sentence) -> str:
    """A sentence as it stands in the report, without its marks; a code block without its fence."""
    return sentence.text if sentence.code else escaped(sentence.text)


def escaped(text: str) -> str:
    """Text as Markdown on one line: code spans stay code, links give their words, nothing else in it is syntax."""
    marks = scan(text)
    code = set(marks.code)
    ticks = {start for _, start in code} | {end for end, _ in code}
    shown, at = [], 0
    for mark in marks.marks:
        if mark.start in ticks or mark.end in ticks:
            continue
        shown += [_escape(text, at, mark.start, code), _SPECIAL.sub(r"\\\g<0>", mark.shown)]
        at = mark.end
    line = " ".join("".join([*shown, _escape(text, at, len(text), code)]).split())
    return _LEADING.sub(r"\\\g<0>", line)


def fragment_link(url: str, quote: str) -> str:
    """The URL of a web page with a text fragment that leads to the quote; the URL of a local document as it is."""
    if not url.startswith("http"):
        return url
    words = re.sub(r"[`*_\[\]()#|>\\]", " ", quote).split()
    if not words:
        return url
    first, last = words[:FRAGMENT_WORDS], words[-FRAGMENT_WORDS:]
    encode = [percent(" ".join(part), safe="").replace("-", "%2D") for part in (first, last)]
    return f"{url}#:~:text={encode[0]}" + (f",{encode[1]}" if len(words) > 2 * FRAGMENT_WORDS else "")


def fence(text: str, language: str = "") -> str:
    """Text as a fenced code block, the fence longer than any in it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    ticks = "`" * (longest + 1)
    return f"{ticks}{language}\n{text.strip(chr(10))}\n{ticks}"


def _escape(text: str, start: int, end: int, code: set[tuple[int, int]]) -> str:
    """`text[start:end]` with what would be Markdown syntax escaped, except inside code spans."""
    out, at = [], start
    for opens, closes in sorted(span for span in code if start <= span[0] and span[1] <= end):
        out += [_SPECIAL.sub(r"\\\g<0>", text[at:opens]), text[opens:closes]]
        at = closes
    return "".join([*out, _SPECIAL.sub(r"\\\g<0>", text[at:end])])


def _paragraphs(section: Section, ledger: Mapping[str, Evidence], numbers: Mapping[str, int]) -> list[str]:
    """Sentences that rest on one page stand in one paragraph; code and list items stand alone."""
    parts: list[str] = []
    before = ""
    for sentence in section.sentences:
        cited = [ledger[id_] for id_ in sentence.evidence_ids]
        marks = "".join(f"[{n}]" for n in dict.fromkeys(numbers[e.url] for e in cited))
        if sentence.code:
            parts += [fence(sentence.text, sentence.language) + (f"\n\n{marks}" if marks else "")]
            before = "code"
            continue
        item = (not cited and section.kind != "summary") or any(e.kind == "item" for e in cited)
        text = ("- " if item else "") + sentence_markdown(sentence) + (f" {marks}" if marks else "")
        page = "item" if item else cited[0].url if cited else "plain"
        if parts and page == before:
            parts[-1] += ("\n" if item else " ") + text
        else:
            parts.append(text)
        before = page
    return parts


def _source(source: Source, ledger: Mapping[str, Evidence]) -> str:
    first = next((e.quote for e in ledger.values() if e.url == source.url and e.kind != "code"), "")
    date = f", {source.published_at.date().isoformat()}" if source.published_at else ""
    link = (
        fragment_link(source.url, first).replace("(", "%28").replace(")", "%29").replace(" ", "%20").replace("<", "%3C").replace(">", "%3E")
    )
    return f"{source.n}. [{escaped(source.title or source.url)}]({link}) ({escaped(source.domain)}{date})"
