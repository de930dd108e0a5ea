"""The end of a run: what ended it, coverage per topic, and the report, as a result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from spadework.agents.critic import describe_review
from spadework.graph.context import SessionContext
from spadework.graph.nodes.verify import Verified
from spadework.graph.report.body import build_report
from spadework.graph.report.coverage_gaps import list_unreached, unread_hits
from spadework.graph.report.sources import sources_of
from spadework.graph.routes import KNOWN
from spadework.graph.run_end import status_of
from spadework.graph.state import ResearchState, proofs, queries_of
from spadework.tools.export.markdown_report import sentences_markdown, to_markdown
from spadework.tools.text.language import Phrases
from spadework.tools.web.urls import canonical_url
from spadework.values import (
    Citation,
    Coverage,
    CoveredTopic,
    Evidence,
    Mode,
    Page,
    Problem,
    Result,
    models_among,
)

#: Reasons that are not an interruption.
_OF_ITSELF = ("iterations", "price", "marginal utility", "nothing left to ask")
#: Phrase for a page abandoned for time.
LATE = "in time"


def citations_of(verified: Verified, ledger: Mapping[str, Evidence]) -> list[Citation]:
    """Return the citations of verified sections, in report order."""
    return [
        Citation(
            sentence=text,
            evidence_id=id_,
            verdict=finding.verdict,
            maker=sentence.maker,
            judge=finding.judge,
        )
        for checked in verified.checked
        for sentence, text, finding in zip(
            checked.section.sentences,
            sentences_markdown(checked.section),
            checked.findings,
            strict=True,
        )
        for id_ in sentence.evidence_ids
        if id_ in ledger
    ]


def result_of(
    context: SessionContext, state: ResearchState, late: Sequence[Problem] = ()
) -> Result:
    """Return the result of a finished run; `late` are problems outside the nodes."""
    why = _ended_by(context, state)
    by_model = models_among(c.maker for c in state.get("citations", []))
    mode: Mode = "model" if by_model else "extractive"
    problems = settle_problems([*state.get("problems", []), *late], state.get("pages", {}).values())
    lost = list_unreached(context, state, problems)
    first = [problem for one in lost for problem in one.problems]
    rest = [problem for problem in problems if problem not in first]
    sources = sources_of(state, state.get("sections", []), state.get("conflicts", []))
    report = build_report(context, state, why, lost, rest, sources)
    return Result(
        session_id=context.session_id,
        question=state["plan"].question,
        revises=state.get("follows", "") if state.get("before") else "",
        status=status_of(why),
        stopped_by=why,
        mode=mode,
        topics=_topics(state),
        sources=tuple(sources),
        report=to_markdown(report, {e.id: e for e in state.get("evidence", [])}, sources),
        document=report,
        opinion=describe_review(review) if (review := state.get("review")) else "",
        citations=tuple(state.get("citations", [])),
        conflicts=tuple(state.get("conflicts", [])),
        unread=tuple(unread_hits(state)),
        problems=(*first, *rest),
        shortfalls=tuple(state.get("shortfalls", [])),
        left_out=tuple(state.get("left_out", [])),
        rounds=tuple(state.get("rounds", [])),
        searched=context.searching,
        forecast=state.get("forecast"),
        usage=context.budget.used.model_copy(update={"pages": len(state.get("pages", {}))}),
        timings={"total": round(context.budget.elapsed(), 2)},
        iterations=sum(r.number > KNOWN for r in state.get("rounds", [])),
        session_dir=str(context.folder),
    )


def settle_problems(met: Iterable[Problem], read: Iterable[Page]) -> list[Problem]:
    """Return the distinct problems in order: two workers may have the same. A page that was `read`
    later, in another round or a resumed run, is no problem.
    """
    fresh = {canonical_url(page.url) for page in read if not page.stale}
    lasting = (
        p for p in met if p.stage not in ("read", "copy") or canonical_url(p.subject) not in fresh
    )
    return list({(p.stage, p.subject, p.reason): p for p in lasting}.values())


def _ended_by(context: SessionContext, state: ResearchState) -> str:
    """Return what ended the run: a model that could not be paid, even if code has covered
    everything since.
    """
    if context.stop.is_set():
        return "stop"
    searched = state.get("pages") or any(find.answered for find in state.get("finds", []))
    if not searched and state.get("stopped_by") in _OF_ITSELF:
        return "nothing searched"
    if not state.get("pages") and any(LATE in p.reason for p in state.get("problems", [])):
        return "time"
    if context.budget.refused in ("calls", "tokens", "money"):
        return context.budget.refused
    ended = state.get("stopped_by", "")
    if not state.get("pages") and ended in _OF_ITSELF and unread_hits(state):
        return "nothing read"
    return ended or context.budget.ended_by()


def _topics(state: ResearchState) -> tuple[CoveredTopic, ...]:
    coverage, evidence = state.get("coverage", {}), proofs(state)
    queries = queries_of(state)
    made, gaps = [], (Phrases(state["plan"].language)("gap_unassessed"),)
    for name in (topic.name for topic in state["plan"].topics):
        found = coverage.get(name) or Coverage(topic=name, covered=False, score=0.0, gaps=gaps)
        made.append(
            CoveredTopic(
                name=name,
                covered=found.covered,
                score=found.score,
                evidence=tuple(e for e in evidence if e.topic == name),
                gaps=found.gaps,
                quality=found.quality,
                queries=queries.get(name, ()),
                near=found.near,
            )
        )
    return tuple(made)
