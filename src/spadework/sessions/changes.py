"""Report changes between two runs of a question as Markdown, an Atom feed or a webhook call. Only
cited quotes are compared.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import lxml.etree as etree

from spadework.errors import SessionError, SettingsError, SpadeworkError
from spadework.sessions.session import Session
from spadework.sessions.storage.files import UNTOLD, read_page, session_folder, whole_result
from spadework.sessions.storage.session_list import Listed, readable_sessions
from spadework.settings import Settings
from spadework.tools.export.markdown_report import escape_markdown, safe_url
from spadework.tools.stores.private_files import write_atomically
from spadework.tools.web.connections import certificates, closing_lines, proxy_for
from spadework.tools.web.urls import host_of
from spadework.values import Evidence, Result, Value
from spadework.visible import visible

#: Maximum number of entries in a feed. The oldest are dropped.
MOST_ENTRIES = 50
HOOK_SECONDS = 30.0
_ATOM = "{http://www.w3.org/2005/Atom}"


class Change(Value):
    """A change to a page: the quote `before` was removed, the quote `after` is new, or both."""

    topic: str
    url: str
    title: str
    before: str = ""
    after: str = ""


class Changes(Value):
    """The changes from session `since` to session `session_id`, found at time `at`."""

    question: str
    session_id: str
    since: str
    at: datetime
    changes: tuple[Change, ...] = ()

    def markdown(self) -> str:
        """Return the changes as Markdown. Page text is escaped, so only our links work."""
        lines = [f"# {escape_markdown(self.question)}", ""]
        for one in self.changes:
            title, url = escape_markdown(one.title or one.url), safe_url(one.url)
            where = f"[{title}]({url})" if url else title
            lines += [f"- **{escape_markdown(one.topic)}**, {where}", ""]
            lines += [f"  > Before: {escape_markdown(one.before)}", "  >"] if one.before else []
            now = escape_markdown(one.after) or "The page no longer says this."
            lines += [f"  > {'Now' if one.before else 'New'}: {now}", ""]
        return "\n".join(lines)


def earlier_run(home: Path, question: str) -> tuple[Listed, Result] | None:
    """Return the last successful run of the question and its result, or None. Runs whose changes
    were not delivered are skipped.
    """
    asked = _one_line(visible(question))
    runs = [one for one in readable_sessions(home) if (one.query, one.kind) == (asked, "research")]
    for one in sorted(runs, key=lambda run: run.created_at, reverse=True):
        folder = session_folder(home, one.id)
        told = one.status not in ("", "failed") and not (folder / UNTOLD).exists()
        if told and (result := whole_result(folder)):
            return one, result
    return None


def changes_between(home: Path, before: Result, after: Result) -> Changes:
    """Return the new quotes and the removed quotes. A quote is new if no page of the earlier run
    contains it. It is removed if its page was read again but no page contains it.
    """
    old, new = _pages(home, before), _pages(home, after)
    read_again = {source.url for source in after.sources}
    lost = [e for e in _cited(before) if e.url in read_again and not _stands(e, new)]
    found = []
    for entry in (e for e in _cited(after) if not _stands(e, old)):
        alike = [e for e in lost if e.url == entry.url]
        likest = get_close_matches(entry.quote, [e.quote for e in alike], 1, cutoff=0)
        gone = next((e for e in alike if e.quote in likest), None)
        lost = [e for e in lost if e is not gone]
        found.append(_change(entry, gone.quote if gone else "", entry.quote))
    found += [_change(entry, entry.quote, "") for entry in lost]
    return Changes(
        question=after.question,
        session_id=after.session_id,
        since=before.session_id,
        at=datetime.now(UTC),
        changes=tuple(dict.fromkeys(found)),
    )


def _change(entry: Evidence, before: str, after: str) -> Change:
    before, after = _one_line(visible(before)), _one_line(visible(after))
    return Change(topic=entry.topic, url=entry.url, title=entry.title, before=before, after=after)


def _cited(result: Result) -> list[Evidence]:
    cited = {citation.evidence_id for citation in result.citations}
    return [e for topic in result.topics for e in topic.evidence if e.id in cited]


def _pages(home: Path, result: Result) -> list[str]:
    folder = session_folder(home, result.session_id)
    found = (read_page(folder, source.content_hash) for source in result.sources)
    return [_one_line(text) for text in found if text]


def _stands(entry: Evidence, pages: Iterable[str]) -> bool:
    quote = _one_line(entry.quote)
    return any(quote in page for page in pages)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def read_feed(path: Path) -> Any:
    """Return a file as an Atom feed, or None if missing. Raises SettingsError if it is not one."""
    with suppress(etree.XMLSyntaxError, ValueError):
        feed = etree.fromstring(path.read_bytes()) if path.exists() else None
        if feed is None or feed.find(f"{_ATOM}updated") is not None:
            return feed
    raise SettingsError(f"{path} is not an Atom feed. Choose another file.")


def write_feed(path: Path, found: Changes) -> None:
    """Add an entry to a new or existing feed. Raises SettingsError if it is not an Atom feed."""
    if (feed := read_feed(path)) is None:
        feed = _feed(found)
    entry = _entry(f"spadework:{found.session_id}", found.question, found.at)
    etree.SubElement(entry, f"{_ATOM}content", type="text").text = found.markdown()
    feed.find(f"{_ATOM}updated").text = found.at.isoformat()
    entries = feed.findall(f"{_ATOM}entry")
    for old in entries[MOST_ENTRIES - 1 :]:
        feed.remove(old)
    feed.insert(len(feed) - len(entries[: MOST_ENTRIES - 1]), entry)
    write_atomically(path, etree.tostring(feed, xml_declaration=True, encoding="utf-8"), 0o644)


def _feed(found: Changes) -> Any:
    made = _entry(f"spadework:{found.since}", found.question, found.at, "feed")
    etree.SubElement(etree.SubElement(made, f"{_ATOM}author"), f"{_ATOM}name").text = "spadework"
    return made


def _entry(id_: str, title: str, at: datetime, tag: str = "entry") -> Any:
    made = etree.Element(f"{_ATOM}{tag}", nsmap={None: _ATOM[1:-1]})
    for name, text in (("id", id_), ("title", title), ("updated", at.isoformat())):
        etree.SubElement(made, f"{_ATOM}{name}").text = text
    return made


def check_webhook(url: str) -> None:
    """Raise SettingsError if `url` is not a web address, without revealing it."""
    with suppress(ValueError, httpx.InvalidURL):
        told = httpx.URL(url)
        if told.scheme in ("http", "https") and told.host and urlsplit(url).port != 0:
            return
    raise SettingsError("--webhook must be a web address, such as https://hooks.example.com/T1.")


async def post(url: str, found: Changes) -> None:
    """Send the changes to a webhook as JSON, with Markdown in `text`. Raises SpadeworkError."""
    body = found.model_dump(mode="json") | {"text": found.markdown()}
    client = httpx.AsyncClient(
        timeout=HOOK_SECONDS, verify=certificates(), proxy=proxy_for(url), trust_env=False
    )
    try:
        async with closing_lines(client):
            (await client.post(url, json=body)).raise_for_status()
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        status = isinstance(error, httpx.HTTPStatusError) and error.response.status_code
        why = f"status {status}" if status else type(error).__name__
        raise SpadeworkError(f"The webhook at {host_of(url)} failed: {why}.") from None


async def run_again(settings: Settings, question: str, before: Result | None) -> Changes:
    """Research a question again, and return the changes since `before` (no changes if None). Until
    `mark_told` is called, later runs report these changes again. Raises SessionError if the
    research fails.
    """
    fresh = settings.with_(knowledge=False, cache_mb=0, clarify=False, approve=False)
    session = Session.start(question, settings=fresh)
    await asyncio.to_thread(write_atomically, session.folder / UNTOLD, b"")
    after = await session.result()
    if after.status == "failed":
        raise SessionError(
            "The research failed, so changes cannot be reported.",
            hint=f"To see why, run `spadework show {after.session_id}`.",
        )
    return await asyncio.to_thread(changes_between, settings.home, before or after, after)


def mark_told(home: Path, session_id: str) -> None:
    """Mark a session's changes as delivered."""
    (session_folder(home, session_id) / UNTOLD).unlink(missing_ok=True)
