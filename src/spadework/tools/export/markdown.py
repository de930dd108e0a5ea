"""The report as Markdown: sentences with `[n]`, code in fences, numbered sources whose links lead
to the quoted words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote as percent
from urllib.parse import urlsplit

from spadework.tools.inline import plain, scan
from spadework.tools.tables import cells
from spadework.values import Evidence, Report, Section, Sentence, Source
from spadework.visible import visible

#: Words of a quote that a text-fragment link begins and ends with.
FRAGMENT_WORDS = 5

_SPECIAL = re.compile(r"[\[\]<>`*]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
#: The same in characters that a mark stands for, whatever follows them.
_ALONE = re.compile(r"[\[\]<>`*_&\\]")
_LIBRARY = "library://"
_HOST = re.compile(r"(?:[\w.-]+|\[[0-9a-fA-F:.]+\])(?::\d+)?")
#: What is in no name of a language; a backtick or a line's end would end the opening of a fence.
_NO_LANGUAGE = re.compile(r"[^\w+#.-]")
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
#: What marks a block of Markdown, and the borders of a table's cells: a page does not show them.
_NOT_SHOWN = re.compile(r"^[\s#>|*+-]+|\|")
#: What makes a line a block: `1.` is escaped behind its number, all else before its first
#: character.
_LEADING = re.compile(
    r"^((?:\d{1,9}(?=[.)](?:\s|$)))?)((?<=\d)[.)]|#{1,6}(?=\s|$)|[-+](?=\s|$)|=+$|-+$|~{3,}|>)"
)


def to_markdown(report: Report, ledger: Mapping[str, Evidence], sources: Sequence[Source]) -> str:
    """The report with its numbered sources. `sources` must hold the page of every evidence that is
    cited.
    """
    numbers = {source.url: source.n for source in sources}
    parts = [f"# {escaped(report.title)}"]
    for section in report.sections:
        heading = report.heading_of(section)
        above = [f"## {escaped(heading)}"] if heading else []
        parts += [*above, *_paragraphs(section, ledger, numbers)]
    cited = {
        ledger[id_].url
        for s in report.sections
        for sentence in s.sentences
        for id_ in sentence.evidence_ids
    }
    if cited:
        parts += [
            "## Sources",
            "\n".join(_source(source, ledger) for source in sources if source.url in cited),
        ]
    return "\n\n".join(parts) + "\n"


def sentence_markdown(sentence: Sentence) -> str:
    """A sentence as it stands in the report, without its marks; a code block without its fence."""
    return sentence.text if sentence.code else escaped(sentence.text)


def escaped(text: str) -> str:
    """Text as Markdown on one line: code spans stay code, links give their words, nothing else in
    it is syntax, and nothing works unseen.
    """
    text = visible(text)
    marks = scan(text)
    opens, closes = (
        {mark.end: mark.start for mark in marks.marks},
        {mark.start: mark.end for mark in marks.marks},
    )
    code = {
        (opens[start], closes[end]) for start, end in marks.code if start in opens and end in closes
    }
    starts, ends = {start for start, _ in code}, {end for _, end in code}
    shown, at = [], 0
    for mark in marks.marks:
        if mark.start in starts or mark.end in ends:
            continue
        shown += [_escape(text, at, mark.start, code), _ALONE.sub(r"\\\g<0>", mark.shown)]
        at = mark.end
    line = " ".join("".join([*shown, _escape(text, at, len(text), code)]).split())
    return _LEADING.sub(r"\1\\\2", line)


def fragment_link(url: str, quote: str) -> str:
    """The URL of a web page with a text fragment that leads to the quote; the URL of a local
    document as it is.
    """
    if not url.startswith("http"):
        return url
    # Words in two cells of a table do not stand side by side for a browser: such a link leads from
    # the first cell to the last.
    parts = cells(quote) if quote.startswith("|") else [quote]
    shown = [words for part in parts if (words := _NOT_SHOWN.sub(" ", plain(part)).split())]
    if not shown:
        return url
    first, last = shown[0][:FRAGMENT_WORDS], shown[-1][-FRAGMENT_WORDS:]
    encode = [percent(" ".join(part), safe="").replace("-", "%2D") for part in (first, last)]
    return f"{url}#:~:text={encode[0]}" + (
        f",{encode[1]}" if len(shown) > 1 or len(shown[0]) > 2 * FRAGMENT_WORDS else ""
    )


def safe_url(url: str) -> str:
    """A URL that may stand in a link, as ASCII without spaces; "" where it is no web address and
    names no library document.

    Its fragment is dropped, so that a text fragment can follow.
    """
    if url.startswith(_LIBRARY):
        return _percent(url)
    try:
        scheme, host, path, query, _ = urlsplit(url)
    except ValueError:
        return ""
    if scheme not in ("http", "https") or not _HOST.fullmatch(host):
        return ""
    return f"{scheme}://{host}{_percent(path)}{'?' if query else ''}{_percent(query)}"


def fence(text: str, language: str = "") -> str:
    """Text as a fenced code block, the fence longer than any in it."""
    text, language = visible(text), _NO_LANGUAGE.sub("", language)
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    ticks = "`" * (longest + 1)
    return f"{ticks}{language}\n{text.strip(chr(10))}\n{ticks}"


def _percent(part: str) -> str:
    return percent(_STRAY_PERCENT.sub("%25", part), safe="%/:@!$&'*+,;=?#~")


def _escape(text: str, start: int, end: int, code: set[tuple[int, int]]) -> str:
    """`text[start:end]` with what would be Markdown syntax escaped, except inside code spans."""
    out, at = [], start
    for opens, closes in sorted(span for span in code if start <= span[0] and span[1] <= end):
        out += [_SPECIAL.sub(r"\\\g<0>", text[at:opens]), text[opens:closes]]
        at = closes
    return "".join([*out, _SPECIAL.sub(r"\\\g<0>", text[at:end])])


def _paragraphs(
    section: Section, ledger: Mapping[str, Evidence], numbers: Mapping[str, int]
) -> list[str]:
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
    title, url = escaped(source.title or source.url), safe_url(source.url)
    link = f"[{title}]({fragment_link(url, first)})" if url else title
    return f"{source.n}. {link} ({escaped(source.domain)}{date})"
