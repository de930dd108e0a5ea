"""A machine on which everything works, until a test breaks it."""

from __future__ import annotations

import asyncio
import html
import re
import socket
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import httpx
import pytest

from spadework.apps.web.app import build_app
from spadework.graph.pages import provider_search
from spadework.sessions.health import check as nearby, service_checks
from spadework.settings import Settings
from spadework.tools.search.provider import Provider
from spadework.tools.search.provider_choice import PROVIDERS, Spec
from spadework.tools.search.rate_limiter import RATE_LIMITERS
from spadework.values import Result
from tests.apps.process import Terminal
from tests.tools.search.services import KEY, Services
from tests.tools.search.test_providers import MAKE
from tests.world.background import Background
from tests.world.brain import play
from tests.world.embedding import Embeddings
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

QUESTION = "What is known about Port Aldermere?"
#: Where nobody listens: the port was free a moment ago, and a server of the tests takes another.
with socket.socket() as _free:
    _free.bind(("127.0.1.29", 0))
    NOBODY = "http://{}:{}".format(*_free.getsockname())
_TAG = re.compile(r"<[^>]*>")


class Machine:
    """spadework in a world whose parts can be broken. `env` is what the settings are made of."""

    def __init__(self, env: dict[str, str], folder: Path) -> None:
        self.env = env
        self.folder = folder
        self.home = folder / "home"

    def doctor(self) -> tuple[int, str]:
        """Exit code and output of `doctor`."""
        RATE_LIMITERS.clear()  # each is a process of its own, where people use it
        code, out, err = Terminal(self.env, self.folder).run("doctor")
        assert "Traceback" not in out + err
        return code, out

    def page(self, headers: dict[str, str] | None = None, status: int = 200) -> str:
        """The words of the settings check on the web page."""
        RATE_LIMITERS.clear()

        async def asked() -> str:
            with pytest.MonkeyPatch.context() as patch:
                for name, value in self.env.items():
                    patch.setenv(name, value)
                app = build_app(Settings.load())
            base = "http://127.0.0.1"
            async with httpx.AsyncClient(
                transport=httpx.ASGITransport(app), base_url=base, timeout=20
            ) as client:
                answer = await client.get("/settings/findings", headers=headers)
            assert answer.status_code == status
            return " ".join(html.unescape(_TAG.sub(" ", answer.text)).split())

        return asyncio.run(asked())

    def run(self) -> tuple[int, Result | None, str]:
        """Exit code, result and messages of a run."""
        RATE_LIMITERS.clear()
        code, out, err = Terminal(self.env, self.folder).run("ask", QUESTION, "--json")
        assert "Traceback" not in out + err
        return code, Result.model_validate_json(out) if out else None, err


def hurry(patch: pytest.MonkeyPatch, health: float, search: float = 5) -> None:
    """Wait only so long for what a check tries, and for a search of a run."""
    for module in (nearby, service_checks):
        patch.setattr(module, "HEALTH_SECONDS", health)
    patch.setattr(provider_search, "SEARCH_SECONDS", search)


@pytest.fixture(autouse=True)
def nobody_nearby(monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs on the machine of the tests is none of theirs."""
    monkeypatch.setattr(nearby, "MODEL_PORTS", {})
    monkeypatch.setattr(nearby, "SEARXNG_PORTS", ())


@pytest.fixture(scope="session")
def _services(background: Background) -> Services:
    return Services(background)


def _made(make: Callable[[str], Provider], url: str, settings: Settings) -> Provider:
    return make(url)


@pytest.fixture
def services(_services: Services, monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    """The search services, in the place of the real ones, without fault."""
    _services.reset()
    RATE_LIMITERS.clear()
    for name, make in MAKE.items():
        known = PROVIDERS[name]
        made = Spec(partial(_made, make, _services.url(name)), known.setting)
        monkeypatch.setitem(PROVIDERS, name, made)
    yield _services
    _services.reset()
    RATE_LIMITERS.clear()


@pytest.fixture
def machine(
    world: World, searx: Searx, model: Model, embeddings: Embeddings, tmp_path: Path
) -> Machine:
    """SearXNG, a model and embeddings, all of which answer at once."""
    play(model, {"Inhabitants": "Port Aldermere inhabitants"})
    model.script("Answer with one word", "OK")
    searx.script("water", [world.url("encyclopedia", "/wiki/Port_Aldermere")])
    settings = {
        "SEARCH": "searxng",
        "KNOWLEDGE": "false",
        "EFFORT": "quick",
        "ITERATIONS": "1",
        "MAX_LEVEL": "0",
        "MINUTES": "0.5",
        "HOME": str(tmp_path / "home"),
    }
    own = {f"SPADEWORK_{name}": value for name, value in settings.items()}
    return Machine({**world.env, **searx.env, **model.env, **own}, tmp_path)


__all__ = ["KEY", "NOBODY", "QUESTION", "Machine", "hurry"]
