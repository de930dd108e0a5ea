"""Closing a run: the report is composed of its sections, what was not found and where it was
searched; the result is put together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from spadework.agents.critic import describe_review
from spadework.agents.editor import Made, about, disagreements, limits, not_found
from spadework.agents.entered import speaks_of
from spadework.agents.extractive import writer as extractive
from spadework.graph.earlier import makers
from spadework.graph.ending import status_of
from spadework.graph.holding import without_addresses
from spadework.graph.routes import KNOWN
from spadework.graph.session_context import SessionContext
from spadework.graph.sources import sources_of
from spadework.graph.state import ResearchState, proving, queries_of
from spadework.graph.unreached import (
    MOST_BESIDE,
    MOST_UNREAD,
    first_of_all,
    list_unreached,
    told_last,
    unread_hits,
    with_unread,
)
from spadework.graph.verifying import Verified
from spadework.tools.export.markdown_report import sentence_markdown, to_markdown
from spadework.tools.text.phrases import Phrases
from spadework.tools.web.urls import hosts_for_urls
from spadework.values import (
    Citation,
    CoveredTopic,
    Evidence,
    Mode,
    Problem,
    Report,
    Result,
    Section,
    Source,
    Verdict,
)

#: What ends a run that nothing has cut short.
_OF_ITSELF = ("iterations", "price", "marginal utility", "nothing left to ask")
#: How a page that was given up for time is told.
LATE = "in time"


def citations_of(verified: Verified, ledger: Mapping[str, Evidence]) -> list[Citation]:
    """The citations of verified sections, sentence by sentence as they stand in the report."""
    return [
        Citation(
            sentence=sentence_markdown(sentence),
            evidence_id=id_,
            verdict=finding.verdict,
        )
        for checked in verified.checked
        for sentence, finding in zip(checked.section.sentences, checked.findings, strict=True)
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
    return to_markdown(report, ledger, sources_of(state, sections, []))


def result_of(
    context: SessionContext, state: ResearchState, late: Sequence[Problem] = ()
) -> Result:
    """The result of a finished run; `late` are problems that no node has met."""
    why = _ended_by(context, state)
    writer, judge = makers(context, state)
    mode: Mode = "model" if writer else "extractive"
    say = Phrases(state["plan"].language)
    ledger = {e.id: e for e in state.get("evidence", [])}
    conflicts = state.get("conflicts", [])
    problems = _once([*state.get("problems", []), *late])
    lost = list_unreached(context, state, problems)
    first = [problem for one in lost for problem in one.problems]
    rest = [problem for problem in problems if problem not in first]
    problems = [*first, *rest]
    sections = [*state.get("sections", [])]
    sources = sources_of(state, sections, conflicts)
    lacking = tuple(state.get("shortfalls", []))
    coverage = state.get("coverage", {})
    unread = unread_hits(state)
    open_ones = with_unread(
        not_found(
            state["plan"], coverage, queries_of(state), _missing(state), frozenset(unread), say
        ),
        [hit for hits in unread.values() for hit in hits],
        say,
        MOST_BESIDE if state.get("pages") else MOST_UNREAD,
    )
    nearest = _nearest(state, sections, say)
    sections = [nearest.get(section.heading, section) for section in sections]
    if sections and sections[0] in nearest.values():
        # Who reads only the beginning must not take the nearest for the answer.
        sections, open_ones = [open_ones, *sections], open_ones.model_copy(update={"sentences": ()})
    if lost:
        sections = [first_of_all(lost, say), *sections]
    closing = [
        disagreements(conflicts, ledger, say),
        open_ones,
        *told_last(limits(lacking, say), rest, say, first=bool(lost)),
    ]
    closing.append(
        about(
            Made(writer, judge, _verdicts(state) if writer else {}),
            context.searching,
            (
                *_count_uncited(context, sources, say),
                *context.notices,
                *context.search.waits.sentences(),
                *context.search.unmet.sentences(),
                *_describe_revision(state, why, say),
            ),
            len(state.get("pages", {})),
            "" if _left_open(state, why) else why,
            say,
        )
    )
    whole = tuple(
        section.model_copy(update={"sentences": tuple(map(without_addresses, section.sentences))})
        for section in [*sections, *closing]
        if section.sentences
    )
    named = state.get("title") or state["plan"].title or state["plan"].question
    report = Report(title=hosts_for_urls(named), sections=whole, language=say.spoken)
    status = status_of(why)
    return Result(
        session_id=context.session_id,
        question=state["plan"].question,
        revises=state.get("follows", "") if state.get("before") else "",
        status=status,
        stopped_by=why,
        mode=mode,
        confidence=_confidence(state, mode),
        topics=_topics(state),
        sources=tuple(sources),
        report=to_markdown(report, ledger, sources),
        document=report,
        opinion=describe_review(review) if (review := state.get("review")) else "",
        citations=tuple(state.get("citations", [])),
        conflicts=tuple(conflicts),
        problems=tuple(problems),
        shortfalls=lacking,
        left_out=tuple(state.get("left_out", [])),
        rounds=tuple(state.get("rounds", [])),
        searched=context.searching,
        forecast=state.get("forecast"),
        usage=context.budget.used.model_copy(update={"pages": len(state.get("pages", {}))}),
        timings={"total": round(context.budget.elapsed(), 2)},
        iterations=sum(r.number > KNOWN for r in state.get("rounds", [])),
        session_dir=str(context.folder),
    )


def _missing(state: ResearchState) -> list[str]:
    """What must be covered and no section answers, unless a later round has found it."""
    ledger = {e.id: e for e in state.get("evidence", [])}
    cited = {c.evidence_id for c in state.get("citations", [])}
    told = [ledger[id_] for id_ in cited if id_ in ledger]
    return [must for must in state.get("missing", []) if not any(speaks_of(e, must) for e in told)]


def _count_uncited(context: SessionContext, sources: Sequence[Source], say: Phrases) -> list[str]:
    """In deep effort, which reads many pages, how many are cited, and where it says why others are
    not.
    """
    count = sum(not source.unused for source in sources)
    if not context.deep or count == len(sources):
        return []
    return [say("cited_of", many=count)]


def _ended_by(context: SessionContext, state: ResearchState) -> str:
    """What ended the run. Where the model could not be paid, that did, even if code has covered
    every topic in its stead.
    """
    if context.stop.is_set():
        return "stop"
    searched = state.get("pages") or any(find.answered for find in state.get("finds", []))
    if not searched and state.get("stopped_by") in _OF_ITSELF:
        return "nothing searched"
    if not state.get("pages") and any(LATE in p.reason for p in state.get("problems", [])):
        return "time"
    unpaid = (
        context.budget.refused if context.budget.refused in ("calls", "tokens", "money") else ""
    )
    return unpaid or state.get("stopped_by", "") or context.budget.ended_by()


def _topics(state: ResearchState) -> tuple[CoveredTopic, ...]:
    coverage, evidence = state.get("coverage", {}), proving(state)
    queries = queries_of(state)
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
                queries=queries.get(topic.name, ()),
            )
        )
    return tuple(made)


def _verdicts(state: ResearchState) -> Counter[Verdict]:
    """How many sentences were found to be what."""
    return Counter({c.sentence: c.verdict for c in state.get("citations", [])}.values())


def _nearest(state: ResearchState, sections: Sequence[Section], say: Phrases) -> dict[str, Section]:
    """The sections that show only the nearest that was read, by their headings, as the report has
    them: all, or those of a report before that its follow-up has kept beside what it found.
    """
    coverage = state.get("coverage", {})
    if coverage and all(found.near for found in coverage.values()):
        alone = {"heading": say("nearest")} if len(sections) == 1 else {}
        return {one.heading: one.model_copy(update=alone) for one in sections}
    near = {name for name, found in coverage.items() if found.near and state.get("before")}
    return {
        one.heading: one.model_copy(update={"heading": f"{say('nearest')}: {one.heading}"})
        for one in sections
        if one.heading in near
    }


def _left_open(state: ResearchState, why: str) -> bool:
    """Whether a follow-up is answered, and something of the report before is not."""
    coverage = state.get("coverage", {}).values()
    return bool(state.get("before")) and why == "coverage" and not all(c.covered for c in coverage)


def _describe_revision(state: ResearchState, why: str, say: Phrases) -> list[str]:
    """What a revised report says of itself: how much of it was written anew, what it left out."""
    before = state.get("before")
    if before is None:
        return []
    sections, places = state.get("sections", []), state.get("places", {})
    new = sum(section not in before.sections for section in sections)
    told = {places.get(section.heading) for section in sections}
    headings = {section.heading for section in sections}
    gone = [
        f"“{old.heading}”"
        for n, old in enumerate(before.sections)
        if n not in told and old.heading not in headings
    ]
    stands = "others_stand" if gone else "all_stands"
    how = "changed_some" if 0 < new < len(sections) else "changed" if new else stands
    left_out = say("left_out", headings=", ".join(gone)) if gone else ""
    rest = "" if state["turn"].kind == "more" else say("unsearched")
    if _left_open(state, why):
        rest = say("answered_now")
    said = say(how, new=new, all=len(sections))
    return [say("revises", left_out=left_out, how=said, rest=rest).strip()]


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
