"""Handlers for HTML pages and report downloads."""

from __future__ import annotations

import asyncio

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from spadework.apps.commands.statistics import by, foreseen
from spadework.apps.outputs import ENDINGS
from spadework.apps.web.forms import whole_number
from spadework.apps.web.history import (
    folder_of,
    page_of,
    read_versions,
    related_questions,
    result_of,
    view_model_of,
)
from spadework.apps.web.page_context import Web, seen_of, web_of
from spadework.apps.web.page_templates import UNASKED, page, part
from spadework.apps.web.report_view import part_of
from spadework.errors import (
    DaySpent,
    SessionBusy,
    SessionNotFound,
    SessionUnreadable,
    SettingsError,
    SpadeworkError,
    Stopping,
)
from spadework.sessions.health import COSTS, probe
from spadework.sessions.library_index import from_library
from spadework.sessions.metrics.statistics import statistics
from spadework.tools.export.sheet import read_picture

MOST_LISTED = 200
#: Maximum characters taken from each URL parameter that prefills the form.
MOST = 2_000
MEDIA_TYPES = {
    ".md": "text/markdown; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".pdf": "application/pdf",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".json": "application/json",
    ".bib": "text/x-bibtex; charset=utf-8",
}

#: Example questions about the installed Python packages.
INSTALLED = (
    "What is LangGraph and how do I use it?",
    "How do I retry a failing HTTP request in Python?",
    "Compare httpx and requests",
    "What does pydantic do and when should I use it?",
)
WEB = (
    "What changed in the EU rules for batteries, and when do they apply?",
    "Compare PostgreSQL and SQLite for a small web application",
    "What do trials say about creatine and memory?",
    "How do I set up WireGuard between two Linux machines?",
)


async def start(request: Request) -> Response:
    """Show the question form, prefilled from `?question=` and `?follows=`."""
    question, follows = (request.query_params.get(n, "")[:MOST] for n in ("question", "follows"))
    return await start_page(request, question=question, follows=follows)


async def start_page(
    request: Request, status: int = 200, error: str = "", answer: str = "", **given: str
) -> Response:
    """Show the question form with the values given so far, and any error or answer."""
    await web_of(request).learn_models()
    return await page(
        request,
        "start.html",
        status,
        error=error,
        answer=answer,
        given=UNASKED | given,
        settings=web_of(request).settings,
        examples=await _examples(web_of(request)),
    )


async def _examples(web: Web) -> tuple[str, ...]:
    if web.settings.search not in ("auto", "library"):
        return WEB
    if not web.settings.library:
        return INSTALLED
    if not web.examples:
        web.examples = await from_library(web.settings, len(INSTALLED))
    return web.examples


async def session(request: Request) -> Response:
    """Show a session's page."""
    seen, session_id = seen_of(request), request.path_params["id"]
    web = seen.web
    await web.learn_models()
    picture, live = await view_model_of(web, session_id)
    run = web.runs.find_running(session_id)
    return await page(
        request,
        "session.html",
        id=session_id,
        picture=picture,
        live=live,
        before=await asyncio.to_thread(read_versions, web.settings.home, picture.follows),
        left=run.session.budget.seconds_left() if run else 0.0,
        settings=web.settings,
        seen=seen,
    )


async def related(request: Request) -> Response:
    """Return follow-up questions for a session's page."""
    session_id = request.path_params["id"]
    found = await related_questions(seen_of(request).web, session_id)
    return HTMLResponse(part("_related.html", id=session_id, related=found))


async def snapshot(request: Request) -> Response:
    """Show a stored page with its quotes marked."""
    web, session_id = seen_of(request).web, request.path_params["id"]
    text, evidence = await page_of(web, session_id, request.path_params["hash"])
    number = whole_number(request.query_params.get("part", ""), 1)
    current = request.query_params.get("e", "")
    plain = "plain" in request.query_params
    shown = await asyncio.to_thread(part_of, text, evidence, number, current, plain=plain)
    picture, _ = await view_model_of(web, session_id)
    sources = picture.result.sources if picture.result else ()
    source = next((s for s in sources if s.content_hash == request.path_params["hash"]), None)
    return await page(
        request,
        "snapshot.html",
        id=session_id,
        hash=request.path_params["hash"],
        question=picture.question,
        shown=shown,
        evidence=evidence,
        wanted=current,
        plain=plain,
        source=source,
        chars=len(text),
    )


async def picture(request: Request) -> Response:
    """Return a picture from a report."""
    folder = await folder_of(seen_of(request).web, request.path_params["id"])
    kept = await asyncio.to_thread(read_picture, folder, request.path_params["name"])
    if kept is None:
        raise HTTPException(404, "This session has no such picture.")
    headers = {"Cache-Control": "private, max-age=3600"}
    return Response(kept[0], media_type=f"image/{kept[1].format}", headers=headers)


async def export(request: Request) -> Response:
    """Return the report as a file."""
    ending = f".{request.path_params['ending']}"
    if ending not in ENDINGS:
        raise HTTPException(404, f"A report can be downloaded as {', '.join(ENDINGS)}.")
    session_id = request.path_params["id"]
    result = await result_of(seen_of(request).web, session_id)
    body = await asyncio.to_thread(ENDINGS[ending], result)
    named = f'attachment; filename="spadework-{session_id}{ending}"'
    headers = {"Content-Disposition": named, "Cache-Control": "no-store"}
    return Response(body, media_type=MEDIA_TYPES[ending], headers=headers)


async def statistics_page(request: Request) -> Response:
    """Show statistics on what the sessions found and cost."""
    found = await asyncio.to_thread(statistics, web_of(request).settings.home)
    return await page(
        request, "statistics.html", found=found, by=by, foreseen=foreseen, most_listed=MOST_LISTED
    )


async def settings_check(request: Request) -> Response:
    """Show the settings-check page, which loads its findings afterwards."""
    return await page(request, "settings.html", settings=web_of(request).settings, costs=COSTS)


async def settings_findings(request: Request) -> Response:
    """Run the settings check and return its findings. Requests from other sites are refused."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise HTTPException(403, "This request comes from another site and was refused.")
    return HTMLResponse(
        part("_findings.html", findings=await probe(web_of(request).settings)),
        headers={"Cache-Control": "no-store"},
    )


async def refuse_request(request: Request, error: Exception) -> Response:
    """Show an error page with a message and a hint."""
    if isinstance(error, HTTPException):
        status, said, hint = error.status_code, error.detail, ""
    elif isinstance(error, SpadeworkError):
        status, said, hint = status_of(error), str(error), error.hint
    else:
        raise error
    if status == 404 and isinstance(error, (SessionNotFound, HTTPException)):
        hint = "The history lists the sessions stored here."
    return await page(request, "error.html", status, code=status, said=said, hint=hint)


_STATUS: tuple[tuple[type[SpadeworkError], int], ...] = (
    (DaySpent, 429),
    (Stopping, 503),
    (SessionNotFound, 404),
    (SessionBusy, 409),
    (SettingsError, 422),
    (SessionUnreadable, 500),
)


def status_of(error: SpadeworkError) -> int:
    """Return the HTTP status for an error."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 502)
