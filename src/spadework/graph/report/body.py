"""Assembly of a run's report: sections, what was not found, how it was made."""

from __future__ import annotations

from collections.abc import Sequence

from spadework.agents.editor import about, disagreements, not_found, problem_lines, untold
from spadework.agents.extractive import writer as extractive
from spadework.agents.report.material import speaks_of
from spadework.graph.context import SessionContext
from spadework.graph.report.coverage_gaps import Unreached, first_of_all, unread_hits, with_unread
from spadework.graph.report.sentence_pruning import without_addresses
from spadework.graph.report.sources import sources_of
from spadework.graph.state import ResearchState, proofs
from spadework.tools.export.markdown_report import to_markdown
from spadework.tools.text.language import Phrases
from spadework.tools.web.urls import hosts_for_urls
from spadework.values import Problem, Report, Section, Source, models_among


def draft(state: ResearchState) -> str:
    """Return the report so far, composed by code."""
    evidence = proofs(state)
    ledger = {e.id: e for e in evidence}
    sections = [
        extractive.section(t.name, own)
        for t in state["plan"].topics
        if (own := [e for e in evidence if e.topic == t.name])
    ]
    report = Report(title=state["plan"].question, sections=tuple(sections))
    return to_markdown(report, ledger, sources_of(state, sections, []))


def build_report(
    context: SessionContext,
    state: ResearchState,
    why: str,
    unreached: Sequence[Unreached],
    problems: Sequence[Problem],
    sources: Sequence[Source],
) -> Report:
    """Return the report of a run ended by `why`, with its problems first if something was
    `unreached`, else last.
    """
    say = Phrases(state["plan"].language)
    ledger = {e.id: e for e in state.get("evidence", [])}
    sections, open_ones = _body(state, say)
    failed = problem_lines(problems, say)
    if unreached:
        sections = [first_of_all(unreached, failed), *sections]
    by_model = models_among(c.maker for c in state.get("citations", []))
    conflicts = state.get("conflicts", [])
    closing = [
        disagreements(untold(conflicts, sections) if by_model else conflicts, ledger, say),
        open_ones,
        *([] if unreached else [failed]),
        _about(context, state, why, sources, say),
    ]
    whole = tuple(
        section.model_copy(update={"sentences": tuple(map(without_addresses, section.sentences))})
        for section in [*sections, *closing]
        if section.sentences
    )
    named = state.get("title") or state["plan"].title or state["plan"].question
    return Report(title=hosts_for_urls(named), sections=whole, language=say.language)


def _body(state: ResearchState, say: Phrases) -> tuple[list[Section], Section]:
    coverage, told = state.get("coverage", {}), {c.evidence_id for c in state.get("citations", [])}
    answered = {name for name, found in coverage.items() if found.state == "answered"}
    unread = [one for one in unread_hits(state) if one.topic not in answered]
    cited = [e for e in state.get("evidence", []) if e.id in told]
    # Unless a later round has found it.
    missing = [m for m in state.get("missing", []) if not any(speaks_of(e, m) for e in cited)]
    open_ones = with_unread(
        not_found(
            state["plan"],
            coverage,
            missing,
            state.get("shortfalls", []),
            frozenset(one.topic for one in unread),
            say,
        ),
        unread,
        say,
        beside=bool(state.get("pages")),
    )
    headed, written = _nearest(state, say), state.get("sections", [])
    answers = [section for section in written if section.heading not in headed]
    rest = [headed[section.heading] for section in written if section.heading in headed]
    if rest:
        # Readers of the beginning must not mistake the closest passages for the answer.
        return [*answers, open_ones, *rest], open_ones.model_copy(update={"sentences": ()})
    return answers, open_ones


def _about(
    context: SessionContext, state: ResearchState, why: str, sources: Sequence[Source], say: Phrases
) -> Section:
    return about(
        state.get("citations", []),
        context.searching,
        (len(state.get("pages", {})), sum(not source.unused for source in sources)),
        (
            *context.notices,
            *context.search.unmet.sentences(),
            *_describe_revision(state, why, say),
        ),
        "" if _left_open(state, why) else why,
        say,
    )


def _nearest(state: ResearchState, say: Phrases) -> dict[str, Section]:
    """Return the sections of topics without an answer by code, by heading, presented as closest
    passages.
    """
    coverage, sections = state.get("coverage", {}), state.get("sections", [])
    unproven = {n for n, found in coverage.items() if not found.covered and found.quality is None}
    alone = len(sections) == 1
    return {
        one.heading: one.model_copy(
            update={"heading": say("nearest") if alone else f"{say('nearest')}: {one.heading}"}
        )
        for one in sections
        if one.heading in unproven
    }


def _left_open(state: ResearchState, why: str) -> bool:
    """Return whether a follow-up is answered, but some of the previous report is not."""
    coverage = state.get("coverage", {}).values()
    return bool(state.get("before")) and why == "coverage" and not all(c.covered for c in coverage)


def _describe_revision(state: ResearchState, why: str, say: Phrases) -> list[str]:
    """Return a revised report's notes: how much was rewritten, what was left out."""
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
