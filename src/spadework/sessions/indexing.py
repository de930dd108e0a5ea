"""A library made ready ahead of the first question: its index, and the vectors of its passages."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack

from spadework.settings import Settings
from spadework.tools.dense.meaning import meaning_of
from spadework.tools.library import Library
from spadework.values import Value


class Indexed(Value):
    """What an index holds, in words; the files that were left out, each with the reason; and, where
    a model for embeddings is named, which, the new texts it was asked and the tokens they took.
    """

    holds: str
    skipped: tuple[str, ...] = ()
    embedded_by: str = ""
    texts: int = 0
    tokens: int = 0


async def index(settings: Settings, tell: Callable[[str], None] = lambda text: None) -> Indexed:
    """Build or bring up to date the index of the library of the settings, and the vectors of its
    passages where a model is named. `tell` is told how far it is.
    """
    async with AsyncExitStack() as opened:
        if meaning := meaning_of(settings):
            opened.push_async_callback(meaning.close)
        library = await Library.open(
            settings.library, home=settings.home, progress=tell, meaning=meaning
        )
        opened.callback(library.close)
        made = Indexed(holds=library.describe, skipped=tuple(map(str, library.skipped)))
        if not meaning:
            return made
        name = meaning.embeds.name
        asked = await library.embed(
            lambda done: tell(f"Embedding with {name}: {done} documents done.")
        )
        spent = {"texts": asked, "tokens": meaning.embeds.tokens}
        return made.model_copy(update={"embedded_by": name, **spent})
