"""Form actions, such as asking, answering and cancelling."""

from __future__ import annotations

import asyncio
import shutil

from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from spadework.apps.web.forms import form_of, save_uploads, text_of, whole_number
from spadework.apps.web.history import known_session
from spadework.apps.web.page_context import Web, web_of
from spadework.apps.web.page_templates import UNASKED, part
from spadework.apps.web.pages import start_page, status_of
from spadework.backend import backend_of
from spadework.errors import DaySpent, SessionBusy, SettingsError, Stopping
from spadework.sessions import quotas
from spadework.sessions.one_call import receive
from spadework.sessions.record.records import delete_session
from spadework.sessions.runs import Run
from spadework.sessions.session import Session

#: Maximum characters in a question. Longer text belongs in a file.
MOST_QUESTION = 20_000


async def ask(request: Request) -> Response:
    """Start a session and redirect to its page."""
    web = web_of(request)
    form = await form_of(request)
    try:
        if answered := await _at_once(web, form):
            return await start_page(request, answer=answered, follows=text_of(form, "follows"))
        await quotas.accept(web.settings)
        session = await _session(web, form)
    except (SettingsError, DaySpent, Stopping) as error:
        given = {name: text_of(form, name) for name in UNASKED}
        return await start_page(request, status_of(error), f"{error} {error.hint}".strip(), **given)
    except HTTPException as error:
        question = text_of(form, "question")
        return await start_page(request, error.status_code, error.detail, question=question)
    finally:
        await form.close()
    web.runs.start(session)
    return RedirectResponse(f"/s/{session.session_id}", 303)


async def _at_once(web: Web, form: FormData) -> str:
    given = any(isinstance(each, UploadFile) and each.filename for _, each in form.multi_items())
    said = text_of(form, "question")
    if given or not said or len(said) > MOST_QUESTION:
        return ""
    return (await receive(said, web.settings)).answer


async def _session(web: Web, form: FormData) -> Session:
    question = text_of(form, "question")
    if len(question) > MOST_QUESTION:
        raise SettingsError(
            f"The question is longer than {MOST_QUESTION:,} characters. Put the rest into a"
            f" file and attach it."
        )
    names = "minutes", "effort", "search", "search_kinds"
    wishes = {name: text_of(form, name) or None for name in names}
    if model := text_of(form, "model"):
        if not await web.offers(model):
            raise SettingsError(f"The model {model[:80]} is not available here. Choose another.")
        wishes |= {"model": model, "writer_model": model}
    follows = text_of(form, "follows")
    await backend_of(web.settings).find(web.settings, follows)
    settings = web.settings.with_(clarify=True, approve=not text_of(form, "unseen"), **wishes)
    session = Session.start(question, settings=settings, follows=follows)
    try:
        session.attach(await save_uploads(form, session.folder / "attachments", web.settings))
    except HTTPException:
        await asyncio.to_thread(shutil.rmtree, session.folder, ignore_errors=True)
        raise
    return session


async def answer(request: Request) -> Response:
    """Answer the run's question with text, an option or topics."""
    form = await form_of(request)
    run = _find_run(request)
    asked = run.open_question
    if asked is None:
        raise HTTPException(409, "This session is no longer waiting for an answer.")
    if asked.kind == "clarify":
        run.session.answer(text_of(form, "option") or text_of(form, "answer"))
    else:
        # Topics are sent one per line, so remove line breaks within their names.
        given = (" ".join(str(name).split()) for name in form.getlist("topic"))
        topics = [name for name in given if name]
        planned = [topic.name for topic in asked.plan.topics] if asked.plan else []
        # The bullet keeps a topic named "Go" from being read as approval.
        listed = "\n".join(f"- {name}" for name in topics)
        run.session.answer("" if topics == planned else listed)
    return _redirect_back(request)


async def edit_plan(request: Request) -> Response:
    """Apply `change` to the form's topics (counted from 0): `up 2`, `down 2`, `remove 2`, `add`."""
    form = await form_of(request)
    names = [str(name) for name in form.getlist("topic")]
    what, _, place = request.query_params.get("change", "").partition(" ")
    n = whole_number(place, len(names))
    if what == "add":
        names.append("")
    elif what == "remove":
        del names[n : n + 1]
    elif what in ("up", "down") and n < len(names):
        other = n - 1 if what == "up" else n + 1
        if 0 <= other < len(names):
            names[n], names[other] = names[other], names[n]
    focus = len(names) - 1 if what == "add" else -1
    shown = part("_topics_edited.html", id=request.path_params["id"], names=names, focus=focus)
    return HTMLResponse(shown)


async def stop(request: Request) -> Response:
    """Stop searching and write the report from the evidence so far."""
    await form_of(request)
    _find_run(request).session.stop()
    if "hx-request" in request.headers:
        return HTMLResponse(part("_stopping.html"))
    return _redirect_back(request)


async def cancel(request: Request) -> Response:
    """End the run without a report. It can be resumed."""
    web = web_of(request)
    await form_of(request)
    _find_run(request)
    await web.runs.cancel(request.path_params["id"])
    return _redirect_back(request)


async def resume(request: Request) -> Response:
    """Continue an interrupted session."""
    web = web_of(request)
    await form_of(request)
    session_id = await known_session(web, request.path_params["id"])
    if web.runs.find_running(session_id) is None:
        quotas.check_open()
        web.runs.start(await asyncio.to_thread(Session.resume, session_id, home=web.settings.home))
    return _redirect_back(request)


async def delete(request: Request) -> Response:
    """Delete a session and all its files."""
    web = web_of(request)
    await form_of(request)
    session_id = await known_session(web, request.path_params["id"])
    if web.runs.find_running(session_id) is not None:
        raise SessionBusy("This session is still running.", hint="Cancel the run first.")
    await asyncio.to_thread(delete_session, web.settings.home, session_id)
    await backend_of(web.settings).forget(web.settings, session_id)
    return RedirectResponse("/", 303)


def _find_run(request: Request) -> Run:
    run = web_of(request).runs.find_running(request.path_params["id"])
    if run is None or run.over:
        raise HTTPException(409, "This session is no longer running.")
    return run


def _redirect_back(request: Request) -> Response:
    if "hx-request" in request.headers:
        return Response(status_code=204)
    return RedirectResponse(f"/s/{request.path_params['id']}", 303)
