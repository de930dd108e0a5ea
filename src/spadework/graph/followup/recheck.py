"""Check a changed report, keeping the verdicts on unchanged sentences."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spadework.agents import critic, writer
from spadework.agents.llm.client import Model
from spadework.agents.outline import by_topic
from spadework.agents.report.marked_text import one_a_heading
from spadework.agents.report.material import Material
from spadework.agents.report.sentence_context import Stated, state_sentences
from spadework.agents.verifier import Finding
from spadework.graph.context import SessionContext
from spadework.graph.finish import citations_of
from spadework.graph.followup.earlier_report import as_it_was
from spadework.graph.nodes.verify import Check, verify_sections
from spadework.graph.state import ResearchState, proofs
from spadework.tools.export.markdown_report import sentences_markdown
from spadework.tools.text.facts import nearest
from spadework.tools.web.urls import hosts_for_urls
from spadework.values import Citation, Evidence, Review, Section, Weakness, models_among

#: When a section is rewritten, the model is shown at most this many evidence entries besides those
#: that the section cites.
MOST_NEAR = 8


@dataclass(frozen=True)
class Base:
    """A report before a change. `places` maps a section's new heading to the section's old index.
    With `better`, a rewritten section must not have fewer sentences.
    """

    sections: Sequence[Section]
    citations: Sequence[Citation]
    places: Mapping[str, int] = field(default_factory=dict)
    better: bool = False

    def of(self, heading: str) -> Section | None:
        """Return the earlier section, or None if the heading is new."""
        if (place := self.places.get(heading)) is not None:
            return self.sections[place]
        same = heading.casefold()
        return next((one for one in self.sections if one.heading.casefold() == same), None)


def base_of(state: ResearchState) -> Base | None:
    """Return the report before the change: the reviewed draft, or the report followed up on."""
    if review := state.get("review"):
        return Base(review.sections, state.get("citations", []), better=True)
    if before := state.get("before"):
        return Base(before.sections, before.citations, state.get("places", {}))
    return None


async def whole(
    state: ResearchState, model: Model | None, material: Material, check: Check
) -> dict[str, Any]:
    """Verify the sections of a new report, and return the state updates."""
    found = await verify_sections(model, state["plan"], state.get("sections", []), material, check)
    return {
        "sections": found.sections,
        "citations": citations_of(found, material.ledger),
        "problems": list(found.problems),
    }


async def check_changed(
    state: ResearchState, model: Model | None, base: Base, material: Material, check: Check
) -> dict[str, Any]:
    """Verify the changed sections, restoring those that fail, and return the state updates."""
    sections = state.get("sections", [])
    changed = [section for section in sections if section not in base.sections]
    found = await verify_sections(model, state["plan"], changed, material, check)
    made = {section.heading: section for section in found.sections}
    # In these sections, all the model's sentences failed verification. Only quotes chosen by rules
    # are left, so the earlier text is better.
    empty = {s.heading for s in changed if base.of(s.heading) and _fell_to_code(s, made)}
    stands: list[Section] = []
    places: dict[str, int] = {}
    for section in sections:
        old, now = base.of(section.heading), made.get(hosts_for_urls(section.heading))
        if section in base.sections:
            now = section
        elif old and (now is None or section.heading in empty):
            now = old
        elif old and now and base.better:
            # A rewrite that is meant to improve a section must not leave it with fewer sentences.
            left = sum(one in section.sentences for one in now.sentences)
            now = old if left < min(len(section.sentences), len(old.sentences)) else now
        if now is not None:
            stands.append(now)
            if old and now != old:
                places[now.heading] = list(base.sections).index(old)
    return {
        "sections": stands,
        "citations": _citations(base, stands, citations_of(found, material.ledger)),
        "places": state.get("places", {}) if base.better else places,
        "problems": [
            p.model_copy(update={"effect": "The section is unchanged."})
            if p.stage == "writer" and p.subject in empty
            else p
            for p in found.problems
        ],
        **_undone(state, stands, changed),
    }


def _fell_to_code(section: Section, made: Mapping[str, Section]) -> bool:
    now = made.get(hosts_for_urls(section.heading), section)
    return bool(_models_of(section)) and bool(now.sentences) and not _models_of(now)


def _models_of(section: Section) -> list[str]:
    return models_among(sentence.maker for sentence in section.sentences)


def _undone(
    state: ResearchState, stands: Sequence[Section], changed: Sequence[Section]
) -> dict[str, Any]:
    before = state.get("before")
    if before is None or state["turn"].kind != "form" or tuple(stands) != before.sections:
        return {}
    was = as_it_was(before)
    return {"plan": was["plan"], **({"title": was["title"]} if changed else {})}


def _citations(base: Base, sections: Sequence[Section], new: Sequence[Citation]) -> list[Citation]:
    old = {(c.sentence, c.evidence_id): c for c in base.citations}
    changed = {(c.sentence, c.evidence_id): c for c in new}
    return [
        known[at]
        for section in sections
        for known in (old if section in base.sections else changed,)
        for one, text in zip(section.sentences, sentences_markdown(section), strict=True)
        for id_ in one.evidence_ids
        if (at := (text, id_)) in known
    ]


#: The reason for rewriting a summary, as told to the writer. The ids of the new evidence entries
#: follow it.
TOLD_MORE = "The report now tells more, which its summary must not leave out: "


async def rewritten(
    context: SessionContext, state: ResearchState, review: Review, model: Model | None
) -> dict[str, Any]:
    """Rewrite sections that are weak or have new evidence, and write sections for new topics."""
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
    """Return the heading of the section where an evidence entry belongs: the one that `review`
    names for the entry's topic, or else the one that most often cites evidence on that topic, or
    "".
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
    """Return the verdicts on the sentences that the editor reviewed."""
    review = state.get("review")
    cited = state.get("citations", [])
    found = {each.sentence: Finding(each.verdict, judge=each.judge) for each in cited}
    return {
        each: found.get(text, Finding("supported"))
        for section in (review.sections if review else ())
        for each, text in zip(state_sentences(section), sentences_markdown(section), strict=True)
    }
