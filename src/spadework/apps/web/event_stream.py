"""Stream a session's events in order, as server-sent events."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from spadework.apps.exit import with_pauses
from spadework.apps.view_model import ViewModel
from spadework.apps.web.forms import csrf_cookie, csrf_token, whole_number
from spadework.apps.web.history import known_session, read_versions
from spadework.apps.web.page_context import Seen, seen_of
from spadework.apps.web.page_templates import changes
from spadework.events import Event, Notice, Started

#: Seconds of silence before an SSE comment is sent to keep the connection alive.
HEARTBEAT_SECONDS = 15.0
#: Maximum event streams per browser. A browser opens at most six connections to a server, so some
#: are left for other requests.
MOST_STREAMS = 4
TURN_SECONDS = 1.0
#: Maximum streams per server. Clients beyond this limit must retry later.
MOST_IN_ALL = 500

_LINE_END = re.compile(r"\r\n|\r|\n")


async def events(request: Request) -> Response:
    """Stream the events after `Last-Event-ID` or `?after=`, then a `done` event."""
    seen = seen_of(request)
    web = seen.web
    session_id = await known_session(web, request.path_params["id"])
    if web.streams.total() >= MOST_IN_ALL:
        return Response(status_code=503, headers={"Retry-After": "5"})
    named = request.headers.get("last-event-id") or request.query_params.get("after", "")
    after = whole_number(named, 0)
    await web.learn_models()  # the form below the report lists the models
    stream = _Stream(seen, session_id, request.cookies.get(csrf_cookie(request), ""))
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(
        stream.messages(after, csrf_token(request)), media_type="text/event-stream", headers=headers
    )


class _Stream:
    def __init__(self, seen: Seen, session_id: str, browser: str) -> None:
        self._seen = seen
        self._web = seen.web
        self._id = session_id
        self._browser = browser
        self._before = list[tuple[str, str, str]]()

    async def messages(self, after: int, csrf: str) -> AsyncGenerator[str, None]:
        streams, picture = self._web.streams, ViewModel()
        streams[self._browser] += 1
        began = news = time.monotonic()
        try:
            yield ": here\n\n"
            async with (
                aclosing(self._web.runs.watch(self._id)) as events,
                aclosing(with_pauses(events, TURN_SECONDS)) as beats,
            ):
                async for beat in beats:
                    now = time.monotonic()
                    crowded = self._browser != "" and streams[self._browser] > MOST_STREAMS
                    if self._web.closing.is_set() or (crowded and now - began >= TURN_SECONDS):
                        return
                    if beat is None:
                        if now - news >= HEARTBEAT_SECONDS:
                            news = now
                            yield ": still here\n\n"
                        continue
                    news = now
                    if isinstance(beat[1], Started) and (follows := beat[1].follows):
                        home = self._web.settings.home
                        self._before = await asyncio.to_thread(read_versions, home, follows)
                    if (text := self._message(picture, beat, after, csrf)) is not None:
                        yield text
            if not self._web.closing.is_set():
                yield "event: done\ndata: over\n\n"
        finally:
            streams[self._browser] -= 1
            streams += type(streams)()

    def _message(
        self, picture: ViewModel, beat: tuple[int, Event], after: int, csrf: str
    ) -> str | None:
        n, event = beat
        if n == picture.n and isinstance(event, Notice):
            picture.note = event.text
            return _message(self._draw(picture, {"status"}, csrf)) if n >= after else None
        picture.n = n
        changed = picture.take(event)
        return _message(self._draw(picture, changed, csrf), n) if n > after else None

    def _draw(self, picture: ViewModel, changed: set[str], csrf: str) -> str:
        run = self._web.runs.find_running(self._id)
        return changes(
            picture,
            changed,
            id=self._id,
            csrf=csrf,
            before=self._before,
            left=run.session.budget.seconds_left() if run else 0.0,
            settings=self._web.settings,
            models=self._web.models,
            seen=self._seen,
        )


def _message(html: str, number: int | None = None) -> str:
    lines = "".join(f"data: {line}\n" for line in _LINE_END.split(html))
    return f"{lines}\n" if number is None else f"id: {number}\n{lines}\n"
