"""A finished report as the page shows it: the sheet, and what stands behind each quote."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from spadework.apps.view_model import SourceView
from spadework.tools.export.layout import laid_out, runs
from spadework.tools.export.markdown_report import safe_url
from spadework.tools.export.sheet import Quoted, Run, Sheet
from spadework.values import Result, Source

#: What code alone finds of a sentence that is its quote.
QUOTED = "quoted word for word"


@dataclass(frozen=True)
class Proof:
    """What stands behind a quote: where it is kept, its source's trust (0..100), and what was found
    of the sentence on it, `judged` where a model had a say in that.
    """

    snapshot: str
    trust: int | None
    verdict: str
    judged: bool = True


@dataclass(frozen=True)
class Listed:
    """A source in the list: cited (numbered), read, or not read."""

    n: int | None
    title: tuple[Run, ...]
    state: str
    host: str = ""
    link: str = ""
    snapshot: str = ""
    reason: str = ""
    trust: str = ""
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
    """The report of a result; `seen` are the pages of the run, of which some were not read."""
    sheet = laid_out(result)
    # What a conclusion rests on may be said outright elsewhere: that tells more of a quote.
    outright = sorted(result.citations, key=lambda citation: citation.verdict != "inference")
    verdicts = {citation.evidence_id: citation.verdict for citation in outright}
    judged = result.mode == "model"
    trusts = {source.url: round(100 * source.trust) for source in result.sources}
    proofs = {
        e.id: Proof(
            snapshot(result.session_id, e.content_hash, e.id),
            trusts.get(e.url),
            _told(verdicts.get(e.id, ""), judged=judged),
            judged,
        )
        for topic in result.topics
        for e in topic.evidence
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
    at = f"?e={evidence_id}#{evidence_id}" if evidence_id else ""
    return f"/s/{session_id}/pages/{content_hash}{at}"


def web_link(url: str) -> str:
    """The URL as a link that a browser may follow, "" for any that is none of the web's."""
    safe = safe_url(url)
    return safe if safe.startswith("http") else ""


def _told(verdict: str, *, judged: bool) -> str:
    """A verdict in words: without a model, that a sentence is its quote says nothing of its worth
    as an answer.
    """
    return QUOTED if verdict == "supported" and not judged else verdict


def _list_source(session_id: str, source: Source, quotes: tuple[Quoted, ...]) -> Listed:
    return Listed(
        source.n,
        runs(source.title) or (Run(source.url),),
        "cited" if quotes else "read",
        host=source.place,
        link=web_link(source.url),
        snapshot=snapshot(session_id, source.content_hash, quotes[0].id if quotes else ""),
        trust=source.trust_told,
        date=source.published_at.date().isoformat() if source.published_at else "",
        quotes=quotes,
        shape=source.shape,
    )


def _unread(view: SourceView) -> Listed:
    reason = view.reason or "The run ended before it was read."
    return Listed(None, runs(view.title) or (Run(view.url),), "not read", reason=reason)
