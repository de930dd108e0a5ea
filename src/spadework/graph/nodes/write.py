"""Compose a report: find disagreements, outline it, and write cited sections."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from heapq import nlargest
from typing import Any

from spadework.agents import writer
from spadework.agents.evidence.counts import counts
from spadework.agents.llm.client import Model
from spadework.agents.outline import WORDS, Known, Outline, by_topic, outline
from spadework.agents.report.material import Material, merged
from spadework.deadline import Late
from spadework.graph.context import SessionContext
from spadework.graph.effort.model_policy import SECTION_TOKENS, payable
from spadework.graph.state import ResearchState, proofs
from spadework.tools.ranking.conflicts import Heard, conflicts
from spadework.tools.ranking.relevance import Bm25
from spadework.tools.ranking.selection import by_page, trust
from spadework.tools.text.facts import OTHER_WORDS, stems
from spadework.tools.text.language import spoken
from spadework.values import Conflict, Evidence, Page, Part, Plan, Problem, Section, Sentence

#: When sentences are repaired, the model is shown at most this many similar evidence entries for
#: each sentence. In fourteen recorded repairs that showed eight entries, only the first and third
#: entries were used.
MOST_CLOSE = 3


def drop_unfounded_labels(section: Section, material: Material) -> Section:
    """Drop sub-headings and column names that the section's evidence does not support."""
    cited = _cited_evidence(section, material)

    def supported(part: Part) -> Part:
        text = part.text and material.support_heading(part.text, cited)
        columns = tuple(material.support_heading(name, cited) for name in part.columns)
        return part if part.quoted else part.model_copy(update={"text": text, "columns": columns})

    parts = map(supported, section.parts)
    kept = tuple(part for part in parts if part.form != "heading" or part.text)
    return section.model_copy(update={"parts": kept})


def cited_by(section: Section, material: Material) -> list[Evidence]:
    """Return the evidence that a section cites, or all evidence on its topic if it cites none."""
    topic = [e for e in material.ledger.values() if e.topic == section.heading]
    return _cited_evidence(section, material) or topic


def closest_entries(failed: Sequence[Sentence], own: Section, material: Material) -> list[Evidence]:
    """Return the evidence that the failed sentences cite, and similar evidence on their topics."""
    known = merged([*material.ledger.values()])
    chosen = [known[id_] for one in failed for id_ in one.evidence_ids if id_ in known]
    topics = {e.topic for e in cited_by(own, material)}
    others = [e for e in dict.fromkeys(known.values()) if e.topic in topics and e not in chosen]
    told = [f"{e.title} {e.heading} {e.claim} {e.quote}" for e in others]
    index = Bm25(told, map(spoken, told))
    for one in failed:
        best = nlargest(MOST_CLOSE, zip(index.scores(one.text), range(len(others)), strict=True))
        chosen += [others[n] for score, n in best if score]
    return list(dict.fromkeys(chosen))


def _cited_evidence(section: Section, material: Material) -> list[Evidence]:
    return material.cited(dict.fromkeys(i for one in section.sentences for i in one.evidence_ids))


#: Question types answered with one section per topic, without an outline.
PLAIN = ("fact",)
#: Model calls for a report besides those for its sections: outline, verdicts and summary.
BESIDE = 3
#: Maximum fraction of the writing time to spend on finding disagreements between sources.
COMPARING = 0.2
#: An outline is made only if there is time for this many model calls, each as long as the call that
#: made the plan.
LEAST_CALLS = 3


async def compose_report(
    context: SessionContext, state: ResearchState, model: Model | None
) -> dict[str, Any]:
    """Return the state updates for a new report."""
    plan, ledger, read = state["plan"], proofs(state), state.get("pages", {})
    until = time.monotonic() + context.budget.phase("write")
    hashes = {e.content_hash for e in ledger} | {page.content_hash for page in read.values()}
    texts = {digest: await context.pages.get(digest) for digest in hashes}
    disputes, uncompared = await find_disputes(context, state, texts)
    made, problems = await _outline(context, state, model, disputes, until - time.monotonic())
    asked_on, seconds = state.get("asked_on", ""), until - time.monotonic()
    sections, failed = await writer.write(model, plan, made, seconds=seconds, asked_on=asked_on)
    first = writer.in_short(made.answer, plan.language).made_by(made.author)
    if model is None:
        sections = tuple(_with_counts(plan, section, ledger, texts) for section in sections)
    return {
        "sections": [*([first] if first.sentences else []), *sections],
        "title": made.title,
        "left_out": list(made.left_out),
        "missing": None if made.missing is None else list(made.missing),
        "names": list(made.names),
        "conflicts": disputes,
        "problems": [*uncompared, *problems, *failed],
    }


def _with_counts(
    plan: Plan, section: Section, ledger: Sequence[Evidence], texts: Mapping[str, str]
) -> Section:
    topics = [topic for topic in plan.topics if topic.name == section.heading]
    told = tuple(
        one
        for topic in topics
        for one in counts(plan, topic, [e for e in ledger if e.topic == topic.name], texts)
    )
    return Section(heading=section.heading, sentences=told).followed_by(section)


async def _outline(
    context: SessionContext,
    state: ResearchState,
    model: Model | None,
    disputes: list[Conflict],
    seconds: float,
) -> tuple[Outline, list[Problem]]:
    plan, ledger, most = state["plan"], proofs(state), state.get("most_words", 0)
    in_time = seconds >= LEAST_CALLS * state.get("plan_seconds", 0.0)
    if (
        model is None
        or not ledger
        or not _needs_outline(context, plan, ledger)
        or not await context.noted("outlined", "", in_time, True)
    ):
        return by_topic(plan, ledger, most if model else 0), []
    words = WORDS[context.settings.length]
    words, asked_on = min(words, most) or words, state.get("asked_on", "")
    known = Known(state.get("coverage", {}), disputes, words, most, asked_on)
    return await outline(model, plan, ledger, known, seconds=seconds)


def _needs_outline(context: SessionContext, plan: Plan, ledger: list[Evidence]) -> bool:
    calls = context.budget.limits.calls - context.budget.spent("calls")
    coming = len(plan.topics) + BESIDE
    if calls < coming or payable(context, closing=True) < coming * SECTION_TOKENS:
        return False
    fact = plan.question_type in PLAIN and len(plan.topics) == 1
    return context.settings.effort != "quick" and not fact and len(ledger) > 1


async def find_disputes(
    context: SessionContext, state: ResearchState, texts: Mapping[str, str]
) -> tuple[list[Conflict], list[Problem]]:
    """Return conflicts between sources, and a problem on timeout. `texts` maps hashes to texts."""
    compare = partial(_disputes, state["plan"], proofs(state), state.get("pages", {}), texts)
    seconds = COMPARING * context.budget.phase("write")
    found, cut = await context.run_in_time(seconds, "disputes", compare)
    if not cut:
        return found, []
    reason = "There was no time to compare all quotes."
    effect = "The sources may disagree in ways that the report does not mention."
    return found, [Problem(stage="writer", subject="disagreements", reason=reason, effect=effect)]


def _disputes(
    plan: Plan,
    evidence: Sequence[Evidence],
    pages: Mapping[str, Page],
    texts: Mapping[str, str],
    late: Late,
) -> tuple[list[Conflict], bool]:
    heard, quotes = {}, by_page(evidence)
    for url, page in pages.items():
        parts = trust(page, quotes[url], ())
        weight = parts["trust"] * parts["recency"]
        heard[url] = Heard(page.origin or page.url, weight, texts.get(page.content_hash, ""))
    return conflicts(evidence, _stems_asked(plan), heard, late), late()


def _stems_asked(plan: Plan) -> set[str]:
    if plan.question_type != "fact":
        return set()
    code = spoken(plan.question)
    asked = stems(plan.question, code) - stems(" ".join(plan.subjects), code)
    return asked | {other for word in asked for other in OTHER_WORDS.get(word, ())}
