"""Reads a report that was exported as HTML back into a result, as far as its page shows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from zlib import crc32

from lxml import html

from spadework.tools.export.markdown_report import to_markdown
from spadework.values import (
    Citation,
    CoveredTopic,
    Evidence,
    Form,
    Part,
    Report,
    Result,
    Section,
    SectionKind,
    Sentence,
    Source,
    Usage,
)

MODEL = "openai:hand"
_FORMS: dict[str, Form] = {"p": "paragraph", "ul": "bullets", "ol": "steps", "h3": "heading"}


def reopened(file: Path, session_id: str, question: str) -> Result:
    """Return the result whose report was exported to `file`."""
    page = html.fromstring(file.read_text(encoding="utf-8"))
    sources = [*map(_source, page.xpath("//li[starts-with(@id, 'source-')]"))]
    cards = {card.get("id"): [*_quotes(card, sources)] for card in page.find_class("card")}
    ledger = {e.id: e for quotes in cards.values() for e in quotes}
    sections = [_section(part, cards) for part in page.xpath("//main/section[h2][not(ol/li/@id)]")]
    document = Report(title=page.findtext(".//h1"), sections=tuple(filter(_is_told, sections)))
    told = [sentence for section in document.sections for sentence in section.sentences]
    topics = [_topic(name, document, ledger) for name in page.find_class("name")]
    return Result(
        session_id=session_id,
        question=question,
        status="completed",
        mode="model",
        topics=tuple(topics),
        sources=tuple(sources),
        report=to_markdown(document, ledger, sources),
        document=document,
        citations=cited(told),
        usage=Usage(pages=len(sources)),
    )


def cited(told: Iterable[Sentence]) -> tuple[Citation, ...]:
    """Return the citations of sentences that all hold."""
    return tuple(
        Citation(
            sentence=one.text,
            evidence_id=id_,
            verdict="inference" if one.inferred else "supported",
            maker=MODEL,
            judge=MODEL,
        )
        for one in told
        for id_ in one.evidence_ids
    )


def _source(entry: html.HtmlElement) -> Source:
    address = entry.xpath("string(p[@class='meta']/span/bdi)")
    return Source(
        n=int(entry.get("value")),
        url=address,
        title=entry.xpath("string(p[@class='title'])").strip(),
        domain=entry.xpath("string(p[@class='meta']/bdi)"),
        level=-1,
        relevance=0.9,
        trust=0.8,
        content_hash=f"h{entry.get('value')}",
    )


def _quotes(card: html.HtmlElement, sources: list[Source]) -> Iterator[Evidence]:
    """Yield the quotes on a card, with the words around them."""
    source, heading, before = sources[0], "", ""
    for part in card:
        kind = part.get("class", "")
        if (kind == "title" and part.find_class("n")) or part.find_class("n"):
            source = sources[int(part.find_class("n")[0].text) - 1]
        elif kind == "path":
            heading = _words(part)
        elif kind == "around":
            before = _words(part)
        elif part.tag in ("pre", "blockquote"):
            around = [*map(_words, part.find_class("around"))]
            marked = next(iter(part.iter("mark")), part)
            leads = bool(around) and marked.getprevious() is not None
            quote = part.text_content() if part.tag == "pre" else _words(marked)
            yield Evidence(
                id=f"E{source.n}-{crc32(quote.encode())}",
                topic="",
                quote=quote,
                kind="code" if part.tag == "pre" else "text",
                url=source.url,
                start=0,
                end=len(quote),
                content_hash=source.content_hash,
                fetched_at=datetime(2026, 11, 25, tzinfo=UTC),
                origin=source.domain,
                title=source.title,
                heading=heading,
                before=around[0] if leads else before,
                after=around[-1] if len(around) > leads else "",
            )
            before = ""


def _section(part: html.HtmlElement, cards: dict[str, list[Evidence]]) -> Section:
    told: list[Sentence] = []
    parts: list[Part] = []
    sentences = partial(_sentences, cards=cards)
    for block in part.iterchildren("p", "ul", "ol", "h3", "div"):
        if block.tag == "h3":
            parts.append(Part(form="heading", text=_words(block)))
            continue
        table = block.get("class") == "wide"
        cells = block.xpath(".//td") if table else block.xpath("li") or [block]
        items = [[*sentences(cell)] for cell in cells]
        told += (one for item in items for one in item)
        form = "table" if table else "code" if block.tag == "div" else _FORMS[block.tag]
        columns = tuple(map(_words, block.xpath(".//th")))
        parts.append(Part(form=form, columns=columns, takes=tuple(map(len, items))))
    kinds: dict[str, SectionKind] = {"summary": "summary", "limits": "limits"}
    kind = kinds.get(part.get("class", ""), "topic")
    return Section(
        heading=_words(part.find("h2")), kind=kind, sentences=tuple(told), parts=tuple(parts)
    )


def _sentences(item: html.HtmlElement, cards: dict[str, list[Evidence]]) -> Iterator[Sentence]:
    for said in item.xpath(".//span[@class='said'] | descendant-or-self::div[@class='code']"):
        marks = said.find_class("mark")
        quotes = [e.id for mark in marks for e in cards[mark.get("popovertarget")]]
        inferred = any(mark.text == "∴" for mark in marks)
        code = next(iter(said.iter("pre")), None)
        yield Sentence(
            text=_words(said) if code is None else code.text_content(),
            evidence_ids=tuple(dict.fromkeys(quotes)),
            inferred=inferred,
            code=code is not None,
            language="" if code is None else code.get("data-language", ""),
            maker=MODEL,
        )


def _topic(name: html.HtmlElement, document: Report, ledger: dict[str, Evidence]) -> CoveredTopic:
    said = [section for section in document.sections if section.heading == _words(name)]
    ids = dict.fromkeys(i for one in said for s in one.sentences for i in s.evidence_ids)
    if document.sections[0].kind == "summary":
        ids |= dict.fromkeys(i for s in document.sections[0].sentences for i in s.evidence_ids)
    quotes = tuple(ledger[i] for i in ids)
    return CoveredTopic(name=_words(name), covered=True, score=1.0, evidence=quotes)


def _is_told(section: Section) -> bool:
    return bool(section.sentences)


def _words(part: html.HtmlElement) -> str:
    """Return the words of an element as Markdown, without marks."""
    pieces = [part.text or ""]
    for child in part:
        sign = {"code": "`", "strong": "**", "em": "*"}.get(child.tag, "")
        if child.get("class") != "mark" and child.tag != "button":
            pieces.append(f"{sign}{_words(child)}{sign}")
        pieces.append(child.tail or "")
    return " ".join("".join(pieces).split()) if part.get("class") != "keep" else "".join(pieces)
