"""What every test has: an environment without anybody's keys, and the test world with its search
engine and model.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

from spadework.agents.llm.limits import GATES
from spadework.tools.fetch.hosts import TURNS
from spadework.tools.web.chromium import HOW_TO_INSTALL, installed_chromium
from tests.world.background import Background
from tests.world.embedding import Embeddings
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.world.qdrant import Qdrant

# How long an example takes says more about the machine than about the code; the time limit of a
# test stands in pyproject.toml. The same code is tried with the same examples, so that a change is
# judged by itself; `make test-full` searches at random, and for longer.
hypothesis.settings.register_profile("spadework", deadline=None, derandomize=True)
hypothesis.settings.register_profile(
    "search",
    deadline=None,
    max_examples=500,
    print_blob=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("spadework")

_FOREIGN = (
    "OPENAI_",
    "SPADEWORK_",
    "LANGSMITH",
    "LANGCHAIN",
    "SEARXNG_URL",
    "SERP",
    "TAVILY_",
    "BRAVE_",
    "OPENALEX_",
    "QDRANT_",
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_", "REQUESTS_CA_BUNDLE"),
)


if os.environ.get("LOOP") == "uvloop":
    import uvloop  # LangGraph's server runs on it; it is not for Windows

    def pytest_asyncio_loop_factories() -> dict[str, object]:
        return {"uvloop": uvloop.new_event_loop}


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No key, address or setting of the person who runs the tests, and a home that is empty."""
    for name in [name for name in os.environ if name.upper().startswith(_FOREIGN)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SPADEWORK_HOME", str(tmp_path / "home"))
    # What one test taught a server's gate, and who had a turn at a site, is nothing to the next.
    GATES.clear()
    TURNS.clear()


@pytest.fixture(scope="session")
def background() -> Iterator[Background]:
    """The thread in which all servers of the world run."""
    with Background() as running:
        yield running


@pytest.fixture(scope="session")
def _world(background: Background) -> World:
    return World(background)


@pytest.fixture
def world(_world: World) -> Iterator[World]:
    """The sites, with an empty log and every switch off."""
    _world.reset()
    yield _world
    _world.reset()


@pytest.fixture(scope="session")
def _searx(background: Background, _world: World) -> Searx:
    return Searx(background, _world)


@pytest.fixture
def searx(_searx: Searx, world: World) -> Iterator[Searx]:
    """The search engine of the world, with an empty log, no faults and no scripts."""
    _searx.reset()
    yield _searx
    _searx.reset()


@pytest.fixture(scope="session")
def _model(background: Background) -> Model:
    return Model(background)


@pytest.fixture
def model(_model: Model) -> Iterator[Model]:
    """The scripted model, with an empty log and nothing scripted. An error in a test's own function
    fails the test.
    """
    _model.reset()
    yield _model
    errors = _model.errors
    _model.reset()
    if errors:
        raise ExceptionGroup("a scripted answer failed", errors)


@pytest.fixture(scope="session")
def _embeddings(background: Background) -> Embeddings:
    return Embeddings(background)


@pytest.fixture
def embeddings(_embeddings: Embeddings) -> Embeddings:
    """The server of embeddings, with an empty log and no fault."""
    _embeddings.reset()
    return _embeddings


@pytest.fixture(scope="session")
def _qdrant(background: Background) -> Qdrant:
    from tests.world.qdrant import Qdrant  # a library that most tests do not need

    return Qdrant(background)


@pytest.fixture
def qdrant(_qdrant: Qdrant) -> Iterator[Qdrant]:
    """The Qdrant server of the world, without any collection or fault."""
    _qdrant.reset()
    yield _qdrant
    _qdrant.reset()


def pytest_make_parametrize_id(val: object) -> str | None:
    """Long bytes are no name for a test, and those of an archive hold the time, which differs
    between workers.
    """
    return f"{len(val) // 100}00-bytes" if isinstance(val, bytes) and len(val) > 20 else None


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The Chromium of this machine. It is no Python package, so without one the test is skipped."""
    sync = pytest.importorskip("playwright.sync_api", reason="the extra `browser` is not installed")
    if not (path := installed_chromium()):
        pytest.skip(f"no Chromium is installed: {HOW_TO_INSTALL}")
    with sync.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=path)
        yield running
        running.close()
