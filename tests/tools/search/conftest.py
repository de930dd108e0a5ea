"""The search services of the tests, and an environment without keys for them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from spadework.tools.search.rate_limiter import RATE_LIMITERS
from tests.tools.search.services import Services
from tests.world.background import Background


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key for searching of the person who runs the tests."""
    for name in (
        "SERPER_API_KEY",
        "SERP_API_KEY",
        "TAVILY_API_KEY",
        "BRAVE_API_KEY",
        "OPENALEX_API_KEY",
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def _services(background: Background) -> Services:
    return Services(background)


@pytest.fixture
def services(_services: Services) -> Iterator[Services]:
    """The search services, with an empty log and no fault."""
    _services.reset()
    yield _services
    _services.reset()


@pytest.fixture(autouse=True)
def own_queues() -> Iterator[None]:
    """No provider is still throttled by the test before."""
    RATE_LIMITERS.clear()
    yield
    RATE_LIMITERS.clear()
