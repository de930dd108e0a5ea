"""Store pages in PostgreSQL for each owner's later runs."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

import zstandard
from pydantic import SecretStr

from spadework.errors import KnowledgeError, SettingsError
from spadework.machines.database import Database, opened, where_is
from spadework.tools.knowledge.entry import Entry, Recalled, Which, condition_of
from spadework.tools.knowledge.page_index import (
    WEIGHTS,
    Passage,
    answer,
    lexemes_of,
    mark,
    passages_of,
    words_of,
)
from spadework.tools.library.full_text import parse_question
from spadework.tools.library.search import Match
from spadework.tools.stores.private_files import DatabaseDown
from spadework.tools.web.urls import canonical_url, host_of
from spadework.values import Page

T = TypeVar("T")
#: Maximum seconds that a run waits for the store.
WHOLE_SECONDS = 10.0
#: Maximum number of candidate passages for a question.
PROPOSED = 60
#: When a word's rarity is computed, the store is assumed to hold this many additional passages
#: without the word (see `embedded_store`). Passages with the word are counted only up to this
#: number.
OTHERS = 10_000
_FIELDS = "record, packed, own"
_PUT = (
    "INSERT INTO known_pages AS kept"
    " (owner, url, host, record, packed, own, bytes, passages, fetched_at)"
    " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (owner, url) DO UPDATE SET"
    " record = excluded.record, packed = excluded.packed, own = excluded.own,"
    " bytes = excluded.bytes, passages = excluded.passages, fetched_at = excluded.fetched_at,"
    " used_at = now() WHERE kept.fetched_at < excluded.fetched_at RETURNING id"
)
_PUT_PASSAGES = (
    "INSERT INTO known_passages SELECT %s, %s, begins, ends, words::tsvector"
    " FROM unnest(%s::integer[], %s::integer[], %s::text[]) AS made (begins, ends, words)"
)
_MAKE_ROOM = (
    "DELETE FROM known_pages WHERE id IN (SELECT id FROM (SELECT id,"
    " sum(bytes) OVER (ORDER BY used_at DESC, id DESC) AS total FROM known_pages"
    " WHERE owner = %s) AS used WHERE total > %s)"
)
_USE = (
    f"UPDATE known_pages SET used_at = now() WHERE owner = %s AND url = %s AND fetched_at >= %s"
    f" RETURNING {_FIELDS}"
)
_COUNTS = (
    "SELECT (SELECT coalesce(sum(passages), 0) FROM known_pages WHERE owner = %s),"
    " (SELECT count(*) FROM (SELECT FROM known_passages WHERE owner = %s"
    " AND words @@ (%s::tsquery && word::tsquery) LIMIT %s) AS counted)"
    " FROM unnest(%s::text[]) WITH ORDINALITY AS asked (word, n) ORDER BY n"
)
_FIND = (
    "SELECT found.page, found.begins, found.ends, (SELECT sum(weight *"
    " ts_rank(%s::real[], found.words, word::tsquery))"
    " FROM unnest(%s::text[], %s::double precision[]) AS asked (word, weight)) AS score"
    " FROM known_passages AS found JOIN known_pages ON known_pages.id = found.page"
    " WHERE found.owner = %s AND found.words @@ (%s::tsquery && %s::tsquery)"
    " AND known_pages.owner = %s AND fetched_at >= %s ORDER BY score DESC, page, begins LIMIT %s"
)
_ENTRIES = f"SELECT id, {_FIELDS} FROM known_pages WHERE owner = %s AND id = ANY(%s)"


class PostgresKnowledge:
    """An owner's pages in a database, limited to `most_bytes` after compression."""

    def __init__(self, url: SecretStr, owner: str, most_bytes: int) -> None:
        self._url, self._owner, self._most = url, owner, most_bytes
        self._held = AsyncExitStack()
        self._database: Database | None = None
        self._opening = asyncio.Lock()

    @property
    def describes(self) -> str:
        """A description of the store and its location."""
        return f"the knowledge store in the database {where_is(self._url.get_secret_value())}"

    async def search(self, text: str, *, limit: int, since: datetime) -> list[Recalled]:
        """See `Knowledge.search`."""
        question = await asyncio.to_thread(parse_question, text)
        words = words_of(question)
        if not words or limit < 1:
            return []
        rare = await self._rarities(words)
        own, least = self._owner, since.timestamp()
        weights = [rare[word] for word in words]
        asked = (WEIGHTS, words, weights, own, mark(own), " | ".join(words), own, least, PROPOSED)
        matches = [Match(*row) for row in await self._ask(_FIND, *asked)]
        numbers = sorted({match.number for match in matches})
        rows = await self._ask(_ENTRIES, own, numbers)
        known = {number: Entry.unpacked(*row) for number, *row in rows}
        terms = {
            term.text: max((rare[word] for word in lexemes_of(term)), default=0.0)
            for term in question.terms
        }
        return await asyncio.to_thread(answer, matches, known, question, terms, limit)

    async def find(self, url: str, *, since: datetime | None = None) -> Entry | None:
        """See `Knowledge.find`."""
        least = since.timestamp() if since else 0.0
        rows = await self._ask(_USE, self._owner, canonical_url(url), least)
        return Entry.unpacked(*rows[0]) if rows else None

    async def add(self, entries: Sequence[Entry]) -> int:
        """See `Knowledge.add`."""
        done = 0
        for entry in entries:
            made = await asyncio.to_thread(passages_of, entry, self._owner)
            done += await self._done(partial(self._put, entry, made))
        if done:
            await self._ask(_MAKE_ROOM, self._owner, self._most)
        return done

    async def forget(self, which: Which) -> int:
        """See `Knowledge.forget`."""
        condition, values = condition_of(which, "%s")
        asked = f"DELETE FROM known_pages WHERE owner = %s AND {condition} RETURNING id"
        return len(await self._ask(asked, self._owner, *values))

    async def pages(self, which: Which) -> AsyncIterator[Page]:
        """See `Knowledge.pages`."""
        condition, values = condition_of(which, "%s")
        asked = (
            f"SELECT record FROM known_pages WHERE owner = %s AND {condition}"
            " ORDER BY fetched_at DESC, id DESC"
        )
        for (record,) in await self._ask(asked, self._owner, *values):
            yield Page.model_validate_json(record)

    async def count(self) -> int:
        """See `Knowledge.count`."""
        [(count,)] = await self._ask(
            "SELECT count(*) FROM known_pages WHERE owner = %s", self._owner
        )
        return int(count)

    async def close(self) -> None:
        """Close the connections."""
        self._database = None
        await self._held.aclose()

    async def _rarities(self, words: Sequence[str]) -> dict[str, float]:
        own = self._owner
        rows = await self._ask(_COUNTS, own, own, mark(own), OTHERS, list(words))
        return {
            word: math.log(1 + (of + OTHERS - count + 0.5) / (count + 0.5))
            for word, (of, count) in zip(words, rows, strict=True)
        }

    async def _put(self, entry: Entry, made: Sequence[Passage], database: Database) -> int:
        """Store a page and return 1, or 0 if it is too large or no newer than the stored copy."""
        record = entry.page.model_dump_json()
        packed = zstandard.compress(entry.text.encode(errors="replace"), 3)
        size, fetched = len(packed) + len(record.encode()), entry.page.fetched_at.timestamp()
        if size > self._most:
            return 0
        own, host = self._owner, host_of(entry.page.url)
        row = (own, entry.key, host, record, packed, entry.own, size, len(made), fetched)
        async with database.pool.connection() as connection, connection.transaction():
            kept = await (await connection.execute(_PUT, row)).fetchone()
            if kept is None:
                return 0
            await connection.execute("DELETE FROM known_passages WHERE page = %s", kept)
            columns = [list(column) for column in zip(*made, strict=True)] or [[], [], []]
            await connection.execute(_PUT_PASSAGES, (*kept, own, *columns))
            return 1

    async def _ask(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        return await self._done(lambda database: database.ask(statement, values))

    async def _done(self, work: Callable[[Database], Awaitable[T]]) -> T:
        try:
            async with asyncio.timeout(WHOLE_SECONDS):
                database = await self._opened()
                return await database.retry(partial(work, database))
        except (DatabaseDown, SettingsError, TimeoutError) as error:
            said = error.strerror if isinstance(error, DatabaseDown) else str(error).rstrip(".")
            raise KnowledgeError(
                f"The knowledge store cannot be searched: {said or 'the database is too slow'}.",
                hint="Use --no-knowledge to run without the store.",
            ) from None

    async def _opened(self) -> Database:
        async with self._opening:
            if self._database is None:
                self._database = await self._held.enter_async_context(opened(self._url))
        return self._database
