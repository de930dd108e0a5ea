"""Rewriting at deep effort: sections that an editor found weak are rewritten once, if the result
holds.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from spadework.agents import critic, writer
from spadework.agents.llm.client import Model
from spadework.agents.outline import by_topic
from spadework.agents.report.marked_text import one_a_heading
from spadework.agents.report.sentence_context import Stated, state_sentences
from spadework.agents.verifier import Finding
from spadework.graph.context import SessionContext
from spadework.graph.nodes.write import MOST_NEAR
from spadework.graph.state import ResearchState, proofs
from spadework.tools.export.markdown_report import sentences_markdown
from spadework.tools.text.facts import nearest
from spadework.values import Evidence, Review, Section, Weakness

#: Why a summary is rewritten; the entries follow it as data.
TOLD_MORE = "The report now tells more, which its summary must not leave out: "


async def rewritten(
    context: SessionContext, state: ResearchState, review: Review, model: Model | None
) -> dict[str, Any]:
    """Rewrite concurrently the sections that the editor found weak, or whose topic has new
    evidence. A topic without a section gets one.
    """
    if model is None:
        return {}
    sections, plan = state.get("sections", []), state["plan"]
    seconds = context.budget.phase("write")
    ledger = proofs(state)
    known = {e.id for e in state.get("evidence", [])[: review.entries]}
    fresh = [e for e in ledger if e.id not in known]
    homes = {e.id: _home(e, review, sections, ledger) for e in fresh}
    asked = _requests(review, sections, fresh, homes)
    apart = [e for e in fresh if not homes[e.id]]
    weak = [section for section in sections if asked.get(section.heading)]
    done, (more, failed) = await asyncio.gather(
        asyncio.gather(
            *(
                critic.rewrite(
                    model,
                    plan.question,
                    one,
                    asked[one.heading],
                    _material(one, asked[one.heading], homes, ledger),
                    seconds=seconds,
                )
                for one in weak
            )
        ),
        writer.write(
            model, plan, by_topic(plan, apart), seconds=seconds, asked_on=state.get("asked_on", "")
        ),
    )
    written = {made.heading: made for made, _ in done}
    return {
        "sections": list(
            one_a_heading([*(written.get(one.heading, one) for one in sections), *more])
        ),
        "problems": [*(p for _, problems in done for p in problems), *failed],
    }


def _requests(
    review: Review, sections: Sequence[Section], fresh: Sequence[Evidence], homes: Mapping[str, str]
) -> dict[str, list[str]]:
    asked: dict[str, list[str]] = defaultdict(list)
    for point in review.weaknesses:
        if point.section and not point.outcome and (not point.query or _was_found(point, fresh)):
            asked[point.section].append(point.text)
    found = [p.text for p in review.weaknesses if p.query and _was_found(p, fresh)]
    for heading in filter(None, homes.values()):
        asked[heading] = list(dict.fromkeys([*asked[heading], *found]))
    summary = next((section for section in sections if section.kind == "summary"), None)
    if summary and fresh:
        asked[summary.heading].append(TOLD_MORE + ", ".join(e.id for e in fresh))
    return asked


def _was_found(point: Weakness, fresh: Sequence[Evidence]) -> bool:
    return any(e.topic == point.topic for e in fresh)


def _home(
    entry: Evidence, review: Review, sections: Sequence[Section], ledger: Sequence[Evidence]
) -> str:
    """Return the section for an entry: as the editor named it, else the one that cites most of its
    topic.
    """
    for point in review.weaknesses:
        if point.query and point.section and point.topic == entry.topic:
            return point.section
    topic = {e.id for e in ledger if e.topic == entry.topic}
    cited = {
        section.heading: sum(i in topic for one in section.sentences for i in one.evidence_ids)
        for section in sections
        if section.kind != "summary"
    }
    best = max(cited, key=lambda heading: cited[heading], default="")
    return best if cited.get(best) else ""


def _material(
    section: Section, asked: Sequence[str], homes: Mapping[str, str], ledger: Sequence[Evidence]
) -> list[Evidence]:
    """Return a section's evidence for rewriting: what it cites, what was found for it, and the
    entries closest to the editor's words.
    """
    cited = {id_ for one in section.sentences for id_ in one.evidence_ids}
    summary = section.kind == "summary"
    own = [
        e
        for e in ledger
        if e.id in cited or homes.get(e.id) == section.heading or (summary and e.id in homes)
    ]
    rest = [e for e in ledger if e not in own]
    near = nearest(" ".join(asked), [f"{e.claim} {e.quote}" for e in rest])[:MOST_NEAR]
    return [*own, *(rest[n] for n in near)]


def known_findings(state: ResearchState) -> dict[Stated, Finding]:
    """Return the findings on the sentences that the editor read."""
    review = state.get("review")
    cited = state.get("citations", [])
    found = {each.sentence: Finding(each.verdict, judge=each.judge) for each in cited}
    return {
        each: found.get(text, Finding("supported"))
        for section in (review.sections if review else ())
        for each, text in zip(state_sentences(section), sentences_markdown(section), strict=True)
    }
