"""What a report says first: what could not be reached at all; and what was found and not read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, get_args

from spadework.graph.session_context import SessionContext
from spadework.graph.state import ResearchState
from spadework.settings import Role
from spadework.tools.text.markdown_marks import one_line
from spadework.tools.text.phrases import Phrases
from spadework.tools.web.urls import canonical_url, host_of, hosts_for_urls
from spadework.values import Hit, Part, Problem, Section, Sentence

#: Unread hits that are listed where no page was read, and where others were; characters of each.
MOST_UNREAD, MOST_BESIDE, UNREAD_CHARS = 10, 4, 300
#: What a role says whose budget is spent, or which was in no time asked.
_NOT_A_FAULT = "the budget of"


class Unreached(NamedTuple):
    """A sentence on what could not be reached at all, and the problems that it tells of."""

    said: str
    problems: tuple[Problem, ...]


def list_unreached(
    context: SessionContext, state: ResearchState, problems: Sequence[Problem]
) -> list[Unreached]:
    """What could not be asked, searched or read at all."""
    return [*_model(context, problems), *_providers(state, problems), *_pages(state, problems)]


def _model(context: SessionContext, problems: Sequence[Problem]) -> Iterator[Unreached]:
    """That there was a model, and it has not said a word."""
    for problem in problems:
        if problem.stage == "model":
            yield Unreached(f"{problem.reason} {problem.effect}".rstrip(), (problem,))
    of_roles = tuple(
        problem
        for problem in problems
        if problem.stage in get_args(Role) and not problem.reason.startswith(_NOT_A_FAULT)
    )
    if context.model and of_roles and not context.budget.used.tokens_out:
        why = of_roles[0].reason
        same = (*of_roles, *(problem for problem in problems if problem.stage == "examination"))
        told = f"{why} It has not answered once: code did all the work."
        yield Unreached(told, tuple(problem for problem in same if why in problem.reason))


def _providers(state: ResearchState, problems: Sequence[Problem]) -> Iterator[Unreached]:
    """Who was asked and has not answered once; or that all have, and found nothing."""
    finds = state.get("finds", [])
    heard = {name for find in finds for name in find.heard}
    failed = [problem for problem in problems if problem.stage == "search"]
    for name in dict.fromkeys(problem.subject for problem in failed):
        own = tuple(problem for problem in failed if problem.subject == name)
        if name not in heard:
            yield Unreached(f"Nothing was searched through {name}: {own[0].reason}", own)
    if heard and not failed and not any(find.found or find.pages for find in finds):
        yield Unreached(f"Every search of {', '.join(sorted(heard))} came back empty.", ())


def _pages(state: ResearchState, problems: Sequence[Problem]) -> Iterator[Unreached]:
    """That pages were found, and none of them could be read."""
    tried = {hit.url for find in state.get("finds", []) for hit in find.unread}
    own = tuple(problem for problem in problems if problem.subject in tried)
    if state.get("pages") or not own:
        return
    why = hosts_for_urls(own[0].reason)
    many = f"None of the {len(tried)} pages that were tried could be read"
    one = "The only page that was tried could not be read"
    yield Unreached(f"{many if len(tried) > 1 else one}: {why}", own)


def first_of_all(found: Sequence[Unreached], rest: Section) -> Section:
    """Return what could not be reached as the section that a report begins with, before the `rest`
    of what went wrong.
    """
    said = (*(Sentence(text=one.said) for one in found), *rest.sentences)
    parts = (Part(form="bullets" if len(said) > 1 else "paragraph", takes=(1,) * len(said)),)
    return rest.model_copy(update={"sentences": said, "parts": parts})


def unread_hits(state: ResearchState) -> dict[str, list[Hit]]:
    """The hits that could not be read, best first, each once, by the topics not answered."""
    coverage, found = state.get("coverage", {}), dict[str, dict[str, Hit]]()
    had = {canonical_url(url) for url in state.get("pages", {})}
    for find in state.get("finds", []):
        judged = coverage.get(find.topic)
        if judged and judged.state == "answered":
            continue
        for hit in find.unread:
            url = canonical_url(hit.url)
            if url not in had:
                had.add(url)
                found.setdefault(find.topic, {})[url] = hit
    return {
        topic: sorted(hits.values(), key=lambda hit: -hit.relevance)
        for topic, hits in found.items()
    }


def with_unread(
    section: Section, hits: Sequence[Hit], say: Phrases, *, beside: bool = False
) -> Section:
    """Return a section of what was not found, and under it what was found and not read: only its
    names where it stands `beside` pages that were read.
    """
    if not hits:
        return section
    most = MOST_BESIDE if beside else MOST_UNREAD
    best = sorted(hits, key=lambda hit: -hit.relevance)[:most]
    lines = [
        say("found_beside" if beside else "found_unread"),
        *(_name_hit(hit, snippet=not beside) for hit in best),
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


def _name_hit(hit: Hit, *, snippet: bool) -> str:
    """Name a page that was not read by title and host, with what the search shows of it."""
    host, title = host_of(hit.url), hosts_for_urls(hit.title)
    named = f"“{title}” ({host})" if title and title != host else host
    shown = one_line(hosts_for_urls(hit.snippet), UNREAD_CHARS + 1) if snippet else ""
    if len(shown) > UNREAD_CHARS:
        shown = f"{shown[:UNREAD_CHARS].rpartition(' ')[0]} …"
    return f"{named}: {shown}" if shown else f"{named}."
