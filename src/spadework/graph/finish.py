"""End a run: decide why it stops, and build its result."""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime

from spadework.agents.critic import describe_review
from spadework.budget import Budget
from spadework.deadline import ACCELERATE
from spadework.graph.context import SessionContext
from spadework.graph.nodes.verify import Verified
from spadework.graph.report import build_report, list_unreached, sources_of, unread_hits
from spadework.graph.routes import KNOWN, open_topics, worth_asking
from spadework.graph.state import ResearchState, WorkerState, proofs, queries_of
from spadework.settings import Settings
from spadework.tools.export.markdown_report import sentences_markdown, to_markdown
from spadework.tools.stores.private_files import disk_fault, said_of
from spadework.tools.text.language import Phrases
from spadework.tools.web.urls import canonical_url
from spadework.values import (
    CODE,
    Citation,
    Coverage,
    CoveredTopic,
    Evidence,
    Mode,
    Page,
    Picture,
    Problem,
    Result,
    Status,
    models_among,
)
from spadework.visible import visible

#: No further round follows one that adds less than this fraction of all evidence found so far. The
#: first value is for runs without a model or at deep effort, the second for other runs. In five
#: runs whose second round added less than 0.4, the third round contributed 16 of 381 cited quotes.
#: Where a second round added 0.46, the third contributed 11 of 70.
MARGINAL_UTILITY, JUDGED_UTILITY = 0.1, 0.4


def stopped_by(state: ResearchState, budget: Budget, settings: Settings, price: float = 0.0) -> str:
    """Return why to stop ("coverage" if all topics are answered), or "" for another round."""
    why = _reason_to_stop(state, budget, settings, price)
    return "coverage" if why and not open_topics(state) else why


def _reason_to_stop(state: ResearchState, budget: Budget, settings: Settings, price: float) -> str:
    rounds = state["rounds"]
    if state.get("review"):
        # No other round follows the one that the editor requested.
        before = state.get("stopped_by", "")
        return "iterations" if before == "coverage" else before
    if budget.refused or budget.reckoned("plan") <= 0:
        return budget.refused or "time"
    if sum(r.number > KNOWN for r in rounds) >= budget.limits.iterations:
        return "iterations"
    last = rounds[-1]
    alone = all(found.judge == CODE for found in state["coverage"].values())
    share = MARGINAL_UTILITY if alone or settings.effort == "deep" else JUDGED_UTILITY
    if last.number > 1 and _quotes_brought(state, alone) < share * max(1, last.evidence_after):
        return "marginal utility"
    # A limit counts as the reason for stopping only if another round would otherwise be worthwhile.
    if last.number == KNOWN or worth_asking(state, price):
        late = budget.under(ACCELERATE) or not _fits(state, budget, settings)
        return "time" if late else budget.ended_by()
    return "price"


def nothing_left(state: ResearchState) -> str:
    """Return why a run ends when nothing is left to search for."""
    return "nothing left to ask" if open_topics(state) else "coverage"


def _fits(state: ResearchState, budget: Budget, settings: Settings) -> bool:
    planning = state.get("plan_seconds", 0.0)
    if settings.effort != "quick":
        return budget.fits(planning)
    taken = budget.elapsed() - planning - (budget.written or 0.0)
    return budget.reckoned("search", "read", "assess") >= taken


def _quotes_brought(state: ResearchState, alone: bool) -> int:
    """Return how many quotes the last round (the last two if no model judged) added."""
    since = state["rounds"][-2:] if alone else state["rounds"][-1:]
    return since[-1].evidence_after - since[0].evidence_before


def status_of(why: str) -> Status:
    """Return the status of a run that ended because of `why`."""
    if why == "time":
        return "time_limited"
    if why in ("stop", "nothing read"):
        return "partial"
    if why == "nothing searched":
        return "failed"
    limits = ("calls", "searches", "pages", "tokens", "money")
    return "budget_limited" if why in limits else "completed"


N = TypeVar("N", bound=Callable[[WorkerState, Runtime[Settings]], Awaitable[dict[str, Any]]])


class DiskStopped(GraphBubbleUp, RuntimeError):
    """A disk failure in a worker's node. LangGraph saves nothing, so resuming repeats the step."""

    def __init__(self, fault: OSError | sqlite3.Error) -> None:
        why = said_of(fault) or " ".join(str(fault).split())[:150]
        super().__init__(f"The run cannot continue: {visible(why)}. Everything gathered is kept.")


def stopped_by_disk(node: N) -> N:
    """Wrap a worker's node so that disk failures end the run."""

    @functools.wraps(node)
    async def guarded(state: WorkerState, runtime: Runtime[Settings]) -> dict[str, Any]:
        try:
            return await node(state, runtime)
        except (OSError, sqlite3.Error, ExceptionGroup) as error:
            if fault := disk_fault(error):
                raise DiskStopped(fault) from fault
            raise

    return cast("N", guarded)


#: Reasons for a run to end on its own.
_OF_ITSELF = ("iterations", "price", "marginal utility", "nothing left to ask")


def citations_of(verified: Verified, ledger: Mapping[str, Evidence]) -> list[Citation]:
    """Return the citations of verified sections, in order."""
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
    context: SessionContext,
    state: ResearchState,
    late: Sequence[Problem] = (),
    pictures: Sequence[Picture] = (),
) -> Result:
    """Return a finished run's result. `late` problems occurred outside the graph's nodes."""
    why = _final_reason(context, state)
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
        pictures=tuple(pictures),
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
    """Return each problem once, leaving out problems with pages that were `read` later."""
    fresh = {canonical_url(page.url) for page in read if not page.stale}
    lasting = (
        p for p in met if p.stage not in ("read", "copy") or canonical_url(p.subject) not in fresh
    )
    return list({(p.stage, p.subject, p.reason): p for p in lasting}.values())


def _final_reason(context: SessionContext, state: ResearchState) -> str:
    """Return why the run ended. A spent limit is the reason even if all topics are answered."""
    if context.stop.is_set():
        return "stop"
    searched = state.get("pages") or any(find.answered for find in state.get("finds", []))
    if not searched and state.get("stopped_by") in _OF_ITSELF:
        return "nothing searched"
    if not state.get("pages") and any(one.late for one in unread_hits(state)):
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
        # If no model judged an open topic, its score only guides further rounds, so it is not
        # reported.
        claimed = found.covered or found.judge != CODE
        made.append(
            CoveredTopic(
                name=name,
                covered=found.covered,
                score=found.score if claimed else 0.0,
                evidence=tuple(e for e in evidence if e.topic == name),
                gaps=found.gaps,
                quality=found.quality,
                queries=queries.get(name, ()),
                near=found.near,
            )
        )
    return tuple(made)
