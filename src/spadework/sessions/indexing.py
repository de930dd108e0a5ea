"""A library made ready ahead of the first question: its index, and the vectors of its passages."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack

from spadework.settings import Settings
from spadework.tools.dense.meaning import meaning_of
from spadework.tools.library.library import Library
from spadework.values import Value


class Indexed(Value):
    """What an index holds, in words, and the files that were left out, each with the reason."""

    holds: str
    skipped: tuple[str, ...] = ()


class Embedded(Value):
    """The model by which passages have vectors, the new texts it was asked, and their tokens."""

    by: str
    texts: int
    tokens: int


async def index(
    settings: Settings, tell: Callable[[str], None] = lambda text: None
) -> AsyncGenerator[Indexed | Embedded, None]:
    """Build or bring up to date the index of the library of the settings, then the vectors of its
    passages where a model is named; what was done, as it is done. `tell` is told how far it is.
    """
    async with AsyncExitStack() as opened:
        if meaning := meaning_of(settings):
            opened.push_async_callback(meaning.close)
        library = await Library.open(
            settings.library, home=settings.common, progress=tell, meaning=meaning
        )
        opened.callback(library.close)
        yield Indexed(holds=library.describe, skipped=tuple(map(str, library.skipped)))
        if meaning:
            name = meaning.embeds.name
            asked = await library.embed(
                lambda done: tell(f"Embedding with {name}: {done} documents done.")
            )
            yield Embedded(by=name, texts=asked, tokens=meaning.embeds.tokens)
