"""What a kill leaves of a session: the home as it is at that moment."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.values import Result


class Killed:
    """The home as a kill at the first call of `here` leaves it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings.with_(home=settings.home.with_name("killed"))
        self._home = settings.home
        self.done = False

    def here(self) -> None:
        if not self.done:
            self.done = True
            shutil.copytree(self._home, self._settings.home)
            # Other threads write meanwhile. A step is saved in the database after its events, so
            # the record is copied last.
            for record in self._home.rglob("events.jsonl"):
                shutil.copy2(record, self._settings.home / record.relative_to(self._home))

    async def resumed(self) -> tuple[Result, Session]:
        [folder] = (self._settings.home / "sessions").iterdir()
        session = Session.resume(folder.name, settings=self._settings)
        return await session.result(), session


def before(
    killed: Killed, call: Callable[..., Any], when: Callable[..., bool] = lambda *_: True
) -> Callable[..., Any]:
    """The same call, before the first of which of a kind the run is killed."""

    def called(*args: Any, **named: Any) -> Any:
        if when(*args):
            killed.here()
        return call(*args, **named)

    return called
