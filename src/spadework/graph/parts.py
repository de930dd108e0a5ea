"""What a session works with, opened once: journal, models, providers, pages; in a replay, its
record.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, get_args

from pydantic import Field, SecretStr

from spadework.agents.llm.client import Model
from spadework.agents.llm.probe import default_model
from spadework.budget import Budget
from spadework.deadline import WRITE_NOW, shares_of
from spadework.errors import ModelError
from spadework.graph.effort.waits import Stopped, unless_stopped
from spadework.graph.pages.page_cache import PageCache
from spadework.settings import Role, Settings
from spadework.tools.dense.passage_vectors import Meaning, meaning_of
from spadework.tools.fetch.browser.handle import Browser
from spadework.tools.fetch.client import Web
from spadework.tools.knowledge import knowledge_of
from spadework.tools.library.library import Library
from spadework.tools.search.dispatch.failover import Search
from spadework.tools.search.dispatch.provider_choice import PROVIDERS, Choice, choose
from spadework.tools.search.provider import Provider
from spadework.tools.stores.cassette import Recording
from spadework.tools.stores.journal import Journal
from spadework.tools.stores.private_files import private_folder
from spadework.tools.web.urls import host_of
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


_NO_TIME = Choice((), ("There was no time to open what is searched.",))

#: The name of the model, what is wrong with it, and what is searched.
Chosen = tuple[str, list[Problem], Choice]


class Parts(NamedTuple):
    """What was opened. `asked` is the model that is asked: in a replay for what was not recorded;
    `choice` the providers as chosen, `problems` what is wrong with the model; `cleanings` is how
    often pages were cleaned in the session before.
    """

    journal: Journal
    model: Model | None
    asked: Model | None
    search: Search
    choice: Choice
    problems: list[Problem]
    web: Web
    browser: Browser
    libraries: list[Library]
    page_cache: PageCache
    cleanings: int


async def open_parts(
    folder: Path,
    settings: Settings,
    budget: Budget,
    stop: asyncio.Event,
    progress: Callable[[str], None] | None,
    providers: Sequence[Any] | Replay | PagesAlone,
) -> Parts:
    """Open the journal of a folder, choose the providers and the model, and open them."""
    replay = providers if isinstance(providers, Replay) else None
    libraries: list[Library] = []
    await asyncio.to_thread(private_folder, folder / "pages")
    # Each is closed again where a later step fails, or who opens is cancelled.
    async with AsyncExitStack() as opened:
        meaning = None if replay else meaning_of(settings)
        if meaning:
            opened.push_async_callback(meaning.close)
        journal = await _journal(folder, settings, budget, replay, meaning)
        opened.push_async_callback(journal.close)

        async def open_library() -> Library:
            one = await Library.open(
                settings.library, home=settings.common, progress=progress, meaning=meaning
            )
            opened.callback(one.close)
            libraries.append(one)
            return one

        if isinstance(providers, Replay):
            name, problems, choice = await _chosen_again(settings, journal)
        else:
            begun = await journal.noted("opened", "", before=True)
            late = not begun and budget.under(WRITE_NOW)
            name, problems, choice = await _chosen_now(
                settings, budget, stop, open_library, providers, late=late
            )
        search = _search(choice, settings, journal)
        opened.push_async_callback(search.close)
        budget.shares = shares_of(settings.effort, model=bool(name))
        model, asked = _models(settings, budget, journal, name, replay)
        if model:
            opened.push_async_callback(model.close)
        await journal.note("opened", "", Opened.of(settings, name, choice, problems).told())
        cleanings = await journal.count("clean")
        store = None if replay else knowledge_of(settings, meaning)
        web = await opened.enter_async_context(Web(settings))
        opened.pop_all()
    page_cache = PageCache(store, settings, budget.until_closing, meaning)
    found = (journal, model, asked, search, choice, problems)
    return Parts(*found, web, Browser(settings), libraries, page_cache, cleanings)


async def _journal(
    folder: Path, settings: Settings, budget: Budget, replay: Replay | None, meaning: Meaning | None
) -> Journal:
    """The journal of a folder, to which what is embedded is charged."""
    journal = await Journal.open(
        folder / "session.sqlite",
        budget,
        recording=replay.recording if replay else None,
        most_bytes=settings.raw_mb * 1e6,
    )
    if meaning:
        meaning.embeds.spend = lambda calls, tokens: journal.paid(
            embedding_calls=calls, embedding_tokens=tokens
        )
    return journal


async def _chosen_now(
    settings: Settings,
    budget: Budget,
    stop: asyncio.Event,
    open_library: Callable[[], Awaitable[Library]],
    providers: Sequence[Any] | PagesAlone,
    *,
    late: bool,
) -> Chosen:
    """What there is time for: a run that begins `late`, when it is time to write, can ask and
    search nothing. Pages alone need no model, and perhaps no search.
    """
    name, problems, choice = "", list[Problem](), _NO_TIME
    if isinstance(providers, PagesAlone):
        alone, own = True, providers.providers
        if not providers.search:
            return name, problems, Choice(())
    else:
        alone, own = False, providers
        if late:
            return name, problems, choice
    with suppress(TimeoutError, Stopped):
        if not alone:
            name, problems = await unless_stopped(
                stop, _model(settings), seconds=budget.until_closing()
            )
        choosing = choose(settings, open_library, list(own))
        choice = await unless_stopped(stop, choosing, seconds=budget.until_closing())
    return name, problems, choice


async def _chosen_again(settings: Settings, journal: Journal) -> Chosen:
    """What the session that is replayed has worked with."""
    opened = Opened.model_validate(await journal.noted("opened", "") or {})
    choice = await asyncio.to_thread(opened.choice, settings)  # certificates may be read
    return opened.model, list(opened.problems), choice


async def _model(settings: Settings) -> tuple[str, list[Problem]]:
    """The chat model of the settings; "" for extractive roles, a problem where one was wanted."""
    try:
        return await default_model(settings), []
    except ModelError as error:
        effect = f"The extractive roles did all the work. {error.hint}".rstrip()
        subject = host_of(settings.openai_base_url)
        return "", [Problem(stage="model", subject=subject, reason=str(error), effect=effect)]


def _search(choice: Choice, settings: Settings, journal: Journal) -> Search:
    if journal.recording is None:
        return choice.search(settings)
    return Search(choice.providers)  # none is let wait


def _models(
    settings: Settings, budget: Budget, journal: Journal, name: str, replay: Replay | None
) -> tuple[Model | None, Model | None]:
    """The chat models, and those of them that are asked: of a replay only what was not recorded."""
    if not name:
        return None, None
    if replay is None:
        model = Model(settings, budget, journal, name)
        return model, model
    other = replay.anew
    anew = Model(other, budget, journal.asking(), other.model) if other else None
    return Model(settings, budget, journal, name, anew), anew
