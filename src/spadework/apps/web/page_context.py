"""What all parts of the page share: the settings, the runs of this server, and whether it is
closing.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field

from starlette.requests import Request

from spadework.apps.web.security import Access
from spadework.sessions.runs import Runs
from spadework.settings import Settings


@dataclass
class Web:
    """One server. `streams` counts the open event streams of each browser; `nav` are the pages that
    the menu names, as (path, label); `examples` are questions that its library answers.
    """

    settings: Settings
    access: Access
    runs: Runs
    nav: list[tuple[str, str]] = field(default_factory=list)
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    streams: Counter[str] = field(default_factory=Counter)
    examples: tuple[str, ...] = ()


def web_of(request: Request) -> Web:
    """The server that a request came to."""
    web: Web = request.app.state.web
    return web
