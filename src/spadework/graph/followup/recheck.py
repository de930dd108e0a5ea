"""Recheck of a partly changed report: unchanged sentences keep their verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spadework.agents.llm.client import Model
from spadework.agents.report.material import Material
from spadework.graph.finish import citations_of
from spadework.graph.followup.earlier_report import as_it_was
from spadework.graph.nodes.verify import Check, verify_sections
from spadework.graph.state import ResearchState
from spadework.tools.export.markdown_report import sentences_markdown
from spadework.tools.web.urls import hosts_for_urls
from spadework.values import Citation, Section, models_among


@dataclass(frozen=True)
class Base:
    """A report as checked before a change. `places` maps changed headings to its sections. If
    `better` is required, a section with fewer sentences than before is not accepted.
    """

    sections: Sequence[Section]
    citations: Sequence[Citation]
    places: Mapping[str, int] = field(default_factory=dict)
    better: bool = False

    def of(self, heading: str) -> Section | None:
        """Return the earlier section for a heading; None if it is new."""
        if (place := self.places.get(heading)) is not None:
            return self.sections[place]
        same = heading.casefold()
        return next((one for one in self.sections if one.heading.casefold() == same), None)


def base_of(state: ResearchState) -> Base | None:
    """Return the report to compare with: the editor's, else the followed-up one."""
    if review := state.get("review"):
        return Base(review.sections, state.get("citations", []), better=True)
    if before := state.get("before"):
        return Base(before.sections, before.citations, state.get("places", {}))
    return None


async def whole(
    state: ResearchState, model: Model | None, material: Material, check: Check
) -> dict[str, Any]:
    """Return a new report's verified sections, as channel updates."""
    found = await verify_sections(model, state["plan"], state.get("sections", []), material, check)
    return {
        "sections": found.sections,
        "citations": citations_of(found, material.ledger),
        "problems": list(found.problems),
    }


async def check_changed(
    state: ResearchState, model: Model | None, base: Base, material: Material, check: Check
) -> dict[str, Any]:
    """Return the report with its changed sections verified, as channel updates. If nothing of a
    section holds, the earlier one stays.
    """
    sections = state.get("sections", [])
    changed = [section for section in sections if section not in base.sections]
    found = await verify_sections(model, state["plan"], changed, material, check)
    made = {section.heading: section for section in found.sections}
    # A section that lost every sentence only shows its quotes; the previous one is better.
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
            # A section that should improve must not lose sentences.
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
            p.model_copy(update={"effect": "The section stands as it was."})
            if p.stage == "writer" and p.subject in empty
            else p
            for p in found.problems
        ],
        **_undone(state, stands, changed),
    }


def _fell_to_code(section: Section, made: Mapping[str, Section]) -> bool:
    """Return whether a model wrote a section and code all that is left of it."""
    now = made.get(hosts_for_urls(section.heading), section)
    return bool(_models_of(section)) and bool(now.sentences) and not _models_of(now)


def _models_of(section: Section) -> list[str]:
    return models_among(sentence.maker for sentence in section.sentences)


def _undone(
    state: ResearchState, stands: Sequence[Section], changed: Sequence[Section]
) -> dict[str, Any]:
    """Restore plan, language and title if nothing of a reworded report is left."""
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
