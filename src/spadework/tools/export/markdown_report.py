"""Write the report as Markdown. `[n]` refers to an entry in the list of sources."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from urllib.parse import quote as percent, urlsplit

from spadework.tools.export.section_blocks import (
    INFERRED,
    NOTHING,
    Item,
    Set,
    blocks,
    concludes,
    emphasised,
)
from spadework.tools.extract.markdown_writer import code_span, fence as plain_fence
from spadework.tools.text.language import Phrases, language, language_of
from spadework.tools.text.markdown import MARKS, Inline, emphases, plain, scan
from spadework.tools.text.tables import cells
from spadework.values import Evidence, Report, Section, Sentence, Source
from spadework.visible import visible

#: Number of words at each end of a quote that go into a link's text fragment.
FRAGMENT_WORDS = 5
#: Characters to escape in text. A tilde is escaped only where it can end a strike-through.
_SPECIAL = re.compile(r"[\[\]<>`*]|(?<!\s)~|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
#: Characters to escape in a formatting mark, such as `**`, that must appear as text.
_ALONE = re.compile(r"[\[\]<>`*_~&\\]")
_LIBRARY = "library://"
_HOST = re.compile(r"(?:[\w.-]+|\[[0-9a-fA-F:.]+\])(?::\d+)?")
#: Characters removed from a code fence's language. A backtick would break the fence.
_NO_LANGUAGE = re.compile(r"[^\w+#.-]")
_LINE = re.compile(r"(?<=\n)(?=[^\n])")
_JOINED, _PIPE = "\n\n", "\\|"
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
#: Block markers and table borders, which rendered pages do not show.
_NOT_SHOWN = re.compile(r"^[\s#>|*+-]+|\|")
#: The start of a line that Markdown would read as a new block. In `1.`, the dot is escaped.
_LEADING = re.compile(
    r"^((?:\d{1,9}(?=[.)](?:\s|$)))?)((?<=\d)[.)]|#{1,6}(?=\s|$)|[-+](?=\s|$)|=+$|-+$|~{3,}|>)"
)


def to_markdown(report: Report, ledger: Mapping[str, Evidence], sources: Sequence[Source]) -> str:
    """Return the report as Markdown. `sources` must contain every cited page."""
    numbers = {source.url: source.n for source in sources}
    say = Phrases(report.language)
    parts = [f"# {escape_markdown(report.title)}"]
    for section in report.sections:
        heading = report.heading_of(section)
        above = [f"## {escape_markdown(heading)}"] if heading else []
        parts += [*above, *_Drawn(ledger, numbers, emphasised(section), say).blocks(section)]
    said = [sentence for section in report.sections for sentence in section.sentences]
    cited = {ledger[id_].url for sentence in said for id_ in sentence.evidence_ids}
    if cited:
        listed = [_source(source, ledger, say) for source in sources if source.url in cited]
        parts += [f"## {say('sources')}", "\n".join(listed)]
    if concludes(report):
        parts.append(say("inferred", sign=INFERRED))
    return "\n\n".join(parts) + "\n"


def sentences_markdown(section: Section) -> list[str]:
    """Return the sentences as in the Markdown report, without citations, emphasis or fences."""
    takes = [(part.form == "table", sum(part.takes)) for part in section.parts]
    in_cells = [cell for cell, count in takes for _ in range(count)]
    told = [one.text if one.code else escape_markdown(one.text) for one in section.sentences]
    return [
        text.replace("|", _PIPE) if n < len(in_cells) and in_cells[n] else text
        for n, text in enumerate(told)
    ]


def escape_markdown(text: str, *, emphasis: bool = False) -> str:
    """Escape text for one line of Markdown, except code. Keep emphasis if `emphasis` is true, and
    replace links by their text.
    """
    text = visible(text)
    marks = scan(text)
    shown_marks = _emphasised(text, marks) if emphasis else {}
    opens = {mark.end: mark.start for mark in marks.marks}
    closes = {mark.start: mark.end for mark in marks.marks}
    whole = [(start, end) for start, end in marks.code if start in opens and end in closes]
    code = {(opens[start], closes[end]) for start, end in whole}
    starts, ends = {start for start, _ in code}, {end for _, end in code}
    shown, at = [], 0
    for mark in marks.marks:
        if mark.start in starts or mark.end in ends:
            continue
        stands = shown_marks.get(mark.start) or _ALONE.sub(r"\\\g<0>", mark.shown)
        shown += [_escape(text, at, mark.start, code), stands]
        at = mark.end
    line = " ".join("".join([*shown, _escape(text, at, len(text), code)]).split())
    return _LEADING.sub(r"\1\\\2", line)


def _emphasised(text: str, marks: Inline) -> dict[int, str]:
    return {
        place: MARKS[one.strength]
        for one in emphases(text, marks)
        for place in (one.start, one.inner_end)
    }


def fragment_link(url: str, quote: str) -> str:
    """Return a page's URL with a text fragment for the quote."""
    if not url.startswith("http"):
        return url
    # Browsers do not find text that spans table cells, so the fragment names where the text starts
    # (in the first cell) and where it ends (in the last).
    parts = cells(quote) if quote.startswith("|") else [quote]
    shown = [words for part in parts if (words := _NOT_SHOWN.sub(" ", plain(part)).split())]
    if not shown:
        return url
    first, last = shown[0][:FRAGMENT_WORDS], shown[-1][-FRAGMENT_WORDS:]
    encode = [percent(" ".join(part), safe="").replace("-", "%2D") for part in (first, last)]
    longer = len(shown) > 1 or len(shown[0]) > 2 * FRAGMENT_WORDS
    return f"{url}#:~:text={encode[0]}" + (f",{encode[1]}" if longer else "")


def safe_url(url: str) -> str:
    """Encode a web URL (without its fragment) or a library URL for a link. Return "" for others."""
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
    """Return text as a fenced code block, without invisible characters."""
    return plain_fence(visible(text).strip("\n"), _NO_LANGUAGE.sub("", language))


def _percent(part: str) -> str:
    return percent(_STRAY_PERCENT.sub("%25", part), safe="%/:@!$&'*+,;=?#~")


def _escape(text: str, start: int, end: int, code: set[tuple[int, int]]) -> str:
    out, at = [], start
    for opens, closes in sorted(span for span in code if start <= span[0] and span[1] <= end):
        out += [_SPECIAL.sub(r"\\\g<0>", text[at:opens]), text[opens:closes]]
        at = closes
    return "".join([*out, _SPECIAL.sub(r"\\\g<0>", text[at:end])])


@dataclass(frozen=True)
class _Drawn:
    ledger: Mapping[str, Evidence]
    numbers: Mapping[str, int]
    emphasis: bool
    say: Phrases

    def blocks(self, section: Section) -> list[str]:
        drawn: list[str] = []
        before, other = "", False
        for block in blocks(section, self.ledger, self.say):
            other = block.form == before and not other
            drawn.append(self._block(block, other))
            before = block.form
        return drawn

    def _block(self, block: Set, other: bool) -> str:
        match block.form:
            case "heading":
                return f"### {escape_markdown(block.text)}"
            case "table":
                return self._table(block)
            case "bullets":
                sign = "*" if other else "-"
                return self._list([(sign, item) for item in block.items])
            case "steps":
                end = ")" if other else "."
                return self._list([(f"{n}{end}", item) for n, item in enumerate(block.items, 1)])
            case _:
                return _JOINED.join(self._pieces(block.items[0]))

    def _list(self, items: Sequence[tuple[str, Item]]) -> str:
        """Format list items. If an item starts with code, the code begins on a new line."""
        drawn, apart = [], False
        for sign, item in items:
            pieces = self._pieces(item)
            begun = sign + ("\n" if item[0].code else " ") + _JOINED.join(pieces)
            drawn.append(_LINE.sub(" " * (len(sign) + 1), begun))
            apart = apart or len(pieces) > 1
        return (_JOINED if apart else "\n").join(drawn)

    def _pieces(self, item: Item) -> list[str]:
        pieces = []
        for code, together in groupby(item, lambda sentence: sentence.code):
            if code:
                for sentence in together:
                    pieces += [fence(sentence.text, sentence.language), self._marks(sentence)]
            else:
                pieces.append(" ".join(filter(None, map(self._sentence, together))))
        return [piece for piece in pieces if piece]

    def _table(self, block: Set) -> str:
        names = [escape_markdown(name) for name in block.columns] or [""]
        lines = [names, ["---"] * len(names)]
        for row in block.rows:
            lines.append([" ".join(map(self._in_cell, cell)) or NOTHING for cell in row])
        escaped = ([cell.replace("|", _PIPE) for cell in line] for line in lines)
        return "\n".join(f"| {' | '.join(line)} |" for line in escaped)

    def _in_cell(self, sentence: Sentence) -> str:
        if not sentence.code:
            return self._sentence(sentence)
        lines = (code_span(line) for line in visible(sentence.text).split("\n") if line.strip())
        return " ".join(filter(None, [*lines, self._marks(sentence)]))

    def _sentence(self, sentence: Sentence) -> str:
        text = escape_markdown(sentence.text, emphasis=self.emphasis)
        return " ".join(filter(None, (text, self._marks(sentence))))

    def _marks(self, sentence: Sentence) -> str:
        cited = sorted({self.numbers[self.ledger[id_].url] for id_ in sentence.evidence_ids})
        numbers = "".join(f"[{n}]" for n in cited)
        return " ".join(filter(None, (numbers, INFERRED if cited and sentence.inferred else "")))


def place_of(source: Source, quotes: Iterable[Evidence], say: Phrases) -> str:
    """Return where a source was published, its type, and its language if unlike the report's."""
    told = language_of(" ".join(e.quote for e in quotes if e.kind in ("text", "item")))
    foreign = language(told).own_name or told if told and told != say.language else ""
    kind = say(f"kind_{source.kind}") if source.kind else ""
    return ", ".join(filter(None, (source.place, kind, foreign)))


def _source(source: Source, ledger: Mapping[str, Evidence], say: Phrases) -> str:
    own = [e for e in ledger.values() if e.url == source.url]
    first = next((e.quote for e in own if e.kind != "code"), "")
    date = f", {source.published_at.date().isoformat()}" if source.published_at else ""
    title, url = escape_markdown(source.title or source.url), safe_url(source.url)
    link = f"[{title}]({fragment_link(url, first)})" if url else title
    by = next((f"{e.byline}, " for e in own if e.author), "")
    return f"{source.n}. {link} ({escape_markdown(by + place_of(source, own, say))}{date})"
