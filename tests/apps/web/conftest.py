"""A server over the test world, a browser, and pages that must stay free of errors."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from tests.apps.web.server import Server
from tests.world.brain import play
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TOPICS = {
    "Inhabitants": "Port Aldermere inhabitants",
    "Lighthouse": "Port Aldermere lighthouse first lit",
}
CLEAR = {"question": "", "options": []}


@pytest.fixture(scope="session")
def _server(
    _world: World, _searx: Searx, _model: Model, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    # Nothing that a test before has read is known: where the world hangs, a run must wait.
    anew = {"SPADEWORK_KNOWLEDGE": "false", "SPADEWORK_CACHE_MB": "0"}
    server = Server(
        {**_world.env, **_searx.env, **_model.env, **anew}, tmp_path_factory.mktemp("web") / "home"
    )
    yield server
    server.stop()


@pytest.fixture
def server(_server: Server, world: World, searx: Searx, model: Model) -> Server:
    """A server whose model plans two topics and asks nothing back."""
    shutil.rmtree(_server.home / "plans", ignore_errors=True)
    play(model, TOPICS)
    model.script("DoubtAnswer", CLEAR)
    return _server


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens pages in a browser of their own. What they say on the console, or throw, fails the
    test, unless `noisy`.
    """
    said: list[str] = []
    contexts = []

    def opened(url: str = "", *, noisy: bool = False, **options: object) -> Page:
        context = browser.new_context(**options)  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        if not noisy:
            page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        if url:
            page.goto(url)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert said == []
