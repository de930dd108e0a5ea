"""Render pages and parts of pages."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any
from zlib import crc32

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse

from spadework.apps.messages import number_of
from spadework.apps.view_model import ViewModel, foretold, took_beside
from spadework.apps.web.forms import UPLOAD_BYTES, UPLOAD_FILES, csrf_cookie, csrf_token
from spadework.apps.web.history import history_of, words_of
from spadework.apps.web.page_context import web_of
from spadework.apps.web.report_view import draft_html, show_report, web_link
from spadework.apps.web.security import refusal, user_of
from spadework.sessions.health import NO_MODEL
from spadework.settings import Settings
from spadework.tools.export.html_report import DRAWN_IN, split_last_word
from spadework.tools.export.sheet import chart_of, words
from spadework.tools.search.provider_choice import PROVIDERS
from spadework.tools.web.urls import domain_of, host_of
from spadework.values import Result, models_among

_CODE = re.compile(r"`([^`\n]+)`")
_MENU = (("/statistics", "Statistics"), ("/settings", "Settings check"))
THEME_COOKIE = "spadework_theme"
RETRY_SECONDS = "10"
UNASKED = dict.fromkeys(
    ("question", "minutes", "model", "effort", "search", "search_kinds", "unseen", "follows"), ""
)


async def page(request: Request, name: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Render a whole page, including the session list."""
    web, user = web_of(request), user_of(request.scope)
    around = {
        "history": await history_of(web),
        "nav": [item for item in _MENU if not refusal(user, "GET", item[0])],
        "user": web.user,
        "may_ask": user.may("ask"),
        "may_check": user.may("admin"),
        "path": request.url.path,
        "theme": request.cookies.get(THEME_COOKIE, ""),
        "csrf": csrf_token(request),
        "current": request.path_params.get("id", ""),
        "models": web.models,
    }
    html = await asyncio.to_thread(part, name, **around | values)
    response = HTMLResponse(html, status, {"Cache-Control": "no-store"})
    if status == 503:
        response.headers["Retry-After"] = RETRY_SECONDS
    if request.cookies.get(csrf_cookie(request)) != csrf_token(request):
        name, token = csrf_cookie(request), csrf_token(request)
        secure = request.url.scheme == "https"
        response.set_cookie(name, token, httponly=True, samesite="strict", secure=secure)
    return response


def part(name: str, **values: Any) -> str:
    """Render a part of a page."""
    return environment().get_template(name).render(**values)


def changes(picture: ViewModel, changed: Iterable[str], **values: Any) -> str:
    """Render the parts of a session's page that changed, for htmx to replace."""
    return part("_changes.html", picture=picture, changed=sorted(changed), **values)


def searches(settings: Settings) -> list[tuple[str, str]]:
    """Return the options for where to search as (setting, label) pairs, the default first."""
    known = [name for name, provider in PROVIDERS.items() if not provider.lacks_setting(settings)]
    names = {"auto": "Automatic: whatever is available", "library": "Only the library"}
    names |= {name: name for name in known}
    first = f"Server default: {settings.search}" if settings.search != "auto" else names.pop("auto")
    return [("", first), *names.items()]


def describe_searched(settings: Settings, chosen: str = "") -> str:
    """Describe where a run searches. `chosen` is the search setting from the form, or ""."""
    named = chosen or settings.search
    found = named.split(",")
    if named == "auto":
        found = [name for name, known in PROVIDERS.items() if known.configured(settings)]
        found += ["library"] * bool(settings.library)
    if not found:
        return "the web if it can be reached, otherwise the documentation installed here"
    library = " and ".join(path.name for path in settings.library)
    named = f"the library {library}" if library else "the documentation installed here"
    return ", ".join(named if name == "library" else name for name in found)


def describe_writers(result: Result) -> str:
    """Name the models that wrote the report."""
    wrote = models_among(cited.maker for cited in result.citations)
    return f"written by {', '.join(wrote)}" if wrote else "quotes only, no model"


def mark_code(text: str) -> Markup:
    """Escape text as HTML, and turn spans in backticks into `<code>` elements."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Return the template environment."""
    made = Environment(
        loader=FileSystemLoader([Path(__file__).parent / "templates", DRAWN_IN]),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {
        "words": words,
        "chart": chart_of,
        "coded": mark_code,
        "ending": split_last_word,
        "host": host_of,
        "domain": domain_of,
        "hue": lambda domain: crc32(domain.encode()) % 12 * 30,
        "weblink": web_link,
        "foretold": foretold,
        "beside": took_beside,
        "took": lambda seconds: number_of(round(seconds), "second"),
        "writers": describe_writers,
        "left_words": lambda seconds: f"{int(seconds) // 60}:{int(seconds) % 60:02} left",
    }
    made.globals |= {
        "shown": show_report,
        "words_of": words_of,
        "searches": searches,
        "searched": describe_searched,
        "unasked": UNASKED,
        "no_model": NO_MODEL,
        "upload_files": UPLOAD_FILES,
        "upload_bytes": UPLOAD_BYTES,
        "draft": lambda markdown: Markup(draft_html(markdown)),
    }
    return made
