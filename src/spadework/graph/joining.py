"""What a follow-up starts from, and has together with what was found for it, said in one place."""

from __future__ import annotations

from typing import Any

from spadework.agents.extractive import writer as extractive
from spadework.agents.extractive.lead import plan
from spadework.agents.marked_section import one_a_heading
from spadework.agents.turn import Turn
from spadework.graph.state import Earlier, ResearchState, proving
from spadework.values import Coverage, Evidence, Plan, Question, Section, Shortfall

#: What ends a run that answers from what was proven before.
RECALLED = "known"


def as_it_was(before: Earlier) -> dict[str, Any]:
    """All channels of a report that is followed up, as it was left."""
    return {
        "plan": before.plan,
        "title": before.title or before.plan.title or before.plan.question,
        "sections": list(before.sections),
        "citations": list(before.citations),
        "evidence": list(before.evidence),
        "coverage": {found.topic: found for found in before.coverage},
        "conflicts": list(before.conflicts),
        "shortfalls": list(before.shortfalls),
        "pages": {page.url: page for page in before.pages},
    }


def answer_from_evidence(before: Earlier, turn: Turn, asked: str) -> dict[str, Any]:
    """All channels of a follow-up that the evidence of a report answers: a plan of one topic, which
    is proven. What was proven besides is kept for those who ask on.
    """
    made = plan(Question(text=asked), [])
    name = turn.heading or asked
    topic = made.topics[0].model_copy(update={"name": name, "question": asked})
    known = {e.id: e for e in before.evidence}
    proofs = [known[id_] for id_ in turn.proofs]
    named = [columns for e in proofs if (columns := extractive.columns_of(e, before.evidence))]
    ids = tuple(dict.fromkeys(e.id for e in [*named, *proofs]))
    found = Coverage(topic=name, covered=True, score=turn.score, evidence_ids=ids)
    own = {id_: known[id_].model_copy(update={"topic": name}) for id_ in ids}
    return {
        # A fact needs no outline: what is told of it is what proves it.
        "plan": made.model_copy(update={"topics": (topic,), "question_type": "fact"}),
        "evidence": [own.get(e.id, e) for e in before.evidence],
        "coverage": {name: found},
        "pages": {page.url: page for page in before.pages},
        "stopped_by": RECALLED,
    }


def found_for_it(before: Earlier, state: ResearchState) -> list[Evidence]:
    """The entries that were found for the follow-up."""
    known = {e.id for e in before.evidence}
    return [e for e in proving(state) if e.id not in known]


def join_states(before: Earlier, state: ResearchState) -> dict[str, Any]:
    """The plan of the report with the topics of the follow-up, the coverage of all of them, and
    what the evidence of all lacks. A topic of both has the evidence of both.
    """
    new = state["plan"]
    names = {topic.name for topic in before.plan.topics}
    more = [topic for topic in new.topics if topic.name not in names]
    both = dict(state.get("coverage", {}))
    for old in before.coverage:
        now = both.get(old.topic, old)
        ids = tuple(dict.fromkeys([*old.evidence_ids, *now.evidence_ids]))
        both[old.topic] = now.model_copy(update={"evidence_ids": ids})
    return {
        "plan": before.plan.model_copy(update={"topics": (*before.plan.topics, *more)}),
        "coverage": both,
        "shortfalls": _shortfalls(before, new, state.get("shortfalls", []), both),
    }


def _shortfalls(
    before: Earlier, plan: Plan, now: list[Shortfall], coverage: dict[str, Coverage]
) -> list[Shortfall]:
    """What is lacking now, and what was lacking for topics that were not judged anew; the whole was
    where the follow-up has proven anything.
    """
    anew = {t.name for t in plan.topics if t.name in coverage and coverage[t.name].evidence_ids}
    anew |= {""} if anew else set()
    return [*(s for s in before.shortfalls if s.topic not in anew and s not in now), *now]


def quote_sections(before: Earlier, plan: Plan, new: list[Evidence]) -> list[Section]:
    """The sections of the report, and one in its sources' words for each topic of the follow-up."""
    found = [(topic.name, [e for e in new if e.topic == topic.name]) for topic in plan.topics]
    own = [extractive.section(name, entries) for name, entries in found if entries]
    return list(one_a_heading([*before.sections, *own]))
