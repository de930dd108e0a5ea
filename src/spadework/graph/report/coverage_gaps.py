"""What could not be reached at all, shown first, and hits that could not be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, get_args

from spadework.events import Called
from spadework.graph.context import SessionContext
from spadework.graph.state import ResearchState
from spadework.settings import Role
from spadework.tools.text.language import Phrases
from spadework.tools.text.markdown import one_line
from spadework.tools.web.urls import canonical_url, host_of, hosts_for_urls
from spadework.values import Part, Problem, Section, Sentence, Unread

#: Maximum unread hits listed if no page was read, and if others were; characters of each.
MOST_UNREAD, MOST_BESIDE, UNREAD_CHARS = 10, 4, 300
#: Maximum reasons named in the sentence; each page's own is in the list.
MOST_REASONS = 3
#: Reasons of a role without budget or time, which are not faults.
_NOT_A_FAULT = "the budget of"


class Unreached(NamedTuple):
    """A sentence on something unreachable, and the problems it covers."""

    said: str
    problems: tuple[Problem, ...]


def list_unreached(
    context: SessionContext, state: ResearchState, problems: Sequence[Problem]
) -> list[Unreached]:
    """Return what could not be asked, searched or read at all."""
    return [*_model(context, problems), *_providers(state, problems), *_pages(state, problems)]


def _model(context: SessionContext, problems: Sequence[Problem]) -> Iterator[Unreached]:
    for problem in problems:
        if problem.stage == "model":
            yield Unreached(f"{problem.reason} {problem.effect}".rstrip(), (problem,))
    of_roles = tuple(
        problem
        for problem in problems
        if problem.stage in get_args(Role) and not problem.reason.startswith(_NOT_A_FAULT)
    )
    calls = [event for event in context.record.events if isinstance(event, Called)]
    asked = any(call.verdict != "unpaid" for call in calls)
    if asked and of_roles and not any(call.answered for call in calls):
        why = of_roles[0].reason
        same = (*of_roles, *(problem for problem in problems if problem.stage == "examination"))
        told = f"{why} It has not answered once: code did all the work."
        yield Unreached(told, tuple(problem for problem in same if why in problem.reason))


def _providers(state: ResearchState, problems: Sequence[Problem]) -> Iterator[Unreached]:
    """Yield providers that never answered; or that all did and found nothing."""
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
    """Yield that pages were found but none could be read; each reason once."""
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
    """Return the report's first section: what was unreachable, then the `rest` of the problems."""
    said = (*(Sentence(text=one.said) for one in found), *rest.sentences)
    parts = (Part(form="bullets" if len(said) > 1 else "paragraph", takes=(1,) * len(said)),)
    return rest.model_copy(update={"sentences": said, "parts": parts})


def unread_hits(state: ResearchState) -> list[Unread]:
    """Return the hits that could not be read, best first, each page once."""
    had = {canonical_url(url) for url in state.get("pages", {})}
    found: dict[str, Unread] = {}
    for one in (one for find in state.get("finds", []) for one in find.unread):
        if (url := canonical_url(one.url)) not in had:
            found[url] = one
    return sorted(found.values(), key=lambda one: -one.score)


def with_unread(
    section: Section, hits: Sequence[Unread], say: Phrases, *, beside: bool = False
) -> Section:
    """Add to a section about missing answers the unread hits, best first: only names if `beside`
    pages that were read, else with snippets and reasons.
    """
    if not hits:
        return section
    best = hits[: MOST_BESIDE if beside else MOST_UNREAD]
    lines = [
        say("found_beside" if beside else "found_unread"),
        *(_name_hit(hit, whole=not beside) for hit in best),
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
    """Return an unread page's title and host; the `whole` also has its snippet and the reason."""
    host, title = host_of(hit.url), hosts_for_urls(hit.title)
    named = f"“{title}” ({host})" if title and title != host else host
    shown = one_line(hosts_for_urls(hit.snippet), UNREAD_CHARS + 1) if whole else ""
    if len(shown) > UNREAD_CHARS:
        shown = f"{shown[:UNREAD_CHARS].rpartition(' ')[0]} …"
    why = f" ({hosts_for_urls(hit.reason).rstrip('.')})" if whole and hit.reason else ""
    return f"{named}: {shown}{why}" if shown else f"{named}{why}."
