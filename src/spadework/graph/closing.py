"""Closing a run: the report is composed of its sections, what was not found and where it was
searched; the result is put together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from spadework.agents import writer
from spadework.agents.critic import opinion
from spadework.agents.editor import Made, about, disagreements, limits, not_found, problem_lines
from spadework.agents.extractive import lead as extractive_lead
from spadework.agents.extractive import writer as extractive
from spadework.agents.outline import by_topic
from spadework.graph.desk import Desk
from spadework.graph.disputing import disputed
from spadework.graph.routes import KNOWN, status_of
from spadework.graph.state import ResearchState, proving
from spadework.graph.verifying import Verified, standing, verified, without_addresses
from spadework.tools.export.markdown import sentence_markdown, to_markdown
from spadework.tools.trust import trust
from spadework.tools.urls import domain_of, hosts_for_urls
from spadework.values import (
    Citation,
    Conflict,
    CoveredTopic,
    Evidence,
    Mode,
    Page,
    Problem,
    Question,
    Report,
    Result,
    Section,
    Source,
)

#: How a page that was given up for time is told.
LATE = "in time"


def citations_of(verified: Verified, ledger: Mapping[str, Evidence]) -> list[Citation]:
    """The citations of verified sections, sentence by sentence as they stand in the report."""
    return [
        Citation(
            sentence=sentence_markdown(sentence),
            evidence_id=id_,
            verdict=verified.findings[sentence].verdict,
        )
        for section in verified.sections
        for sentence in section.sentences
        for id_ in sentence.evidence_ids
        if id_ in ledger
    ]


def draft(state: ResearchState) -> str:
    """The report as far as it stands, composed by code."""
    evidence = proving(state)
    ledger = {e.id: e for e in evidence}
    sections = [
        extractive.section(t.name, own)
        for t in state["plan"].topics
        if (own := [e for e in evidence if e.topic == t.name])
    ]
    report = Report(title=state["plan"].question, sections=tuple(sections))
    return to_markdown(report, ledger, _sources(state, sections, []))


def result_of(desk: Desk, state: ResearchState, late: Sequence[Problem] = ()) -> Result:
    """The result of a finished run; `late` are problems that no node has met."""
    why = _ended_by(desk, state)
    # A model that never gave an answer has written nothing, whatever was meant.
    mode: Mode = "model" if desk.judging and desk.budget.used.tokens_out else "extractive"
    ledger = {e.id: e for e in state.get("evidence", [])}
    conflicts = state.get("conflicts", [])
    problems = _once([*state.get("problems", []), *late])
    sections = [*state.get("sections", [])]
    sources = _sources(state, sections, conflicts)
    lacking = tuple(state.get("shortfalls", []))
    closing = [
        disagreements(conflicts),
        not_found(state["plan"], state.get("coverage", {}), why),
        limits(lacking),
        problem_lines(problems),
    ]
    closing.append(
        about(
            _made(desk, state, mode),
            desk.searching,
            (*desk.notices, *desk.search.waits.sentences()),
            len(state.get("pages", {})),
            why,
        )
    )
    whole = tuple(
        section.model_copy(update={"sentences": tuple(map(without_addresses, section.sentences))})
        for section in [*sections, *closing]
        if section.sentences
    )
    named = state.get("title") or state["plan"].title or state["plan"].question
    report = Report(title=hosts_for_urls(named), sections=whole)
    status = status_of(why)
    return Result(
        session_id=desk.session_id,
        question=state["plan"].question,
        status=status,
        stopped_by=why,
        mode=mode,
        confidence=_confidence(state, mode),
        topics=_topics(state),
        sources=tuple(sources),
        report=to_markdown(report, ledger, sources),
        document=report,
        citations=tuple(state.get("citations", [])),
        conflicts=tuple(conflicts),
        problems=tuple(problems),
        shortfalls=lacking,
        rounds=tuple(state.get("rounds", [])),
        searched=desk.searching,
        usage=desk.budget.used.model_copy(update={"pages": len(state.get("pages", {}))}),
        timings={"total": round(desk.budget.elapsed(), 2)},
        iterations=sum(r.number > KNOWN for r in state.get("rounds", [])),
        session_dir=str(desk.folder),
    )


async def reviewed(desk: Desk, result: Result) -> Result:
    """The result with the opinion of an editor, in deep effort and where there is time for it."""
    if (
        not desk.deep
        or desk.model is None
        or desk.budget.until_closing() <= 0
        or desk.stop.is_set()
    ):
        return result
    said, problems = await opinion(desk.model, result, seconds=desk.budget.until_closing())
    usage = desk.budget.used.model_copy(update={"pages": result.usage.pages})
    return result.model_copy(
        update={"opinion": said, "problems": (*result.problems, *problems), "usage": usage}
    )


def _ended_by(desk: Desk, state: ResearchState) -> str:
    """What ended the run. Where the model could not be paid, that did, even if code has covered
    every topic in its stead.
    """
    if desk.stop.is_set():
        return "stop"
    searched = state.get("pages") or not any(p.stage == "search" for p in state.get("problems", []))
    if not searched and state.get("stopped_by") in ("marginal utility", "nothing left to ask"):
        return "nothing searched"
    if not state.get("pages") and any(LATE in p.reason for p in state.get("problems", [])):
        return "time"
    unpaid = desk.budget.refused if desk.budget.refused in ("calls", "tokens", "money") else ""
    return unpaid or state.get("stopped_by", "") or desk.budget.ended_by()


def _topics(state: ResearchState) -> tuple[CoveredTopic, ...]:
    coverage, evidence = state.get("coverage", {}), proving(state)
    made = []
    for topic in state["plan"].topics:
        found = coverage.get(topic.name)
        own = tuple(e for e in evidence if e.topic == topic.name)
        gaps = found.gaps if found else ("This topic was not assessed.",)
        covered, score = (found.covered, found.score) if found else (False, 0.0)
        quality = found.quality if found else None
        made.append(
            CoveredTopic(
                name=topic.name,
                covered=covered,
                score=score,
                evidence=own,
                gaps=gaps,
                quality=quality,
            )
        )
    return tuple(made)


def _sources(
    state: ResearchState, sections: Sequence[Section], conflicts: Sequence[Conflict]
) -> list[Source]:
    """The pages that were read, those cited first in the order of their first citation; numbered
    from 1.
    """
    evidence = state.get("evidence", [])
    ledger = {e.id: e for e in evidence}
    disputed = [
        id_ for conflict in conflicts for side in conflict.sides for id_ in side.evidence_ids
    ]
    cited = [
        ledger[i].url
        for section in sections
        for s in section.sentences
        for i in s.evidence_ids
        if i in ledger
    ]
    cited += [ledger[i].url for i in disputed]
    pages = state.get("pages", {})
    rest = sorted(pages, key=lambda url: -pages[url].rrf)
    order = [url for url in dict.fromkeys([*cited, *rest]) if url in pages]
    return [_source(n, pages[url], evidence, disputed) for n, url in enumerate(order, 1)]


def _source(n: int, page: Page, evidence: Sequence[Evidence], disputed: Sequence[str]) -> Source:
    return Source(
        n=n,
        url=page.url,
        title=page.title,
        domain=domain_of(page.url),
        level=page.level,
        relevance=page.relevance,
        trust=trust(page, evidence, disputed)["trust"],
        found_by=page.found_by,
        published_at=page.published_at,
        content_hash=page.content_hash,
        known=page.known,
    )


def _made(desk: Desk, state: ResearchState, mode: Mode) -> Made:
    """Who made the sentences of the report, and what was found of them."""
    if desk.judging is None or mode == "extractive":
        return Made("", "", {})
    found = {c.sentence: c.verdict for c in state.get("citations", [])}
    names = desk.judging.name("writer"), desk.judging.name("verifier")
    return Made(*names, Counter(found.values()))


def _confidence(state: ResearchState, mode: Mode) -> float | None:
    """How likely the report holds the whole answer: the probability of the topic that is least
    likely answered. What a model says of its own work is none.
    """
    coverage = state.get("coverage", {})
    found = [coverage[t.name].score if t.name in coverage else 0.0 for t in state["plan"].topics]
    return round(min(found, default=0.0), 3) if mode == "extractive" else None


def _once(problems: Sequence[Problem]) -> list[Problem]:
    """Each problem once: two workers may have met the same."""
    return list({(p.stage, p.subject, p.reason): p for p in problems}.values())


async def closed_by_code(desk: Desk, state: ResearchState, question: str) -> Result:
    """The result of a run that was cut off in any node: what the ledger holds, written and verified
    without a model.
    """
    plan = state.get("plan") or extractive_lead.plan(Question(text=question), [])
    evidence = proving(state)
    written, _ = await writer.write(None, plan, by_topic(plan, evidence), seconds=0)
    texts = {e.content_hash: await desk.pages.get(e.content_hash) for e in evidence}
    material, _ = standing(evidence, texts, plan.question)
    kept = await verified(None, plan, written, material, seconds=0)
    closed: ResearchState = {
        **state,
        "plan": plan,
        "sections": list(kept.sections),
        "citations": citations_of(kept, material.ledger),
        "conflicts": disputed(plan, evidence, state.get("pages", {}), texts),
        "stopped_by": "time",
    }
    desk.knowing.keep(state.get("pages", {}).values(), desk.pages.get)
    return result_of(desk, closed)
