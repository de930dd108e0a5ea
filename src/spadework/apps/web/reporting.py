"""A finished report as the page shows it: the laid-out sheet, and behind each quote its page, its
trust and its verdict.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from spadework.apps.view_model import SourceView
from spadework.tools.export.layout import laid_out, runs
from spadework.tools.export.markdown_report import safe_url
from spadework.tools.export.sheet import Quoted, Run, Sheet
from spadework.values import Result, Source


@dataclass(frozen=True)
class Proof:
    """What stands behind a quote: where its words are kept, how far its source is trusted (0..100),
    what the verifier found.
    """

    snapshot: str
    trust: int | None
    verdict: str


@dataclass(frozen=True)
class Listed:
    """A source in the list: cited (numbered), read, or not read."""

    n: int | None
    title: tuple[Run, ...]
    host: str
    url: str
    link: str
    snapshot: str
    state: str
    reason: str = ""
    trust: int | None = None
    date: str = ""
    quotes: tuple[Quoted, ...] = ()
    shape: str = ""


@dataclass(frozen=True)
class ReportView:
    """A report with all that its page needs."""

    sheet: Sheet
    proofs: dict[str, Proof]
    listed: tuple[Listed, ...]


def show_report(result: Result, seen: Iterable[SourceView]) -> ReportView:
    """The report of a result; `seen` are the pages of the run, of which the list shows those that
    were not read.
    """
    sheet = laid_out(result)
    ledger = {e.id: e for topic in result.topics for e in topic.evidence}
    # What a conclusion rests on may be said outright elsewhere: that tells more of a quote.
    outright = sorted(result.citations, key=lambda citation: citation.verdict != "inference")
    verdicts = {citation.evidence_id: citation.verdict for citation in outright}
    trusts = {source.url: round(100 * source.trust) for source in result.sources}
    proofs = {
        id_: Proof(
            snapshot(result.session_id, e.content_hash, id_),
            trusts.get(e.url),
            verdicts.get(id_, ""),
        )
        for id_, e in ledger.items()
    }
    cited = {reference.n: reference for reference in sheet.sources}
    read = {source.url for source in result.sources}
    listed = [
        _list_source(result.session_id, source, cited[source.n].quotes if source.n in cited else ())
        for source in result.sources
    ]
    listed += [_unread(view) for view in seen if view.state != "read" and view.url not in read]
    return ReportView(sheet, proofs, tuple(listed))


def snapshot(session_id: str, content_hash: str, evidence_id: str = "") -> str:
    """The address of a page as it was read, scrolled to the words of an evidence."""
    return f"/s/{session_id}/pages/{content_hash}" + (
        f"?e={evidence_id}#{evidence_id}" if evidence_id else ""
    )


def web_link(url: str) -> str:
    """The URL as a link that a browser may follow, "" for any that is none of the web's."""
    safe = safe_url(url)
    return safe if safe.startswith("http") else ""


def _list_source(session_id: str, source: Source, quotes: tuple[Quoted, ...]) -> Listed:
    link = web_link(source.url)
    date = source.published_at.date().isoformat() if source.published_at else ""
    kept = snapshot(session_id, source.content_hash, quotes[0].id if quotes else "")
    title, state = runs(source.title) or (Run(source.url),), "cited" if quotes else "read"
    return Listed(
        source.n,
        title,
        source.place,
        source.url,
        link,
        kept,
        state,
        "",
        round(100 * source.trust),
        date,
        quotes,
        source.shape,
    )


def _unread(view: SourceView) -> Listed:
    reason = view.reason or "The run ended before it was read."
    return Listed(
        None, runs(view.title) or (Run(view.url),), "", view.url, "", "", "not read", reason
    )
