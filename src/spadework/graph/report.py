"""Assemble the report: sections, open topics, and how it was made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set as AbstractSet
from typing import NamedTuple, get_args

from spadework.agents.editor import about, disagreements, not_found, problem_lines, untold
from spadework.agents.extractive import writer as extractive
from spadework.events import Called
from spadework.graph.context import SessionContext
from spadework.graph.sentence_pruning import without_addresses
from spadework.graph.state import ResearchState, proofs
from spadework.settings import Role
from spadework.tools.export.markdown_report import to_markdown
from spadework.tools.extract.expected_type import foreseen, shape_of_type
from spadework.tools.ranking.selection import by_page, trust
from spadework.tools.text.language import Phrases
from spadework.tools.web.urls import canonical_url, domain_of, host_of, hosts_for_urls
from spadework.values import (
    CODE,
    Conflict,
    Evidence,
    Page,
    Part,
    Problem,
    Report,
    Section,
    Sentence,
    Source,
    Unread,
    models_among,
)
from spadework.visible import one_line

#: Maximum number of unread hits listed if no page was read.
MOST_UNREAD = 10
#: Maximum number of unread hits listed if some pages were read.
MOST_BESIDE = 4
UNREAD_CHARS = 300
#: The sentence "None of the … pages that were tried could be read" gives at most this many reasons.
#: The list of unread hits gives the reason for each hit.
MOST_REASONS = 3


class Unreached(NamedTuple):
    """A sentence that says what could not be reached, and the problems that it covers."""

    said: str
    problems: tuple[Problem, ...]


def list_unreached(
    context: SessionContext, state: ResearchState, problems: Sequence[Problem]
) -> list[Unreached]:
    """Return sentences about the models, providers and pages that could not be reached."""
    return [*_model(context, problems), *_providers(state, problems), *_pages(state, problems)]


def _model(context: SessionContext, problems: Sequence[Problem]) -> Iterator[Unreached]:
    for problem in problems:
        if problem.stage == "model":
            yield Unreached(f"{problem.reason} {problem.effect}".rstrip(), (problem,))
    calls = [event for event in context.record.events if isinstance(event, Called)]
    failed = tuple(call.reason for call in calls if call.verdict != "unpaid" and call.reason)
    of_roles = [
        problem
        for problem in problems
        if problem.stage in get_args(Role) and problem.reason.startswith(failed)
    ]
    if of_roles and not any(call.answered for call in calls):
        why = of_roles[0].reason
        same = [problem for problem in of_roles if why in problem.reason]
        untested = [problem for problem in problems if problem.stage == "qualification"]
        told = f"{why} The model never answered, so all the work was done without it."
        yield Unreached(told, (*same, *untested))


def _providers(state: ResearchState, problems: Sequence[Problem]) -> Iterator[Unreached]:
    finds = state.get("finds", [])
    heard = {name for find in finds for name in find.heard}
    failed = [problem for problem in problems if problem.stage == "search"]
    for name in dict.fromkeys(problem.subject for problem in failed):
        own = tuple(problem for problem in failed if problem.subject == name)
        if name not in heard:
            yield Unreached(f"No search with {name} succeeded: {own[0].reason}", own)
    if heard and not failed and not any(find.found or find.pages for find in finds):
        yield Unreached(f"Every search with {', '.join(sorted(heard))} found nothing.", ())


def _pages(state: ResearchState, problems: Sequence[Problem]) -> Iterator[Unreached]:
    unread = unread_hits(state)
    if state.get("pages") or not unread:
        return
    tried = {one.url for one in unread}
    own = tuple(problem for problem in problems if problem.subject in tried)
    reasons = list(dict.fromkeys(hosts_for_urls(one.reason) for one in unread))
    many = f"None of the {len(tried)} pages that were tried could be read"
    one = "The only page that was tried could not be read"
    yield Unreached(f"{many if len(tried) > 1 else one}: {' '.join(reasons[:MOST_REASONS])}", own)


def first_of_all(found: Sequence[Unreached], rest: Section) -> Section:
    """Return the report's first section: what was unreachable, then other problems."""
    said = (*(Sentence(text=one.said) for one in found), *rest.sentences)
    parts = (Part(form="bullets" if len(said) > 1 else "paragraph", takes=(1,) * len(said)),)
    return rest.model_copy(update={"sentences": said, "parts": parts})


def unread_hits(state: ResearchState) -> list[Unread]:
    """Return the distinct hits that could not be read, best first."""
    had = {canonical_url(url) for url in state.get("pages", {})}
    found: dict[str, Unread] = {}
    for one in (one for find in state.get("finds", []) for one in find.unread):
        if (url := canonical_url(one.url)) not in had:
            found[url] = one
    return sorted(found.values(), key=lambda one: -one.score)


def with_unread(
    section: Section, hits: Sequence[Unread], say: Phrases, *, brief: bool = False
) -> Section:
    """Append unread hits to a section, best first. If `brief`, list fewer, by title and host."""
    if not hits:
        return section
    best = hits[: MOST_BESIDE if brief else MOST_UNREAD]
    lines = [
        say("found_beside" if brief else "found_unread"),
        *(_name_hit(hit, whole=not brief) for hit in best),
    ]
    more = len(hits) - len(best)
    lines += [say("more", more=more)] if more else []
    own = section.sentences
    parts = (
        Part(form="bullets", takes=(1,) * len(own)),
        Part(form="paragraph", takes=(1,)),
        Part(form="bullets", takes=(1,) * (len(lines) - 1)),
    )
    told = (*own, *(Sentence(text=line) for line in lines))
    return section.model_copy(update={"sentences": told, "parts": parts if own else parts[1:]})


def _name_hit(hit: Unread, *, whole: bool) -> str:
    host, title = host_of(hit.url), hosts_for_urls(hit.title)
    named = f"“{title}” ({host})" if title and title != host else host
    shown = one_line(hosts_for_urls(hit.snippet), UNREAD_CHARS + 1) if whole else ""
    if len(shown) > UNREAD_CHARS:
        shown = f"{shown[:UNREAD_CHARS].rpartition(' ')[0]} …"
    why = f" ({hosts_for_urls(hit.reason).rstrip('.')})" if whole and hit.reason else ""
    return f"{named}: {shown}{why}" if shown else f"{named}{why}."


#: Reasons why the report does not cite a page.
QUOTED = "This page was quoted, but the report uses none of its quotes."
COPY = "This page repeats the text of another page."
NOTHING = "This page was searched for quotes, but nothing was worth quoting."
NO_ROOM = "Other pages came first, so this page was not searched for quotes."
FAR = "No passage on this page is close to the question."


def sources_of(
    state: ResearchState, sections: Sequence[Section], conflicts: Sequence[Conflict]
) -> list[Source]:
    """Return the pages read, numbered from 1, with cited pages first."""
    evidence = state.get("evidence", [])
    ledger = {e.id: e for e in evidence}
    disputed = [
        id_ for conflict in conflicts for side in conflict.sides for id_ in side.evidence_ids
    ]
    resting = [
        ledger[i]
        for section in sections
        for s in section.sentences
        for i in s.evidence_ids
        if i in ledger
    ]
    told = {e.content_hash for e in resting}
    cited = [*(e.url for e in resting), *(ledger[i].url for i in disputed)]
    quotes, unused = by_page(evidence), _reasons_unused(state, told)
    pages = {u: _as_cited(p, quotes[u], told) for u, p in state.get("pages", {}).items()}
    rest = sorted(pages, key=lambda url: -pages[url].rrf)
    before = state.get("before")
    # In a revised report, cited sources keep their numbers.
    same = [url for url in before.numbered if url in cited] if before else []
    order = [url for url in dict.fromkeys([*same, *cited, *rest]) if url in pages]
    return [
        _source(n, pages[url], quotes[url], disputed, _why_unused(pages[url], unused))
        for n, url in enumerate(order, 1)
    ]


def _as_cited(page: Page, quotes: Sequence[Evidence], told: AbstractSet[str]) -> Page:
    own = [e.content_hash for e in quotes if e.content_hash in told]
    if not own or page.content_hash in own:
        return page
    return page.model_copy(update={"content_hash": own[0]})


def _source(
    n: int, page: Page, quotes: Sequence[Evidence], disputed: Sequence[str], unused: str
) -> Source:
    parts = trust(page, quotes, disputed)
    return Source(
        n=n,
        url=page.url,
        title=page.title,
        domain=domain_of(page.url),
        publisher=page.publisher,
        level=page.level,
        relevance=page.relevance,
        trust=parts.pop("trust"),
        trust_parts=parts,
        found_by=page.found_by,
        published_at=page.published_at,
        content_hash=page.content_hash,
        known=page.known,
        unused=unused,
        kind=page.kind,
        # Local documents are stored as text, so their original kind (such as PDF) is derived from
        # their file names.
        shape=foreseen(page.url).shape if page.level < 0 else shape_of_type(page.media_type),
    )


def _reasons_unused(state: ResearchState, told: AbstractSet[str]) -> dict[str, str]:
    """Map each page's content hash to the reason why no sentence cites it, or to "" if one does."""
    found = [p for find in state.get("finds", []) for p in find.passages]
    return {
        **{p.content_hash: NO_ROOM for p in found},
        **{p.content_hash: NOTHING for p in state.get("shown", [])},
        **{e.content_hash: QUOTED for e in state.get("evidence", [])},
        **dict.fromkeys(told, ""),
    }


def _why_unused(page: Page, reasons: Mapping[str, str]) -> str:
    why = reasons.get(page.content_hash, FAR)
    copied = page.origin not in ("", page.url)
    return COPY if copied and why not in ("", QUOTED) else why


def draft(state: ResearchState) -> str:
    """Return a preliminary report, composed without a model."""
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
    """Return the report of a run. `why` says why the run ended. Problems come first if anything was
    `unreached`, otherwise near the end.
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
    coverage = state.get("coverage", {})
    answered = {name for name, found in coverage.items() if found.state == "answered"}
    unread = [one for one in unread_hits(state) if one.topic not in answered]
    open_ones = with_unread(
        not_found(
            state["plan"],
            coverage,
            state.get("missing"),
            state.get("shortfalls", []),
            frozenset(one.topic for one in unread),
            say,
        ),
        unread,
        say,
        brief=bool(state.get("pages")),
    )
    headed, written = _nearest(state, say), state.get("sections", [])
    answers = [section for section in written if section.heading not in headed]
    rest = [headed[section.heading] for section in written if section.heading in headed]
    if rest:
        # Sections that show the closest passages for open topics come last, so that readers do not
        # mistake them for answers.
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
            *map(say.scope, context.notices),
            *context.search.unmet.sentences(),
            *_describe_revision(state, why, say),
        ),
        "" if _left_open(state, why) else why,
        say,
    )


def _nearest(state: ResearchState, say: Phrases) -> dict[str, Section]:
    coverage, sections = state.get("coverage", {}), state.get("sections", [])
    unproven = {n for n, found in coverage.items() if not found.covered and found.judge == CODE}
    alone = len(sections) == 1
    return {
        one.heading: one.model_copy(
            update={"heading": say("nearest") if alone else f"{say('nearest')}: {one.heading}"}
        )
        for one in sections
        if one.heading in unproven
    }


def _left_open(state: ResearchState, why: str) -> bool:
    coverage = state.get("coverage", {}).values()
    return bool(state.get("before")) and why == "coverage" and not all(c.covered for c in coverage)


def _describe_revision(state: ResearchState, why: str, say: Phrases) -> list[str]:
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
