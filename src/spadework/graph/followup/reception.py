"""Answer messages that need no research, without a session."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from spadework.agents.llm.client import Model
from spadework.agents.llm.probe import default_model
from spadework.agents.receptionist import RESEARCH, by_rules, chore_of, receive_message
from spadework.budget import Budget
from spadework.errors import ModelError
from spadework.settings import Settings
from spadework.tools.stores.journal import Journal
from spadework.values import Usage, Value

#: Maximum seconds to wait for a model.
SECONDS = 20.0


class Greeted(Value):
    """How to handle a message: research it, or send `answer`. `task` is set if the chat client
    itself asks for something, such as a title.
    """

    research: bool
    answer: str = ""
    task: str = ""
    usage: Usage = Usage()


async def receive(said: str, settings: Settings, wishes: str = "", most_tokens: int = 0) -> Greeted:
    """Answer a message, or decide that it needs research. `wishes` are the system messages, and
    `most_tokens` limits the answer (0: no limit). Raises SettingsError.
    """
    chore, budget = chore_of(said, wishes, most_tokens), Budget.of(settings)
    if chore is None and by_rules(said) is not None:
        found = await receive_message(said, None, None, seconds=0)
    else:
        budget.start(time.monotonic())
        async with AsyncExitStack() as closing:
            model = await _model(settings, budget, closing)
            found = await receive_message(said, chore, model, seconds=SECONDS)
    return Greeted(
        research=found == RESEARCH,
        answer=found.answer,
        task=chore.task if chore else "",
        usage=budget.used,
    )


async def _model(settings: Settings, budget: Budget, closing: AsyncExitStack) -> Model | None:
    try:
        name = await default_model(settings)
    except ModelError:
        return None
    if not name:
        return None
    aside = await asyncio.to_thread(TemporaryDirectory, prefix="spadework-")
    closing.push_async_callback(asyncio.to_thread, aside.cleanup)
    journal = await Journal.open(Path(aside.name) / "session.sqlite", budget)
    closing.push_async_callback(journal.close)
    model = Model(settings, budget, journal, name)
    closing.push_async_callback(model.close)
    await asyncio.to_thread(model.check)
    return model
