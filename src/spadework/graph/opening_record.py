"""What a session worked with, as a replay needs it, and what was said of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import Field, SecretStr

from spadework.settings import Role, Settings
from spadework.tools.search.provider import Provider
from spadework.tools.search.provider_choice import Choice
from spadework.tools.search.provider_table import PROVIDERS
from spadework.tools.stores.cassette import Recording
from spadework.values import Hit, Problem, Query, Value

#: Settings that are never written down: every key.
SECRETS = {
    name
    for name, field in Settings.model_fields.items()
    if SecretStr in (field.annotation, *get_args(field.annotation))
}
_USERINFO = re.compile(r"(?<=://)[^/@\s]*@")


class Opened(Value):
    """What a session worked with. `providers` are names, with what is searched there; `settings`
    are all but the keys and the home.
    """

    model: str = ""
    providers: tuple[tuple[str, str], ...] = ()
    notices: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    settings: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def of(
        cls, settings: Settings, model: str, choice: Choice, problems: Sequence[Problem]
    ) -> Opened:
        """What is worked with now."""
        return cls(
            model=model,
            providers=tuple((one.name, one.describes) for one in choice.providers),
            notices=choice.notices,
            problems=tuple(problems),
            settings={
                name: _USERINFO.sub("", value) if isinstance(value, str) else value
                for name, value in settings.model_dump(mode="json").items()
                if name not in SECRETS | {"home", "common_home"}
            }
            # Also where a key alone has chosen them.
            | {f"{role}_model": m for role in get_args(Role) if (m := settings.model_for(role))},
        )

    def told(self) -> dict[str, Any]:
        """All of it as JSON."""
        return self.model_dump(mode="json")

    def choice(self, settings: Settings) -> Choice:
        """The same providers, which are asked only over the wire of a recording."""
        return Choice(
            tuple(provider_again(*named, settings) for named in self.providers), self.notices
        )


@dataclass(frozen=True)
class Replay:
    """A session run again from its recording. By `anew` a model is asked what was not recorded."""

    recording: Recording
    anew: Settings | None = None


@dataclass(frozen=True)
class PagesAlone:
    """A context that gathers pages: no model is asked, since who wants them judges them.
    `providers` are those brought along; without `search` there is none at all.
    """

    providers: Sequence[Any] = ()
    search: bool = True


@dataclass(frozen=True)
class _Recorded:
    """A provider of which only hits were recorded: a library, a tool, an object of a caller."""

    name: str
    describes: str

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """Nothing: its hits come from the recording."""
        return []


def provider_again(name: str, describes: str, settings: Settings) -> Provider:
    """A provider that is asked only over the wire of a recording."""
    keyed = settings.model_copy(update={key: SecretStr("replayed") for key in SECRETS})
    known = PROVIDERS.get(name)
    return known.make(keyed) if known else _Recorded(name, describes)
