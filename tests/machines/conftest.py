"""A PostgreSQL server for the tests of a process, and a database of its own for each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.world.postgres import Postgres, program

collect_ignore_glob = [] if program("initdb") else ["test_*.py"]


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    with Postgres() as running:
        yield running


@pytest.fixture
def database(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty database, which the settings name."""
    address = postgres.database()
    monkeypatch.setenv("SPADEWORK_DATABASE_URL", address)
    return address
