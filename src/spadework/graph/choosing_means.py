"""What a run works with: its model, its providers; in a replay what the recorded session had."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from typing import Any, NamedTuple, cast

from spadework.agents.model import Model
from spadework.budget import Budget
from spadework.deadline import shares_of
from spadework.errors import ModelError
from spadework.graph.default_model import default_model
from spadework.graph.opening_record import Opened, PagesAlone, Replay
from spadework.graph.waiting import Stopped, unless_stopped
from spadework.settings import Settings
from spadework.tools.library.library import Library
from spadework.tools.search.failover import Search
from spadework.tools.search.provider_choice import Choice, choose
from spadework.tools.search.waiting_times import Waits
from spadework.tools.stores.journal import Journal
from spadework.tools.web.urls import host_of
from spadework.values import Problem

_NO_TIME = Choice((), ("There was no time to open what is searched.",))


#: The name of the model, what is wrong with it, and what is searched.
Chosen = tuple[str, list[Problem], Choice]


class Means(NamedTuple):
    """The model of a run, that of what is asked anew in a replay, and the providers as chosen."""

    model: Model | None
    asked: Model | None
    search: Search
    choice: Choice
    problems: list[Problem]


async def open_means(
    chosen: Chosen,
    settings: Settings,
    budget: Budget,
    journal: Journal,
    replay: Replay | None,
    opened: AsyncExitStack,
) -> Means:
    """What was chosen, ready to be asked, and noted for a replay; `opened` closes it again."""
    name, problems, choice = chosen
    if journal.recording is None:
        search = choice.search(settings)
    else:  # none is let wait, and what is said of waiting is what was
        search = Search(choice.providers)
        search.waits = Waits(tuple(await journal.noted("waits", "") or ()))
    opened.push_async_callback(search.close)
    budget.shares = shares_of(settings.effort, model=bool(name))
    model, asked = _models(settings, budget, journal, name, replay)
    if model:
        opened.push_async_callback(model.close)
    await journal.note("opened", "", Opened.of(settings, name, choice, problems).told())
    return Means(model, asked, search, choice, problems)


async def chosen_now(
    settings: Settings,
    budget: Budget,
    stop: asyncio.Event,
    open_library: Callable[[], Awaitable[Library]],
    providers: Sequence[Any] | PagesAlone,
    *,
    late: bool,
) -> Chosen:
    """The model, what is wrong with it, and what is searched; as far as there is time for it: a run
    that begins `late`, when it is time to write, can ask and search nothing. Pages alone need no
    model, and perhaps no search.
    """
    name, problems, choice = "", list[Problem](), _NO_TIME
    alone = providers if isinstance(providers, PagesAlone) else None
    if alone and not alone.search:
        return name, problems, Choice(())
    if late and not alone:
        return name, problems, choice
    with suppress(TimeoutError, Stopped):
        if alone is None:
            name, problems = await unless_stopped(
                stop, _model(settings), seconds=budget.until_closing()
            )
        own = alone.providers if alone else cast("Sequence[Any]", providers)
        choosing = choose(settings, open_library, list(own))
        choice = await unless_stopped(stop, choosing, seconds=budget.until_closing())
    return name, problems, choice


async def _model(settings: Settings) -> tuple[str, list[Problem]]:
    """The chat model of the settings; "" for extractive roles, a problem where one was wanted."""
    try:
        name = await default_model(settings)
    except ModelError as error:
        effect = f"The extractive roles did all the work. {error.hint}".rstrip()
        subject = host_of(settings.openai_base_url)
        return "", [Problem(stage="model", subject=subject, reason=str(error), effect=effect)]
    return name, []


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


async def chosen_again(settings: Settings, journal: Journal) -> Chosen:
    """What the session that is replayed has worked with."""
    opened = Opened.model_validate(await journal.noted("opened", "") or {})
    choice = await asyncio.to_thread(opened.choice, settings)  # certificates may be read
    return opened.model, list(opened.problems), choice
