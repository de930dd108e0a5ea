"""A knowledge store on a Qdrant server."""

from __future__ import annotations

import asyncio
import hashlib
import re
import uuid
import warnings
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import httpx

from spadework.errors import KnowledgeError, ModelError
from spadework.tools.knowledge.entry import Entry, Recalled, Which
from spadework.tools.knowledge.page_index import answer, document
from spadework.tools.library.document import pieces
from spadework.tools.library.full_text import Asked, all_terms, parse_question
from spadework.tools.library.search import Match, passages
from spadework.tools.ranking.embedder import EndpointEmbedder
from spadework.tools.web.background_threads import aside
from spadework.tools.web.connections import install_resolver
from spadework.tools.web.urls import canonical_url, host_of
from spadework.values import Page

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient, models


PAGE, PASSAGE = "page", "passage"
#: Names of a passage's sparse vector, and of its dense vector if there is an embedding model.
WORDS, MEANING = "words", "meaning"


def page_id(key: str) -> str:
    """Return the id of the Qdrant point that stores the page with this key."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, key))


def texts_of(entry: Entry) -> list[str]:
    """Return the texts to embed: an entry's passages with their headings."""
    return [passage.text for passage in passages(0, document(entry))]


def points_of(
    entry: Entry, meanings: Sequence[list[float]] = ()
) -> tuple[list[models.PointStruct], models.PointStruct]:
    """Return the points of an entry's passages and the point of its page, which must be written
    last. `meanings` are the embeddings of `texts_of(entry)`, if there are any.
    """
    from qdrant_client import models

    page, made = entry.page, []
    common: dict[str, Any] = {"url": entry.key, "hosts": _hosts(page.url)}
    common |= {"hash": page.content_hash, "fetched": page.fetched_at.timestamp()}
    for n, piece in enumerate(pieces(document(entry))):
        body = entry.text[piece.start : piece.end]
        indices, values = passage_vector(page.title, piece.heading, body)
        place = {"kind": PASSAGE, "start": piece.start, "end": piece.end}
        vector: dict[str, Any] = {WORDS: models.SparseVector(indices=indices, values=values)}
        vector |= {MEANING: meanings[n]} if meanings else {}
        number = page_id(f"{entry.key}#{page.content_hash}#{piece.start}")
        made.append(models.PointStruct(id=number, vector=vector, payload=common | place))
    text = entry.text.encode(errors="replace").decode()
    common |= {"kind": PAGE, "record": page.model_dump_json(), "text": text, "own": entry.own}
    return made, models.PointStruct(id=page_id(entry.key), vector={}, payload=common)


def entry_of(payload: dict[str, Any]) -> Entry:
    """Convert the payload of a page's point to an entry."""
    return Entry(Page.model_validate_json(payload["record"]), payload["text"], bool(payload["own"]))


def _hosts(url: str) -> list[str]:
    labels = host_of(url).split(".")
    return [".".join(labels[n:]) for n in range(len(labels))]


def filter_of(which: Which, kind: str = "", *, since: datetime | None = None) -> models.Filter:
    """Return a filter for the points of the pages selected by `which`. `kind` limits it to PAGE or
    PASSAGE points, and `since` to pages fetched at that time or later.
    """
    from qdrant_client import models

    must: list[models.Condition] = []
    if kind:
        must.append(models.FieldCondition(key="kind", match=models.MatchValue(value=kind)))
    if which.named:
        url = models.FieldCondition(key="url", match=models.MatchAny(any=which.urls))
        host = models.FieldCondition(key="hosts", match=models.MatchAny(any=which.hosts))
        must.append(models.Filter(should=[url, host]))
    if since or which.before:
        window = models.Range(
            gte=since.timestamp() if since else None,
            lt=which.before.timestamp() if which.before else None,
        )
        must.append(models.FieldCondition(key="fetched", range=window))
    return models.Filter(must=must)


def passages_of_other_states(entry: Entry) -> models.Filter:
    """Return a filter for passages from other versions of an entry's page."""
    from qdrant_client import models

    same = models.FieldCondition(key="url", match=models.MatchValue(value=entry.key))
    passage = models.FieldCondition(key="kind", match=models.MatchValue(value=PASSAGE))
    current = models.FieldCondition(
        key="hash", match=models.MatchValue(value=entry.page.content_hash)
    )
    return models.Filter(must=[same, passage], must_not=[current])


#: Usual BM25 constants.
K1, B = 1.2, 0.75
#: Assumed average number of words per passage. The true average is unknown.
AVERAGE_WORDS = 200


def passage_vector(title: str, heading: str, body: str) -> tuple[list[int], list[float]]:
    """Return the indices and values of a passage's BM25 vector."""
    words = all_terms(body)
    counts = Counter([*words, *all_terms(heading), *all_terms(title)])
    norm = K1 * (1 - B + B * len(words) / AVERAGE_WORDS)
    weights = {word: count * (K1 + 1) / (count + norm) for word, count in counts.items()}
    return _pack_weights(weights)


def query_vector(words: Iterable[tuple[str, float]]) -> tuple[list[int], list[float]]:
    """Return the indices and values of a query's sparse vector, from pairs of word and weight."""
    return _pack_weights(dict(words))


def _pack_weights(weights: dict[str, float]) -> tuple[list[int], list[float]]:
    hashed: dict[int, float] = {}
    for word, weight in weights.items():
        digest = hashlib.blake2b(word.encode(errors="replace"), digest_size=4).digest()
        index = int.from_bytes(digest)
        hashed[index] = hashed.get(index, 0.0) + weight
    return sorted(hashed), [round(hashed[index], 4) for index in sorted(hashed)]


@contextmanager
def in_one_sentence(where: str) -> Iterator[None]:
    """Convert errors of the Qdrant client and the embedding model to KnowledgeError."""
    from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
    from qdrant_client.http import exceptions as client

    late, strange = "did not answer in time", "did not answer as Qdrant does"
    hint = "Check QDRANT_URL."
    try:
        yield
        return
    except ModelError as error:
        raise KnowledgeError(str(error), hint="Pages cannot be compared by meaning.") from None
    except ResourceExhaustedResponse:
        said, hint = "received too many requests", ""
    except client.UnexpectedResponse as error:
        said = f"refused the request (status {error.status_code})"
        hint = "Check QDRANT_API_KEY." if error.status_code in (401, 403) else ""
    except client.ResponseHandlingException as error:
        unreached = isinstance(error.source, httpx.TransportError)
        said = "cannot be reached" if unreached else strange
        said = late if isinstance(error.source, httpx.TimeoutException) else said
    except TimeoutError:
        said = late
    except ValueError:  # the reply is not JSON or lacks fields
        said = strange
    except (client.ApiException, httpx.HTTPError) as error:
        said, hint = f"could not be queried ({type(error).__name__})", ""
    raise KnowledgeError(f"Qdrant at {where} {said}.", hint=hint) from None


@contextmanager
def nothing_there() -> Iterator[None]:
    """Leave the `with` block without an error if the collection is missing."""
    from qdrant_client.http.exceptions import UnexpectedResponse

    try:
        yield
    except UnexpectedResponse as error:
        if error.status_code != 404:
            raise
    except ValueError as error:  # raised by the client's local mode
        if "not found" not in str(error):
            raise


#: Maximum number of passages retrieved, and the weight of an optional query word (a needed word has
#: weight 1).
PROPOSED, OPTIONAL = 60, 0.3
BATCH = 64
#: Seconds allowed for a whole response. A response that trickles in would never exceed the read
#: timeout.
WHOLE_SECONDS = 10.0


class QdrantKnowledge:
    """A knowledge store in a Qdrant collection. With an embedder, it also searches embeddings, and
    appends the embedding model's name to `collection`. `where` names the server in messages.
    """

    def __init__(
        self,
        connect: Callable[[], AsyncQdrantClient],
        collection: str,
        where: str,
        embedder: EndpointEmbedder | None = None,
    ) -> None:
        self._connect = connect
        model = re.sub(r"[^A-Za-z0-9.]+", "-", embedder.name) if embedder else ""
        self._collection = f"{collection}-{model}" if embedder else collection
        self._where = where
        self._embedder = embedder
        self._client: AsyncQdrantClient | None = None
        self._connecting = asyncio.Lock()

    @property
    def describes(self) -> str:
        """A description of the store for messages."""
        return f"the knowledge store {self._collection} in Qdrant at {self._where}"

    async def search(self, text: str, *, limit: int, since: datetime) -> list[Recalled]:
        """See `Knowledge.search`."""
        question = await asyncio.to_thread(parse_question, text)
        if not question.terms or limit < 1:
            return []
        client = await self._opened()
        with in_one_sentence(self._where):
            meaning = (await self._embedder.embed([text]))[0] if self._embedder else None
            found = await self._passages(client, question, meaning, since)
            known = await self._pages(client, {point.payload["url"] for point in found})
        numbers = {key: n for n, key in enumerate(known)}
        matches = [
            Match(numbers[key], point.payload["start"], point.payload["end"], point.score)
            for point in found
            if (key := point.payload["url"]) in known
            and known[key].page.content_hash == point.payload["hash"]
        ]
        pages = {numbers[key]: entry for key, entry in known.items()}
        # All terms get the same weight, because the server does not report how rare they are.
        weights = {term.text: 1.0 for term in question.terms}
        return await asyncio.to_thread(answer, matches, pages, question, weights, limit)

    async def find(self, url: str, *, since: datetime | None = None) -> Entry | None:
        """See `Knowledge.find`."""
        key, client = canonical_url(url), await self._opened()
        with in_one_sentence(self._where):
            entry = (await self._pages(client, {key})).get(key)
        return None if entry is None or (since and entry.page.fetched_at < since) else entry

    async def add(self, entries: Sequence[Entry]) -> int:
        """See `Knowledge.add`."""
        client = await self._opened()
        with in_one_sentence(self._where):
            before = await self._pages(client, {entry.key for entry in entries})
            known = {key: entry.page.fetched_at for key, entry in before.items()}
            dated = sorted(entries, key=lambda entry: entry.page.fetched_at)
            new = [e for e in dated if e.key not in known or e.page.fetched_at > known[e.key]]
            newer = {entry.key: entry for entry in new}
            for entry in newer.values():
                meanings = await self._embedder.embed(texts_of(entry)) if self._embedder else []
                await self._make(client, len(meanings[0]) if meanings else 0)
                passages, page = await asyncio.to_thread(points_of, entry, meanings)
                for n in range(0, len(passages), BATCH):
                    await client.upsert(self._collection, passages[n : n + BATCH])
                await client.upsert(self._collection, [page])
                await client.delete(self._collection, passages_of_other_states(entry))
        return len(newer)

    async def forget(self, which: Which) -> int:
        """See `Knowledge.forget`."""
        client = await self._opened()
        with in_one_sentence(self._where), nothing_there():
            count = (await client.count(self._collection, filter_of(which, PAGE), exact=True)).count
            await client.delete(self._collection, filter_of(which))
            return count
        return 0

    async def pages(self, which: Which) -> AsyncIterator[Page]:
        """See `Knowledge.pages`."""
        found: list[Page] = []
        offset: Any = None
        client = await self._opened()
        with in_one_sentence(self._where), nothing_there():
            meant, fields = filter_of(which, PAGE), ["record"]
            while True:
                points, offset = await client.scroll(
                    self._collection, meant, BATCH, offset=offset, with_payload=fields
                )
                records = [(point.payload or {})["record"] for point in points]
                found += map(Page.model_validate_json, records)
                if offset is None:
                    break
        for page in sorted(found, key=lambda page: page.fetched_at, reverse=True):
            yield page

    async def count(self) -> int:
        """See `Knowledge.count`."""
        client = await self._opened()
        with in_one_sentence(self._where), nothing_there():
            every = filter_of(Which(), PAGE)
            return (await client.count(self._collection, every, exact=True)).count
        return 0

    async def close(self) -> None:
        """Close the connections."""
        try:
            if self._embedder:
                await self._embedder.close()
        finally:
            if self._client:
                await self._client.close()
                self._client = None

    async def _opened(self) -> AsyncQdrantClient:
        install_resolver()
        async with self._connecting:
            if self._client is None:
                # Connect in a background thread, because importing the client takes seconds.
                self._client = await aside(_without_warnings, self._connect)
        return self._client

    async def _make(self, client: AsyncQdrantClient, dimensions: int) -> None:
        from qdrant_client import models

        if not await client.collection_exists(self._collection):
            words = {WORDS: models.SparseVectorParams(modifier=models.Modifier.IDF)}
            meaning = models.VectorParams(size=dimensions, distance=models.Distance.COSINE)
            dense = {MEANING: meaning} if dimensions else {}
            await client.create_collection(
                self._collection, vectors_config=dense, sparse_vectors_config=words
            )
            word, number = models.PayloadSchemaType.KEYWORD, models.PayloadSchemaType.FLOAT
            kinds = dict.fromkeys(("kind", "url", "hosts", "hash"), word) | {"fetched": number}
            for field, kind in kinds.items():
                await client.create_payload_index(self._collection, field, kind)

    async def _passages(
        self,
        client: AsyncQdrantClient,
        question: Asked,
        meaning: list[float] | None,
        since: datetime,
    ) -> list[Any]:
        from qdrant_client import models

        indices, values = query_vector(
            (term.text if term.signed else word, 1.0 if term.needed else OPTIONAL)
            for term in question.terms
            for word in term.words or ("",)
        )
        words = models.SparseVector(indices=indices, values=values)
        fresh = filter_of(Which(), PASSAGE, since=since)
        asking: dict[str, Any] = {"query": words, "using": WORDS, "query_filter": fresh}
        if meaning:
            lists = [
                models.Prefetch(query=vector, using=name, filter=fresh, limit=PROPOSED)
                for vector, name in ((words, WORDS), (meaning, MEANING))
            ]
            asking = {"prefetch": lists, "query": models.FusionQuery(fusion=models.Fusion.RRF)}
        with nothing_there():
            answered = await client.query_points(self._collection, limit=PROPOSED, **asking)
            return [point for point in answered.points if point.payload]
        return []

    async def _pages(self, client: AsyncQdrantClient, keys: Iterable[str]) -> dict[str, Entry]:
        with nothing_there():
            points = await client.retrieve(self._collection, [page_id(key) for key in sorted(keys)])
            return {(point.payload or {})["url"]: entry_of(point.payload or {}) for point in points}
        return {}


def client_of(
    url: str, key: str, seconds: float, whole: float = WHOLE_SECONDS
) -> Callable[[], AsyncQdrantClient]:
    """Return a Qdrant connector with timeouts: `seconds` without data, `whole` seconds in total."""

    def connect() -> AsyncQdrantClient:
        from qdrant_client import AsyncQdrantClient

        client = AsyncQdrantClient(
            url=url, api_key=key or None, timeout=max(1, round(seconds)), check_compatibility=False
        )
        client.http.client.add_middleware(partial(_with_timeout, whole))
        return client

    return connect


async def _with_timeout(seconds: float, request: Any, send: Callable[[Any], Awaitable[Any]]) -> Any:
    async with asyncio.timeout(seconds):
        return await send(request)


def _without_warnings(connect: Callable[[], AsyncQdrantClient]) -> AsyncQdrantClient:
    """Connect to Qdrant, suppressing warnings such as the one about plain HTTP."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return connect()
