"""Whether the settings' models respond; without any, which local servers could be used."""

from __future__ import annotations

import asyncio
from importlib import import_module

from spadework.agents.llm.examination import result_at
from spadework.agents.llm.probe import default_model, every_place, greet
from spadework.agents.llm.providers import Place
from spadework.sessions.health.check import Check, attempt, run_check
from spadework.sessions.health.nearby import model_servers
from spadework.settings import Settings

#: Minimum seconds for a model, however long imports took.
LEAST_SECONDS = 2.0
NONE = "no language model is set: code alone does the work"
_SET_ONE = "Set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own."
_LATE = "It may be loading its model, or be busy: try again, or set another with --model."


async def models(settings: Settings) -> list[Check]:
    """Return a check of every model that roles use, and of the fallback model."""
    seconds = settings.health_seconds
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    default = await attempt("The model server", default_model(settings), seconds, _LATE)
    if isinstance(default, Check):
        return [default]
    places = [place for place in every_place(settings, default) if place.name]
    if not places:
        servers = await model_servers(max(0.0, until - loop.time()))
        return [Check(state="works", text=NONE, hint="" if servers else _SET_ONE), *servers]
    # In a new process, this takes some of the time.
    await asyncio.to_thread(import_module, "langchain_openai")
    left = max(min(seconds, LEAST_SECONDS), until - loop.time())
    return await asyncio.gather(
        *(
            run_check(place.label, _greet_model(place, settings), left, _mend(place))
            for place in places
        )
    )


async def _greet_model(place: Place, settings: Settings) -> str:
    # The client's own timeout must be longer than ours.
    patient = settings.model_copy(update={"model_seconds": 2 * settings.health_seconds})
    await greet(place, patient)
    known = await result_at(place, settings.common)
    if known is None:
        return f"language model {place.label} answers"
    how = "passed" if known.passed else "failed"
    then = "it may judge and write" if known.passed else "code judges and composes the report"
    return (
        f"language model {place.label} answers; it {how} its examination with {known.right} of"
        f" {known.asked}, so {then}"
    )


def _mend(place: Place) -> str:
    if not place.base_url:
        return "Check OPENAI_API_KEY and the connection to the internet."
    return "Look whether the server runs and has the model; its address is OPENAI_BASE_URL."
