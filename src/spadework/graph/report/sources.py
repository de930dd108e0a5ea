"""Sources of a report: the pages read, with their trust, and why some are unused."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from spadework.graph.state import ResearchState
from spadework.tools.extract.expected_type import foreseen, shape_of_type
from spadework.tools.ranking.trust import trust
from spadework.tools.web.urls import domain_of
from spadework.values import Conflict, Evidence, Page, Section, Source

#: Why no sentence cites a page.
QUOTED = "It was quoted, and the report does not need it."
COPY = "It repeats the text of another page."
NOTHING = "It was looked through for the question, and nothing in it was worth a quote."
NO_ROOM = "There was no room to look through it."
FAR = "No passage of it comes near the question."


def sources_of(
    state: ResearchState, sections: Sequence[Section], conflicts: Sequence[Conflict]
) -> list[Source]:
    """Return the pages read, numbered from 1, cited ones first in order of citation."""
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
    pages = {url: _as_cited(page, evidence, told) for url, page in state.get("pages", {}).items()}
    rest = sorted(pages, key=lambda url: -pages[url].rrf)
    before = state.get("before")
    # Unchanged text cites by the same numbers while its sources are cited.
    same = [url for url in before.numbered if url in cited] if before else []
    order = [url for url in dict.fromkeys([*same, *cited, *rest]) if url in pages]
    return [
        _source(n, pages[url], evidence, disputed, _why_unused(pages[url], state, told))
        for n, url in enumerate(order, 1)
    ]


def _as_cited(page: Page, evidence: Sequence[Evidence], told: AbstractSet[str]) -> Page:
    """Return a page as cited: if it was read again with another text for a follow-up, the version
    cited by the report, unless the new one is cited too.
    """
    own = [e.content_hash for e in evidence if e.url == page.url and e.content_hash in told]
    if not own or page.content_hash in own:
        return page
    return page.model_copy(update={"content_hash": own[0]})


def _source(
    n: int, page: Page, evidence: Sequence[Evidence], disputed: Sequence[str], unused: str
) -> Source:
    parts = trust(page, evidence, disputed)
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
        # A local document, of which only the text is known, by its name.
        shape=foreseen(page.url).shape if page.level < 0 else shape_of_type(page.media_type),
    )


def _why_unused(page: Page, state: ResearchState, told: AbstractSet[str]) -> str:
    digest = page.content_hash
    if digest in told:
        return ""
    if any(e.content_hash == digest for e in state.get("evidence", [])):
        return QUOTED
    if page.origin not in ("", page.url):
        return COPY
    if any(p.content_hash == digest for p in state.get("shown", [])):
        return NOTHING
    found = (p.content_hash for find in state.get("finds", []) for p in find.passages)
    return NO_ROOM if digest in found else FAR
