"""What is one user's in the database reaches no other user of a server, nor the server's owner."""

from __future__ import annotations

import pytest

from spadework.errors import SessionNotFound, SettingsError
from spadework.machines.session_lookup import bring_recording, find, forget, know_all
from spadework.machines.session_watch import submit
from spadework.machines.shared_limits import home_of, shared_sessions
from spadework.sessions.brief import Brief
from spadework.sessions.record.records import begin_metadata
from spadework.sessions.session import Session
from spadework.sessions.storage.session_list import list_sessions
from spadework.sessions.users import People
from spadework.settings import Settings
from tests.machines.test_shared_sessions import QUESTION, machine, settings, worker

__all__ = ["machine", "settings"]
pytestmark = pytest.mark.machines


async def test_the_sessions_of_a_user_are_known_to_that_user_alone(
    settings: Settings, machine: Settings
) -> None:
    people = People(settings)
    anna, bob = people.settings_of("anna"), people.settings_of("bob")
    session = Session.start(QUESTION, settings=anna)
    async with worker(machine):
        await session.result()
    theirs = machine.home / "users" / "anna" / "sessions" / session.session_id
    assert theirs.is_dir(), "the worker, too, keeps it in the home of its user"
    one = session.session_id
    for other in (bob, settings):
        assert not await find(other, one)
        await know_all(other)
        await bring_recording(other, one)
        await forget(other, one)
        assert not list(list_sessions(other.home))
        with pytest.raises(SessionNotFound):
            Session.resume(one, settings=other)
        with pytest.raises(SessionNotFound):
            Session.start("And when?", settings=other, follows=one)
        brief = Brief("And when?", follows=one)
        folder = other.home / "sessions" / "20260101-000000-aaaaaa"
        known = await begin_metadata(folder, brief, other, session.budget.limits)
        async with shared_sessions(other) as shared:
            with pytest.raises(SettingsError, match="is only on this machine"):
                await submit(shared, other, brief, known)
    again = anna.with_(home=settings.home / "third" / "users" / "anna")
    again = again.within(settings.home / "third")
    await know_all(again)
    assert [listed.id for listed in list_sessions(again.home)] == [one]


@pytest.mark.parametrize("owner", ["../up", "/etc", "users/../../up"])
def test_an_owner_leads_to_no_folder_outside(owner: str, settings: Settings) -> None:
    with pytest.raises(SettingsError, match="owner"):
        home_of(owner, settings)


async def test_a_home_outside_of_the_common_one_is_one_sentence(settings: Settings) -> None:
    elsewhere = settings.within(settings.home / "common")
    with pytest.raises(
        SettingsError, match=r"home must be in .* if machines share a database, not "
    ):
        await Session.start(QUESTION, settings=elsewhere).result()
