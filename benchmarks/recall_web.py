"""The sites of `recall.py` as a small web on loopback, each at an address of its own, with a
SearXNG endpoint over a full-text index.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from urllib.parse import quote, unquote

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from spadework.tools.library.library import Library

#: Results of one page of an answer, as SearXNG merges them.
RESULTS = 18


class SmallWeb:
    """Sites by name, the n-th at 127.0.1.n; `index` finds pages in them."""

    def __init__(self, sites: list[Path], index: Library, port: int) -> None:
        self._sites = {f"127.0.1.{n}": site for n, site in enumerate(sites, 1)}
        self._host_of = {site.name: host for host, site in self._sites.items()}
        self._index, self._port = index, port

    async def search(self, request: Request) -> Response:
        """`GET /search?q=…&format=json`, the best pages by full text."""
        hits = await self._index.search(request.query_params["q"], limit=RESULTS)
        rows = [
            {
                "url": self._address(hit.url),
                "title": hit.title,
                "content": hit.snippet,
                "engine": "index",
            }
            for hit in hits
        ]
        return JSONResponse(
            {
                "query": request.query_params["q"],
                "number_of_results": 0,
                "results": rows,
                "unresponsive_engines": [],
            }
        )

    async def page(self, request: Request) -> Response:
        """A page of the site that lives at the asked address."""
        site = self._sites[str(request.url.hostname)]
        path = (site / unquote(request.path_params["path"])).resolve()
        return (
            FileResponse(path)
            if path.is_relative_to(site.resolve()) and path.is_file()
            else Response(status_code=404)
        )

    def _address(self, url: str) -> str:
        name, _, path = url.removeprefix("library://").partition("/")
        return f"http://{self._host_of[name]}:{self._port}/{quote(unquote(path))}"


@contextmanager
def small_web(sites: list[Path], home: Path, port: int) -> Iterator[dict[str, str]]:
    """Serve the sites while the block runs; gives the settings that search them through SearXNG."""
    opened = asyncio.run(Library.open(tuple(sites), home=home))
    world = SmallWeb(sites, opened, port)
    app = Starlette(routes=[Route("/search", world.search), Route("/{path:path}", world.page)])
    server = uvicorn.Server(uvicorn.Config(app, host="0.0.0.0", port=port, log_level="error"))
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    hosts = tuple(f"127.0.1.{n}" for n in range(1, len(sites) + 1))
    try:
        yield {
            "search": "searxng",
            "searxng_url": f"http://127.0.0.1:{port}",
            "allow_hosts": ",".join(hosts),
        }
    finally:
        server.should_exit = True
        thread.join()
