"""Shorten or lengthen a report without a model."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from spadework.agents.extractive import writer as extractive
from spadework.tools.export.markdown_report import escape_markdown
from spadework.tools.text.facts import stems
from spadework.tools.text.language import spoken
from spadework.tools.text.page_text import REACH, PageText
from spadework.tools.text.sentences import sentences
from spadework.values import STATE_WORDS, Evidence, Result, Round, Section, Sentence, Source

#: The fraction of a section's passages to keep when shortening it.
KEPT = 0.5
#: Kinds of evidence that form lists, tables and code blocks. Adjacent sentences that cite the same
#: kind from the same page are kept or dropped together.
_TOGETHER = ("item", "row", "cells", "code")


def shorter(
    section: Section, asked: str, ledger: Mapping[str, Evidence], repeated: Collection[str] = ()
) -> Section:
    """Keep only the half of a section's passages that is most relevant to the question `asked`.
    Passages whose sentences are all in `repeated` are always dropped.
    """
    passages = _passages(section.sentences, ledger)
    code = spoken(asked)
    wanted = stems(asked, code)
    near = [len(wanted & stems(_words_of(told, ledger), code)) for told in passages]
    new = [n for n, own in enumerate(passages) if any(one.text not in repeated for one in own)]
    best = sorted(new, key=lambda n: (-near[n], n))
    kept = set(best[: max(1, int(KEPT * len(passages)))])
    places, at = list[range](), 0
    for told in passages:
        places.append(range(at, at := at + len(told)))
    return section.changed({n: () for m, own in enumerate(places) if m not in kept for n in own})


def _words_of(told: Sequence[Sentence], ledger: Mapping[str, Evidence]) -> str:
    cited = dict.fromkeys(id_ for one in told for id_ in one.evidence_ids if id_ in ledger)
    return " ".join([*(one.text for one in told), *(ledger[id_].quote for id_ in cited)])


def _passages(told: Sequence[Sentence], ledger: Mapping[str, Evidence]) -> list[list[Sentence]]:
    made: list[list[Sentence]] = []
    for one in told:
        before = made[-1][-1] if made else None
        cited = [ledger.get(next(iter(s.evidence_ids), "")) for s in (before or one, one)]
        kinds = {(e.kind, e.content_hash) if e else ("", "") for e in cited}
        together = len(kinds) == 1 and kinds.pop()[0] in _TOGETHER
        if before and (before.text.endswith(":") or together):
            made[-1].append(one)
        else:
            made.append([one])
    return made


def longer(
    section: Section, ledger: Sequence[Evidence], texts: Mapping[str, PageText], first: int
) -> tuple[Section, list[Evidence]]:
    """Return a longer version of a section, and any new ledger entries that it cites. The new
    entries are numbered from `first`, and quote the sentences next to the section's quotes.
    """
    own = [e for e in ledger if e.topic == section.heading]
    told = {id_ for one in section.sentences for id_ in one.evidence_ids}
    if any(e.id not in told for e in own if e.kind != "columns"):
        pages = list(dict.fromkeys(e.content_hash for e in own))
        own.sort(key=lambda e: (pages.index(e.content_hash), e.start))
        return extractive.section(section.heading, own), []
    known = {e.id: e for e in ledger}
    taken = [(e.content_hash, e.start, e.end) for e in ledger]
    added: list[Evidence] = []
    changes: dict[int, tuple[Sentence, ...]] = {}
    for place, one in enumerate(section.sentences):
        entry = known.get(next(iter(one.evidence_ids), ""))
        if entry is None or entry.kind != "text":
            continue
        around: list[list[Sentence]] = [[], []]
        text = texts.get(entry.content_hash, PageText())
        for n, (start, end) in enumerate(_around(entry, text)):
            free = not any(
                digest == entry.content_hash and start < last and begin < end
                for digest, begin, last in taken
            )
            if start < end and free:
                taken.append((entry.content_hash, start, end))
                before, after = text.neighbours(start, end)
                new = {"id": f"E{first + len(added)}", "start": start, "end": end, "claim": ""}
                said = {"quote": text[start:end], "before": before, "after": after}
                added.append(entry.model_copy(update={**new, **said}))
                around[n].append(extractive.quote_entry(added[-1]))
        changes[place] = (*around[0], one, *around[1])
    return section.changed(changes), added


def _around(entry: Evidence, text: str) -> list[tuple[int, int]]:
    first = max(0, entry.start - REACH)
    before = [(first + a, first + b) for a, b in sentences(text[first : entry.start])]
    after = [(entry.end + a, entry.end + b) for a, b in sentences(text[entry.end :][:REACH])]
    found = []
    for span, said in ((before[-1:], entry.before), (after[:1], entry.after)):
        start, end = span[0] if span else (0, 0)
        whole = said and " ".join(text[start:end].split()) == said
        found.append((start, end) if whole else (0, 0))
    return found


def review(result: Result) -> str:
    """Format a result's editorial review as Markdown."""
    lines = [f"# Editorial review: {escape_markdown(result.question)}", ""]
    lines += [f"Status: {result.status}.", ""]
    for topic in result.topics:
        origins = len({e.origin for e in topic.evidence})
        lines.append(
            f"- “{escape_markdown(topic.name)}” is {STATE_WORDS[topic.state]};"
            f" quotes: {len(topic.evidence)}, independent origins: {origins}."
        )
        if topic.quality:
            rated = topic.quality.model_dump().items()
            scores = ", ".join(f"{name.replace('_', ' ')} {score:g}" for name, score in rated)
            lines.append(f"  - Quality: {topic.quality.mean:g} of 10 ({scores})")
        lines += [f"  - Gap: {escape_markdown(gap)}" for gap in topic.gaps]
    lines += [
        f"- Missing: {escape_markdown(shortfall.text)} The next search would be"
        f" “{escape_markdown(shortfall.recommendation.query)}”."
        for shortfall in result.shortfalls
    ]
    lines += [_describe_gain(done) for done in result.rounds]
    cited = {c.sentence for c in result.citations}
    many = f"Cited sentences: {len(cited)}. Disagreements: {len(result.conflicts)}."
    lines += ["", f"{many} Problems: {len(result.problems)}."]
    lines += [
        f"- {p.stage}, {escape_markdown(p.subject)}: {escape_markdown(p.reason)}"
        f" {escape_markdown(p.effect)}"
        for p in result.problems
    ]
    left_out = [e for t in result.topics for e in t.evidence if e.id in result.left_out]
    lines += ["", "## Evidence that the report does not use", ""] if left_out else []
    lines += [f"- {e.id}: {escape_markdown(e.claim or e.quote)}" for e in left_out]
    lines += _list_unused(result.sources)
    return "\n".join(lines) + "\n" + (f"\n{result.opinion}" if result.opinion else "")


def _list_unused(sources: Sequence[Source]) -> list[str]:
    found = [source for source in sources if source.unused]
    if not found:
        return []
    lines = ["", "## Pages that were read but are not cited"]
    for why in dict.fromkeys(source.unused for source in found):
        own = [source for source in found if source.unused == why]
        lines += ["", f"{why} ({len(own)})", ""]
        lines += [
            f"- {escape_markdown(one.title or one.url)} ({escape_markdown(one.domain)})"
            for one in own
        ]
    return lines


def _describe_gain(done: Round) -> str:
    line = f"- Round {done.number}: {done.evidence_before} → {done.evidence_after} quotes"
    before = "not rated" if done.quality_before is None else f"{done.quality_before:g}"
    return f"{line}." if done.quality is None else f"{line}, quality {before} → {done.quality:g}."
