"""A small internet on loopback: sites with addresses of their own, everything they are asked noted,
their behaviour changed at run time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.world import broken, document, odd
from tests.world.background import Background, listen
from tests.world.document import Document
from tests.world.reception import asked, attend
from tests.world.record import Asked
from tests.world.waits import Silence

#: Every site has a host of its own. `private` is a server nobody may visit: it is not among
#: `World.hosts`.
SITES = {
    "encyclopedia": "127.0.1.1",
    "docs": "127.0.1.2",
    "news": "127.0.1.3",
    "mirror": "127.0.1.4",
    "blog": "127.0.1.5",
    "forum": "127.0.1.6",
    "archive": "127.0.1.7",
    "odd": "127.0.1.8",
    "broken": "127.0.1.9",
    "private": "127.0.2.1",
}


class World:
    """All sites. Switches: `delay` (seconds before every page), `hang_everything`, `hanging` (the
    sites that do), `fail_everything` (a status for every page).

    `requests` is the log, in the order of arrival; `reset` empties it and undoes every change.
    """

    def __init__(self, background: Background) -> None:
        sockets = {site: listen(host) for site, host in SITES.items()}
        self.bases = {
            site: "http://{}:{}".format(*sock.getsockname()) for site, sock in sockets.items()
        }
        self._sites = {host: site for site, host in SITES.items()}
        self._files = {(file.site, file.path): file for file in document.load(self.bases)}
        self.reset()
        background.converse(broken.site(self._note), sockets.pop("broken"))
        background.serve(self, list(sockets.values()))

    def reset(self) -> None:
        """An empty log, the pages as they are on disk, every switch off."""
        self.requests: list[Asked] = []
        self.delay = 0.0
        self.hang_everything = False
        self.hanging: set[str] = set()
        self.fail_everything: int | None = None
        self._put: dict[tuple[str, str], Document] = {}

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts of all sites but the private one."""
        return tuple(host for site, host in SITES.items() if site != "private")

    @property
    def env(self) -> dict[str, str]:
        """The environment in which spadework may visit the world."""
        return {"SPADEWORK_ALLOW_HOSTS": ",".join(self.hosts)}

    @property
    def documents(self) -> list[Document]:
        """What a search engine could index, as it is now."""
        shown = (self._files | self._put).values()
        return [
            found
            for found in shown
            if found.text and found.site != "private" and not found.path.startswith("/internal/")
        ]

    def url(self, site: str, path: str = "/") -> str:
        """The address of a page."""
        return self.bases[site] + path

    def asked(self, site: str, path: str | None = None) -> list[Asked]:
        """The requests to a site, or to one of its pages."""
        return [
            record
            for record in self.requests
            if record.site == site and path in (None, record.path)
        ]

    def put(
        self,
        site: str,
        path: str,
        text: str | bytes,
        media_type: str = "text/html",
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> str:
        """Publish or change a page until the next reset; the search engine knows it, unless it is
        bytes. Returns its URL.
        """
        made = (
            document.from_text(site, path, text, media_type)
            if isinstance(text, str)
            else Document(site, path, text, media_type)
        )
        changes = {"status": status, "headers": headers or {}}
        self._put[site, path] = Document(**{**vars(made), **changes})
        return self.url(site, path)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        record = asked(self._sites[scope["server"][0]], scope)
        self._note(record)
        scope["state"] = {
            "times": sum(
                other.query == record.query for other in self.asked(record.site, record.path)
            )
        }
        await attend(record, self._answer, (scope, receive, send))

    async def _answer(self, record: Asked) -> ASGIApp:
        await asyncio.sleep(self.delay)
        if self.hang_everything or record.site in self.hanging:
            return Silence()
        if self.fail_everything:
            return HTMLResponse(
                f"<title>Error {self.fail_everything}</title>", self.fail_everything
            )
        found = self._found(record.site, record.path)
        if found:
            return Response(
                found.body, found.status, {"content-type": found.media_type} | dict(found.headers)
            )
        return (
            odd.site
            if record.site == "odd"
            else HTMLResponse("<title>Not found</title><h1>Not found</h1>", 404)
        )

    def _found(self, site: str, path: str) -> Document | None:
        """The document at this place; a slash at the end makes no difference."""
        places = [(site, path), (site, path.rstrip("/"))]
        return next(
            (
                known[place]
                for known in (self._put, self._files)
                for place in places
                if place in known
            ),
            None,
        )

    def _note(self, record: Asked) -> None:
        self.requests.append(record)
