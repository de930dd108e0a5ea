"""Lay out a result for every export format."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import takewhile
from pathlib import Path

from spadework.tools.export.markdown_report import fragment_link, place_of, safe_url
from spadework.tools.export.section_blocks import INFERRED, NOTHING, Item, Set, blocks, emphasised
from spadework.tools.export.sheet import (
    Block,
    Card,
    Chapter,
    Figure,
    Marker,
    Opened,
    Proven,
    Quoted,
    Reference,
    Run,
    Said,
    Sheet,
    read_picture,
    words,
)
from spadework.tools.text.language import Phrases
from spadework.tools.text.markdown import Strength, emphases, scan
from spadework.tools.text.sentences import leads
from spadework.tools.web.urls import domain_of
from spadework.values import (
    CoveredTopic,
    Evidence,
    Part,
    Picture,
    Result,
    Section,
    Sentence,
    Source,
)

#: Maximum sentences in the answer that opens a report.
MOST_ANSWER = 2
_SPACE = re.compile(r"\s+")


def laid_out(result: Result) -> Sheet:
    """Lay out a result's report, coverage, sources and quotes."""
    layout = _Layout(result)
    say, document = layout.say, result.document
    sections = _answer_first(result, layout.ledger)
    figures = _by_section(result.pictures, sections)
    chapters = tuple(layout.chapter(one, figures[n]) for n, one in enumerate(sections))
    concluded = any(card.concluded for card in layout.cards)
    return Sheet(
        title=runs(document.title),
        facts=_facts(result, list(layout.sources), say),
        topics=tuple(_proven(topic, sections) for topic in result.topics),
        chapters=chapters,
        sources=tuple(layout.sources.values()),
        cards=tuple(layout.cards),
        explained=say("inferred", sign=INFERRED) if concluded else "",
        say=say,
    )


def runs(text: str, *, emphasis: bool = False) -> tuple[Run, ...]:
    """Split Markdown into runs of code, emphasis (if requested) and other text."""
    marks = scan(text)
    strong = emphases(text, marks) if emphasis else []
    begun: dict[int, Strength] = {one.start: one.strength for one in strong}
    ended = {one.inner_end for one in strong}
    opens, closes = {start for start, _ in marks.code}, {end for _, end in marks.code}
    found: list[Run] = []
    at, code = 0, False
    strength: Strength | None = None
    for mark in marks.marks:
        found.append(Run(text[at : mark.start], code, strength))
        if mark.start in begun or mark.start in ended:
            strength = begun.get(mark.start)
        if mark.end in opens:
            code = True
        elif mark.start in closes:
            code = False
        else:
            found.append(Run(mark.shown, code, strength))
        at = mark.end
    return _one_line([*found, Run(text[at:], code, strength)])


def _one_line(found: list[Run]) -> tuple[Run, ...]:
    joined: list[Run] = []
    for run in found:
        text = _SPACE.sub(" ", run.text)
        if joined and joined[-1][1:] == run[1:]:
            joined[-1] = run._replace(text=_SPACE.sub(" ", joined[-1].text + text))
        elif text:
            joined.append(run._replace(text=text))
    if joined:
        joined[0] = joined[0]._replace(text=joined[0].text.lstrip())
        joined[-1] = joined[-1]._replace(text=joined[-1].text.rstrip())
    return tuple(run for run in joined if run.text)


class _Layout:
    def __init__(self, result: Result) -> None:
        self.report, self.folder = result.document, Path(result.session_dir)
        self.say = Phrases(self.report.language)
        self.ledger: Mapping[str, Evidence] = {
            e.id: e for topic in result.topics for e in topic.evidence
        }
        said = [sentence for section in self.report.sections for sentence in section.sentences]
        cited = dict.fromkeys(id_ for sentence in said for id_ in sentence.evidence_ids)
        known = [self.ledger[id_] for id_ in cited if id_ in self.ledger]
        self.quoted = {evidence.id: _quote_of(evidence, self.say) for evidence in known}
        self.sources = {s.url: ref for s in result.sources if (ref := self._reference(s)).quotes}
        self.cards: list[Card] = []
        self._emphasis = False
        self._places: dict[tuple[bool, tuple[str, ...]], int] = {}

    def chapter(self, section: Section, pictures: Iterable[Picture]) -> Chapter:
        heading = runs(self.report.heading_of(section))
        self._emphasis = emphasised(section)
        drawn = tuple(self._block(block) for block in blocks(section, self.ledger, self.say))
        figures = tuple(filter(None, map(self._figure, pictures)))
        return Chapter(heading, section.kind, drawn, figures)

    def _figure(self, picture: Picture) -> Figure | None:
        if (kept := read_picture(self.folder, picture.name)) is None:
            return None
        quote = Sentence(text=picture.caption, evidence_ids=(picture.evidence_id,))
        return Figure(picture.name, *kept, self._sentence(quote), domain_of(picture.page))

    def _block(self, block: Set) -> Block:
        if block.form == "table":
            nothing = (Said((Run(NOTHING),)),)
            rows = tuple(tuple(self._item(cell) or nothing for cell in row) for row in block.rows)
            columns = tuple(map(runs, block.columns))
            return Block("table", (), runs(self.say("table")), columns, rows)
        return Block(block.form, tuple(map(self._item, block.items)), runs(block.text))

    def _item(self, item: Item) -> tuple[Said, ...]:
        return tuple(map(self._sentence, item))

    def _sentence(self, sentence: Sentence) -> Said:
        text = runs(sentence.text, emphasis=self._emphasis)
        if sentence.code:
            text = (Run(sentence.text.strip("\n"), code=True),)
        opened, markers = self._opened(sentence), []
        for one in opened:
            label = self.say("show_quote", title=words(one.source.title))
            markers.append(Marker(one.source.n, self._card(Card((one,))), label))
        if sentence.inferred and opened:
            card = self._card(Card(opened, concluded=True))
            markers.append(Marker(0, card, self.say("show_conclusion")))
        return Said(text, tuple(markers), sentence.code, sentence.language)

    def _opened(self, sentence: Sentence) -> tuple[Opened, ...]:
        by_page: dict[str, list[Quoted]] = {}
        for id_ in dict.fromkeys(i for i in sentence.evidence_ids if i in self.ledger):
            by_page.setdefault(self.ledger[id_].url, []).append(self.quoted[id_])
        known = [(url, own) for url, own in by_page.items() if url in self.sources]
        return tuple(Opened(self.sources[url], tuple(own)) for url, own in known)

    def _card(self, card: Card) -> int:
        ids = tuple(quoted.id for one in card.opened for quoted in one.quotes)
        place = self._places.setdefault((card.concluded, ids), len(self.cards))
        if place == len(self.cards):
            self.cards.append(card)
        return place

    def _reference(self, source: Source) -> Reference:
        own = [e for id_ in self.quoted if (e := self.ledger[id_]).url == source.url]
        quotes = tuple(self.quoted[e.id] for e in own)
        date = _day(self.say, "published", source.published_at) if source.published_at else ""
        first = next((quoted.link for quoted in quotes if not quoted.code), _web(source.url))
        author = next((e.author for e in own if e.author), "")
        title, place = runs(source.title) or (Run(source.url),), place_of(source, own, self.say)
        return Reference(source.n, title, place, source.url, first, date, quotes, author)


def _by_section(
    pictures: Iterable[Picture], sections: Sequence[Section]
) -> dict[int, list[Picture]]:
    """Assign each picture to the first section that cites it, or else to the opening answer."""
    found: dict[int, list[Picture]] = defaultdict(list)
    for picture in pictures:
        citing = [
            (section.kind == "summary", n)
            for n, section in enumerate(sections)
            if any(picture.evidence_id in one.evidence_ids for one in section.sentences)
        ]
        if citing:
            found[min(citing)[1]].append(picture)
    return found


def _day(say: Phrases, how: str, when: datetime) -> str:
    return say(how, day=when.date().isoformat())


def _quote_of(evidence: Evidence, say: Phrases) -> Quoted:
    code = evidence.kind == "code"
    text = (Run(evidence.quote.strip("\n"), code=True),) if code else runs(evidence.quote)
    how = "published" if evidence.published_at else "read"
    date = _day(say, how, evidence.published_at or evidence.fetched_at)
    link = fragment_link(_web(evidence.url), "" if code else evidence.quote)
    around = map(runs, (evidence.heading, evidence.before, evidence.after))
    return Quoted(evidence.id, text, code, link, date, *around)


def _web(url: str) -> str:
    safe = safe_url(url)
    return safe if safe.startswith("http") else ""


def _answer_first(result: Result, ledger: Mapping[str, Evidence]) -> list[Section]:
    """Return the sections, with the answer first in its own paragraph."""
    sections = list(result.document.sections)
    if sections and (count := _count_opening(sections[0], ledger)):
        first, rest = sections[0], sections[1:]
        if first.kind == "summary":
            return [_opened_by(first, count), *rest]
        if not result.document.heading_of(first):
            left = first.changed(dict.fromkeys(range(count), ()))
            return [_answer(first.sentences[:count]), *([left] if left.sentences else []), *rest]
    answered = {topic.name for topic in result.topics if topic.state == "answered"}
    told = [
        one.sentences[0]
        for one in sections
        if one.heading in answered and _count_opening(one, ledger)
    ]
    return [_answer(told[:MOST_ANSWER]), *sections] if told else sections


def _answer(told: Sequence[Sentence]) -> Section:
    whole = Part(form="paragraph", takes=(len(told),))
    return Section(heading="", kind="summary", sentences=tuple(told), parts=(whole,))


def _count_opening(section: Section, ledger: Mapping[str, Evidence]) -> int:
    most = MOST_ANSWER
    for first in section.parts[:1]:
        whole = first.by_code or first.form == "paragraph"
        most = min(most, sum(first.takes)) if whole else 0
    prose = takewhile(
        lambda one: (
            not one.code
            and not leads(one.text)
            and all(ledger[id_].step is None for id_ in one.evidence_ids if id_ in ledger)
        ),
        section.sentences[:most],
    )
    return len(list(prose))


def _opened_by(summary: Section, count: int) -> Section:
    told = len(summary.sentences)
    first, *others = summary.parts or (Part(form="paragraph", takes=(told,), quoted=True),)
    left = sum(first.takes) - count
    parts = [first.model_copy(update={"takes": (n,)}) for n in (count, left) if n]
    return summary.model_copy(update={"parts": (*parts, *others)})


def _proven(topic: CoveredTopic, sections: Sequence[Section]) -> Proven:
    headings = [section.heading for section in sections]
    chapter = headings.index(topic.name) if topic.name in headings else None
    return Proven(runs(topic.name), topic.state, len(topic.evidence), chapter)


def _facts(result: Result, cited: Sequence[str], say: Phrases) -> tuple[str, ...]:
    read = [e.fetched_at for topic in result.topics for e in topic.evidence]
    open_ = sum(topic.state != "answered" for topic in result.topics)
    pages, topics = result.usage.pages, len(result.topics)
    domains = len({domain_of(url) for url in cited if _web(url)})
    known = {"completed": "", "partial": say("stopped_early")}
    ended = known.get(result.status, result.status.replace("_", " "))
    shown = [
        max(read).date().isoformat() if read else "",
        say("page_read" if pages == 1 else "pages_read", many=pages, cited=len(cited)),
        say("one_domain" if domains == 1 else "many_domains", many=domains) if domains else "",
        say("open_of_one" if topics == 1 else "open_of", open=open_, many=topics) if open_ else "",
        ended,
    ]
    return tuple(fact for fact in shown if fact)
