"""The headers we send: honest first, browser-like when turned away."""

from __future__ import annotations

from urllib.parse import urljoin

import httpx

from spadework.tools.fetch.unpack import ACCEPT_ENCODING

_HONEST = {
    "Accept": "text/html,application/xhtml+xml,application/pdf;q=0.9,text/*;q=0.8,*/*;q=0.5",
    "Accept-Language": "en,*;q=0.5",
    "Accept-Encoding": ACCEPT_ENCODING,
}
_BROWSER = {
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)"
    " Chrome/142.0.0.0 Safari/537.36",
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;"
    "q=0.8",
    "Accept-Language": "en-US,en;q=0.9",
    "Upgrade-Insecure-Requests": "1",
    "Sec-Fetch-Dest": "document",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-Site": "same-origin",
}


def for_level(
    level: int, url: str, user_agent: str, cookies: httpx.Cookies | None = None
) -> dict[str, str]:
    """Headers at level 0 (plain) or 1 (a browser that comes from the site's front page)."""
    headers = {"User-Agent": user_agent} | _HONEST
    if level > 0:
        headers |= _BROWSER | {"Referer": urljoin(url, "/")}
    return headers | _cookie(url, cookies) if cookies else headers


def _cookie(url: str, cookies: httpx.Cookies) -> dict[str, str]:
    """The header that brings cookies back, unless they are not ASCII, as headers must be."""
    request = httpx.Request("GET", url)
    try:
        cookies.set_cookie_header(request)
    except UnicodeEncodeError:
        return {}
    return {"Cookie": request.headers["cookie"]} if "cookie" in request.headers else {}
