"""The list of sessions is the same on every machine, also after one has ended or was deleted
elsewhere; what was deleted leaves every disk.
"""

from __future__ import annotations

import asyncio

import pytest

from spadework.errors import SessionNotFound
from spadework.machines.session_lookup import find, forget, know_all
from spadework.machines.shared_limits import shared_sessions
from spadework.machines.worker import tidy
from spadework.sessions.metrics.session_index import METADATA
from spadework.sessions.session import Session
from spadework.sessions.storage.files import session_folder
from spadework.sessions.storage.session_list import list_sessions
from spadework.sessions.users import People
from spadework.settings import Settings
from tests.machines.test_shared_sessions import QUESTION, eventually, machine, settings, worker
from tests.world.sites import World

__all__ = ["machine", "settings"]
pytestmark = pytest.mark.machines


async def test_a_session_that_was_listed_while_it_ran_is_listed_with_its_end(
    settings: Settings, machine: Settings, world: World
) -> None:
    third = settings.with_(home=settings.home / "third")
    session = Session.start(QUESTION, settings=settings)
    world.hang_everything = True
    async with worker(machine):

        async def listed() -> bool:
            return session.session_id in await know_all(third)

        running = asyncio.create_task(session.result())
        await eventually(listed)
        assert [one.status for one in list_sessions(third.home)] == [""]
        session.stop()
        result = await running

        async def ended() -> bool:
            return not await know_all(third)

        await eventually(ended)  # the result comes before the worker has closed the session
    assert [one.status for one in list_sessions(third.home)] == [result.status] != [""]


async def test_a_session_that_is_deleted_on_one_machine_is_gone_on_all(
    settings: Settings, machine: Settings
) -> None:
    people = People(settings)
    anna = people.settings_of("anna")
    third = settings.with_(home=settings.home / "third")
    hers = People(third).settings_of("anna")
    mine, other = (Session.start(QUESTION, settings=one) for one in (settings, anna))
    async with worker(machine):
        await mine.result()
        await other.result()
    for at in (third, hers):
        await know_all(at)
        await find(at, (mine if at is third else other).session_id)
    await forget(settings, other.session_id)  # another's: nothing is done
    await forget(settings, mine.session_id)
    for at in (settings, third):
        await know_all(at)
        assert list(list_sessions(at.home)) == []
    for at in (anna, hers):
        await know_all(at)
        assert [one.id for one in list_sessions(at.home)] == [other.session_id]
    await forget(anna, other.session_id)
    assert not await find(hers, other.session_id)
    with pytest.raises(SessionNotFound):
        session_folder(hers.home, other.session_id)
    kept = list(machine.home.rglob(METADATA))
    assert len(kept) == 2, "the worker still has its copies"
    async with shared_sessions(machine) as shared:
        await tidy(shared, machine)
    assert not list(machine.home.rglob(METADATA))
